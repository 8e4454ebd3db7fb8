/**
 * Transcripts that grow, are summarised, and whose oldest turns are offloaded at roll-overs, beside the same
 * transcripts without offloading.
 */
import * as fc from 'fast-check';
import { apply } from '../../../src/core/apply/apply.js';
import { fromCarryOver, offloadPlan, toCarryOver } from '../../../src/core/context/carry-over.js';
import { chunksOf, offloadedEvent, piecesOf } from '../../../src/core/context/offloaded.js';
import { nextSummary } from '../../../src/core/context/summaries.js';
import { summarized, withMessage, withoutOldest } from '../../../src/core/context/transcript.js';
import { headLength, turnSpans } from '../../../src/core/context/turn-spans.js';
import type { ConversationState, TurnState } from '../../../src/core/state/state.js';
import { countMessages, itemsOf, type TranscriptItem } from '../../../src/core/state/transcript.js';
import type { Message } from '../../../src/protocol/conversation/messages.js';
import {
  type CarriedMemory,
  chunkText,
  isStoredPart,
  type OffloadBounds,
  type OffloadTranscriptInput,
} from '../../../src/protocol/conversation/offloaded-messages.js';
import type { EventBody } from '../../../src/protocol/log/events.js';
import { SYSTEM_ACTOR } from '../../../src/protocol/values/actors.js';
import { transcriptHash } from '../../../src/protocol/workflow/transcript-delta.js';
import { blobRefOf } from '../../../src/store/ports/blobs.js';
import { aConversationState } from '../samples/transcripts.js';

/** Holds offloaded chunks by the id that a blob store would give them. */
export class Shelf {
  readonly chunks = new Map<string, readonly Message[]>();
  /** Counts the messages that were stored, repeats included. */
  stored = 0;

  readonly put = (messages: readonly Message[]): string => {
    const content = Buffer.from(chunkText(messages));
    const { id } = blobRefOf({ type: 'application/json', content });
    this.chunks.set(id, JSON.parse(JSON.stringify(messages)) as readonly Message[]);
    this.stored += messages.length;
    return id;
  };

  readonly get = (id: string): readonly Message[] => {
    const messages = this.chunks.get(id);
    if (messages === undefined) throw new Error(`no chunk ${id}`);
    return messages;
  };

  /** The messages as they were said, offloaded or not. */
  whole(items: readonly TranscriptItem[]): readonly Message[] {
    return piecesOf(items).flatMap((piece) =>
      isStoredPart(piece) ? this.get(piece.id).slice(piece.from, piece.to) : piece.messages,
    );
  }

  /** The event of an offload of all messages over these bounds. */
  offloaded(
    state: ConversationState,
    bounds: OffloadBounds,
  ): Extract<EventBody, { type: 'transcript_offloaded' }> | undefined {
    const plan = offloadPlan(state, bounds);
    return plan && offloadedEvent(plan, chunksOf(plan).map(this.put));
  }

  /** The state of the next run, after a roll-over that offloads all turns over these bounds. */
  rolledOver(state: ConversationState, bounds: OffloadBounds): ConversationState {
    const offloaded = this.offloaded(state, bounds);
    const bodies: readonly EventBody[] = [
      ...(offloaded === undefined ? [] : [offloaded]),
      { type: 'rolled_over', reason: 'requested', droppedMessages: 0 },
    ];
    let next = state;
    for (const body of bodies)
      next = apply(next, { ...body, seq: next.lastSeq + 1, at: next.updatedAt });
    return fromCarryOver(JSON.parse(JSON.stringify(toCarryOver(next))) as CarriedMemory);
  }
}

/** One turn: a question, the calls of each step with their results, and a final answer. */
export function aTurn(ordinal: number, steps: readonly number[], chars: number): Message[] {
  const turnId = `t${ordinal}`;
  const text = `${ordinal} `.repeat(Math.ceil(chars / 3));
  const messages: Message[] = [
    { role: 'user', id: `${turnId}.q`, turnId, parts: [{ type: 'text', text }] },
  ];
  for (const [index, count] of steps.entries()) {
    const step = index + 1;
    const callIds = Array.from({ length: count }, (_, call) => `${turnId}.${step}.${call}`);
    messages.push({
      role: 'assistant',
      id: `${turnId}.${step}`,
      turnId,
      step,
      parts: callIds.map((toolCallId) => ({
        type: 'tool_call',
        toolCallId,
        name: 'stock',
        argumentsJson: '{}',
      })),
    });
    messages.push({
      role: 'tool',
      id: `${turnId}.${step}.results`,
      turnId,
      step,
      parts: callIds.map((toolCallId) => ({
        type: 'tool_result',
        toolCallId,
        name: 'stock',
        envelope: { ok: true, result: text },
        provenance: 'untrusted',
      })),
    });
  }
  const id = `${turnId}.answer`;
  messages.push({
    role: 'assistant',
    id,
    turnId,
    step: steps.length + 1,
    parts: [{ type: 'text', text }],
  });
  return messages;
}

export function aSummary(turnId: string): Message {
  const parts = [{ type: 'text', text: 'in short' }] as const;
  return { role: 'user', id: 'summary.1', turnId, parts, summary: 1 };
}

/** Offloads some messages as a run does. */
export function orderOf(
  { transcript, forgotten = 0 }: ConversationState,
  from: number,
  to = countMessages(transcript),
): OffloadTranscriptInput['messages'] {
  let hash = '';
  for (const message of transcript.slice(itemsOf(transcript, from), itemsOf(transcript, to)))
    hash = transcriptHash(hash, JSON.stringify(message));
  return { epoch: forgotten, from, to, hash };
}

export type Happening =
  /** `runs`: the answer is still to come. */
  | {
      readonly what: 'turn';
      readonly steps: readonly number[];
      readonly chars: number;
      readonly runs: boolean;
    }
  | (OffloadBounds & { readonly what: 'roll_over' })
  | { readonly what: 'summary' | 'left_out'; readonly turns: number };

const aHappening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      what: fc.constant('turn' as const),
      steps: fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 2 }),
      chars: fc.nat(600),
      runs: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      what: fc.constant('roll_over' as const),
      fromBytes: fc.integer({ min: 1, max: 4_000 }),
      keepBytes: fc.integer({ min: 1, max: 4_000 }),
      chunkBytes: fc.integer({ min: 1, max: 9_000 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      what: fc.constantFrom('summary' as const, 'left_out' as const),
      turns: fc.nat(4),
    }),
  },
);

export const happenings: fc.Arbitrary<readonly Happening[]> = fc.array(aHappening, {
  maxLength: 25,
});

/** The same conversation twice: as its runs have it, and as it would be without offloading. */
export interface Both {
  readonly state: ConversationState;
  readonly plain: ConversationState;
}

export const NOTHING_SAID: Both = {
  state: aConversationState([]),
  plain: aConversationState([]),
};

/** The same with that turn in progress, its next model call due. */
export function running(state: ConversationState, turnId: string): ConversationState {
  const turn: TurnState = {
    turnId,
    messageId: `${turnId}.q`,
    requester: { ...SYSTEM_ACTOR },
    startedAt: '',
    step: 1,
    shownStep: 1,
    phase: 'model',
    callIds: [],
    lastText: '',
    usage: { inputTokens: 0, outputTokens: 0 },
  };
  return { ...state, turn };
}

export function after({ state, plain }: Both, happening: Happening, shelf: Shelf): Both {
  switch (happening.what) {
    case 'turn': {
      const ordinal = state.turnCount + 1;
      const messages = aTurn(ordinal, happening.steps, happening.chars);
      const said = happening.runs ? messages.slice(0, -1) : messages;
      const grown = ({ turn: _over, ...before }: ConversationState): ConversationState => {
        const next = said.reduce(withMessage, { ...before, turnCount: ordinal });
        return happening.runs ? running(next, `t${ordinal}`) : next;
      };
      return { state: grown(state), plain: grown(plain) };
    }
    case 'roll_over':
      return { state: shelf.rolledOver(state, happening), plain };
    case 'left_out': {
      const head = headLength(plain.transcript);
      const to = turnSpans(plain.transcript)[happening.turns]?.from ?? head;
      return { state: withoutOldest(state, to - head), plain: withoutOldest(plain, to - head) };
    }
    case 'summary': {
      const last = turnSpans(plain.transcript)[happening.turns];
      if (last === undefined) return { state, plain };
      const throughMessageId = plain.transcript[last.to - 1]?.id ?? '';
      const covered = (before: ConversationState): ConversationState =>
        summarized(before, {
          type: 'summary',
          version: 1,
          ordinal: nextSummary(before),
          throughTurnId: last.turnId,
          throughMessageId,
          messages: last.to,
          text: 'They spoke.',
          tokensBefore: 9,
          tokensAfter: 2,
          model: 'scripted',
          usage: { inputTokens: 1, outputTokens: 1 },
        });
      return { state: covered(state), plain: covered(plain) };
    }
  }
}

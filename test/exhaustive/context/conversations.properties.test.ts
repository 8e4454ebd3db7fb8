/**
 * The contexts of model calls are whole in any conversation: parallel calls, answers that are refused, denied, late
 * or absent, detached calls, stops, summaries, roll-overs.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyAll } from '../../../src/core/apply/apply.js';
import {
  type AssembledContext,
  assembleContext,
  type ContextPolicy,
} from '../../../src/core/context/assemble.js';
import { markOf } from '../../../src/core/context/carry-over.js';
import { visibleTranscript } from '../../../src/core/context/request-window.js';
import { headLength, summaryOf } from '../../../src/core/context/turn-spans.js';
import type { ConversationState } from '../../../src/core/state/state.js';
import { wholeMessages } from '../../../src/core/state/transcript.js';
import type { Message } from '../../../src/protocol/conversation/messages.js';
import { TEXTS } from '../../../src/protocol/failures/texts.js';
import type { RunToolResult } from '../../../src/protocol/workflow/activities.js';
import { SCHEDULE_SETTINGS } from '../../support/builders/core-settings.js';
import { Shelf } from '../../support/fakes/stored-transcripts.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { byteTokens, contextParts } from '../../support/samples/context-parts.js';
import { endOfRun } from '../../support/schedules/core-asks.js';
import { ScheduleRunner, type Step, schedule } from '../../support/schedules/core-schedules.js';

const NUM_RUNS = Number(process.env['FC_RUNS'] ?? 100);
const TIMEOUT_MS = 60_000 + NUM_RUNS * 100;

interface Rules {
  /** Index into the agents of schedules. */
  readonly settings: number;
  readonly budget: number;
  readonly retention: number;
}

const rules: fc.Arbitrary<Rules> = fc.record({
  settings: fc.nat(SCHEDULE_SETTINGS.length - 1),
  budget: fc.integer({ min: 1_500, max: 20_000 }),
  retention: fc.nat(2),
});

function policyOf({ budget, retention }: Rules): ContextPolicy {
  return {
    budget,
    // By the name of the tool, so that one result goes and its neighbour stays.
    retentionOf: (name) =>
      name === 'shared.tool'
        ? { last: 1 + retention }
        : retention === 0
          ? 'never_evict'
          : { turns: 1 },
  };
}

/** Results of all sizes, good and bad; some are stored as blobs. The other ends are those of every schedule. */
function someEnd(variant: number): RunToolResult {
  if (variant % 3 === 0) return endOfRun(variant);
  const result = 'r'.repeat(variant % 900);
  const ends: readonly RunToolResult[] = [
    { envelope: { ok: true, result }, executionMs: 1 },
    { envelope: { ok: false, error: { code: 'tool_error', message: result } }, executionMs: 1 },
    {
      envelope: {
        ok: true,
        result,
        blob: { id: String(variant % 10).repeat(64), bytes: 300_000, type: 'application/json' },
      },
      executionMs: 1,
    },
  ];
  return ends[variant % ends.length] ?? endOfRun(0);
}

/** Acts as a worker that has the whole transcript. */
function assembled(
  { messages, state }: { readonly messages: readonly Message[]; readonly state: ConversationState },
  given: Rules,
): AssembledContext {
  const mark = markOf(state).context;
  return assembleContext(contextParts(messages, { policy: policyOf(given), mark }));
}

interface Call {
  readonly state: ConversationState;
  readonly given: AssembledContext;
}

interface Ran {
  readonly calls: readonly Call[];
  readonly runner: ScheduleRunner;
}

/**
 * The schedule with every call answered at the end, and the context of each model call; `look` is called at each.
 */
function conversationOf(
  steps: readonly Step[],
  given: Rules,
  look: (call: Call, runner: ScheduleRunner) => void = () => undefined,
): Ran {
  const calls: Call[] = [];
  const runner: ScheduleRunner = new ScheduleRunner(given.settings, {
    endOfRun: someEnd,
    reads: (state) => {
      const call = {
        state,
        given: assembled({ messages: wholeMessages(visibleTranscript(state)), state }, given),
      };
      calls.push(call);
      look(call, runner);
      return call.given.context;
    },
  });
  for (const step of steps) runner.run(step);
  runner.drain();
  return { calls, runner };
}

function callIds(messages: readonly Message[]): readonly string[] {
  return messages.flatMap((message) =>
    message.parts.flatMap((part) => (part.type === 'tool_call' ? [part.toolCallId] : [])),
  );
}

function resultIds(messages: readonly Message[]): readonly string[] {
  return messages.flatMap((message) =>
    message.parts.flatMap((part) => (part.type === 'tool_result' ? [part.toolCallId] : [])),
  );
}

/** Ids of messages count events, and a roll-over is one. */
function bytesOf({ given }: Call): string {
  return JSON.stringify(given.messages.map(({ id: _id, ...message }) => message));
}

const property = (holds: (steps: readonly Step[], given: Rules) => void): void => {
  fc.assert(fc.property(schedule, rules, holds), { numRuns: NUM_RUNS });
};

describe('random conversations', () => {
  it(
    'reach every way a call can end, and every way a context is made smaller',
    () => {
      const seen = new Set<string>();
      for (const [steps, given] of fc.sample(fc.tuple(schedule, rules), { numRuns: 300, seed: 7 }))
        for (const { given: context } of conversationOf(steps, given).calls) {
          const { compacted, evictedResults = 0, summary, droppedTurns = 0 } = context.context;
          if (compacted !== undefined) seen.add(compacted);
          if (evictedResults > 0) seen.add('stub');
          if (summary !== undefined) seen.add('summary');
          if (droppedTurns > 0) seen.add('dropped');
          if (context.tooLong) seen.add('too long');
          for (const message of context.messages) {
            if (message.role === 'user' && message.inbox !== undefined)
              seen.add(message.inbox.startsWith('tr:') ? 'late result' : 'inbox');
            if (message.role !== 'tool') continue;
            if (message.parts.length > 1) seen.add('parallel');
            for (const { envelope } of message.parts) {
              if (!envelope.ok) seen.add(envelope.error.code);
              else if (envelope.blob !== undefined) seen.add('blob');
              else if (JSON.stringify(envelope.result).includes('pendingToolCallId'))
                seen.add('detached');
            }
          }
        }
      const reached = ['parallel', 'detached', 'inbox', 'late result', 'blob'];
      const ends = ['denied', 'expired', 'cancelled', 'tool_error', 'declined'];
      const smaller = ['share', 'budget', 'stub', 'summary', 'dropped', 'too long'];
      expect([...reached, ...ends, ...smaller].filter((kind) => !seen.has(kind))).toEqual([]);
    },
    patient(TIMEOUT_MS),
  );

  it('give every call with exactly one result, right behind it and in its order, and turns whole', {
    ...promise('G172'),
    timeout: patient(TIMEOUT_MS),
  }, () => {
    property((steps, given) => {
      conversationOf(steps, given, ({ state, given: { messages } }) => {
        expect(resultIds(messages)).toEqual(callIds(messages));
        expect(new Set(callIds(messages)).size).toBe(callIds(messages).length);
        for (const [index, message] of messages.entries())
          if (callIds([message]).length > 0)
            expect(resultIds(messages.slice(index + 1, index + 2))).toEqual(callIds([message]));
        // The newest messages of the log, from the beginning of a turn on, behind the summary.
        const head = headLength(state.transcript);
        const shown = messages.slice(headLength(messages)).map(({ id }) => id);
        const from = state.transcript.length - shown.length;
        expect(shown).toEqual(state.transcript.slice(from).map(({ id }) => id));
        expect(headLength(messages)).toBe(head);
        if (from > head)
          expect(state.transcript[from - 1]?.turnId).not.toBe(state.transcript[from]?.turnId);
      });
    });
  });

  it('never exceed their budget, unless the turn in progress alone does and the call says so', {
    ...promise('G172'),
    timeout: patient(TIMEOUT_MS),
  }, () => {
    property((steps, given) => {
      conversationOf(steps, given, ({ state, given: { messages, context, tooLong } }) => {
        const counted = messages.reduce((sum, message) => sum + byteTokens(message), 0);
        expect(context.tokens).toBe(Math.ceil(counted * (context.scale ?? 1)));
        expect(context.budget).toBe(given.budget);
        if (!tooLong) expect(context.tokens).toBeLessThanOrEqual(given.budget);
        else {
          const turns = new Set(messages.slice(headLength(messages)).map(({ turnId }) => turnId));
          expect([...turns]).toEqual([state.turn?.turnId]);
        }
      });
    });
  });

  it('are a function of the log alone: read again from the log, or by a run that has rolled over, they have the same bytes', {
    ...promise('G172'),
    timeout: patient(TIMEOUT_MS),
  }, () => {
    property((steps, given) => {
      const shelf = new Shelf();
      conversationOf(steps, given, (call, { m }) => {
        const bytes = JSON.stringify(call.given);
        const folded = applyAll(m.events);
        if (folded === undefined) throw new Error('unreachable');
        const messagesAgain = wholeMessages(visibleTranscript(folded));
        const again = assembled({ messages: messagesAgain, state: folded }, given);
        expect(JSON.stringify(again)).toBe(bytes);
        // The next run has references to offloaded messages; the worker reads the originals.
        const bounds = { fromBytes: 1_000, keepBytes: 500, chunkBytes: 900 };
        const next = shelf.rolledOver(call.state, bounds);
        const messages = shelf.whole(visibleTranscript(next));
        expect(JSON.stringify(assembled({ messages, state: next }, given))).toBe(bytes);
      });
    });
  });

  it('are the same when a run rolls over between any two inputs', {
    ...promise('G172'),
    timeout: patient(TIMEOUT_MS),
  }, () => {
    property((steps, given) => {
      const rolling: Step = { kind: 'roll_over', pick: 0, variant: 0 };
      const calm = steps.filter(({ kind }) => kind !== 'roll_over' && kind !== 'restart');
      const stormy = calm.flatMap((step) => [step, rolling]);
      const { calls } = conversationOf(calm, given);
      expect(conversationOf(stormy, given).calls.map(bytesOf)).toEqual(calls.map(bytesOf));
    });
  });

  it('begin with the bytes of the call before, except where they say that they were made smaller; a summary leaves the tail as it was', {
    ...promise('G172'),
    timeout: patient(TIMEOUT_MS),
  }, () => {
    property((steps, given) => {
      const { calls } = conversationOf(steps, given);
      for (const [index, { given: now }] of calls.entries()) {
        const before = calls[index - 1]?.given;
        if (before === undefined || now.context.compacted !== undefined) continue;
        const isNewSummary = now.context.summary !== before.context.summary;
        const tail = isNewSummary ? now.messages.slice(1) : now.messages;
        const from = isNewSummary ? before.messages.findIndex(({ id }) => id === tail[0]?.id) : 0;
        const kept = from < 0 ? [] : before.messages.slice(from);
        expect(JSON.stringify(tail.slice(0, kept.length))).toBe(JSON.stringify(kept));
      }
    });
  });

  it('show stubs in place of old results only, and pairs all the same', () => {
    property((steps, given) => {
      conversationOf(steps, given, ({ state, given: { messages, context } }) => {
        const whole = new Map(state.transcript.map((message) => [message.id, message]));
        let stubs = 0;
        for (const message of messages) {
          const said = whole.get(message.id);
          if (JSON.stringify(said) === JSON.stringify(message)) continue;
          if (message.role !== 'tool' || said?.role !== 'tool') throw new Error(message.id);
          for (const [index, part] of message.parts.entries()) {
            const { envelope } = part;
            if (JSON.stringify(part) === JSON.stringify(said.parts[index])) continue;
            stubs += 1;
            expect(envelope.ok ? envelope.result : envelope.error.message).toBe(
              TEXTS.resultExpired,
            );
          }
        }
        expect(stubs).toBe(context.evictedResults ?? 0);
        expect(summaryOf(messages)).toEqual(summaryOf(state.transcript));
      });
    });
  });
});

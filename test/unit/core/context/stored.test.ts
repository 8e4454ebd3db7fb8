/** Messages that roll-overs offload: every decision is the same as if they were still in the state. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  carriedBytes,
  droppedAtRollOver,
  heldBytesOf,
  offloadPlan,
} from '../../../../src/core/context/carry-over.js';
import { offloadedEnd } from '../../../../src/core/context/offloaded.js';
import {
  requestWindow,
  visibleFrom,
  visibleTranscript,
} from '../../../../src/core/context/request-window.js';
import { summarizable } from '../../../../src/core/context/summaries.js';
import { bytesOf, withMessage } from '../../../../src/core/context/transcript.js';
import { turnResults } from '../../../../src/core/context/turn-results.js';
import { turnSpans } from '../../../../src/core/context/turn-spans.js';
import { takenCallIds } from '../../../../src/core/memory/memory.js';
import type { ConversationState } from '../../../../src/core/state/state.js';
import {
  countMessages,
  isOffloaded,
  itemsOf,
  type TranscriptItem,
  wholeMessages,
} from '../../../../src/core/state/transcript.js';
import type { Message } from '../../../../src/protocol/conversation/messages.js';
import {
  MAX_CARRIED_TRANSCRIPT_BYTES,
  MAX_STORED_TRANSCRIPT_BYTES,
  MAX_TOMBSTONES,
  MAX_TRANSCRIPT_BYTES,
  OFFLOAD_CHUNK_BYTES,
  OFFLOAD_FROM_BYTES,
  OFFLOAD_KEEP_BYTES,
} from '../../../../src/protocol/limits/limits.js';
import { utf8Bytes } from '../../../../src/protocol/values/json.js';
import {
  after,
  aTurn,
  type Both,
  happenings,
  NOTHING_SAID,
  Shelf,
} from '../../../support/fakes/stored-transcripts.js';
import { promise } from '../../../support/promise.js';
import { aConversationState } from '../../../support/samples/transcripts.js';

const BOUNDS = { fromBytes: 2_000, keepBytes: 500, chunkBytes: 2_000 };
const DEFAULTS = {
  fromBytes: OFFLOAD_FROM_BYTES,
  keepBytes: OFFLOAD_KEEP_BYTES,
  chunkBytes: OFFLOAD_CHUNK_BYTES,
};

function turns(count: number, steps: readonly number[], chars: number): readonly Message[] {
  return Array.from({ length: count }, (_, index) => aTurn(index + 1, steps, chars)).flat();
}

/** Tombstones of a conversation that has had very many calls: their ids are no longer complete. */
function withOldTombstones(state: ConversationState): ConversationState {
  const tombstone = { name: 'x', turnId: 't', status: 'resolved', at: '' } as const;
  return {
    ...state,
    tombstones: Array.from({ length: MAX_TOMBSTONES }, (_, index) => ({
      ...tombstone,
      key: `old_${index}`,
    })),
  };
}

/** The turns of a transcript: number and bytes of their messages, and the last one. */
function turnsIn(items: readonly TranscriptItem[]): unknown {
  return turnSpans(items).map(({ turnId, from, to }) => {
    const ofTurn = items.slice(from, to);
    const lastId = ofTurn.at(-1)?.id;
    return { turnId, messages: countMessages(ofTurn), bytes: bytesOf(ofTurn), lastId };
  });
}

function summarizableMessages(state: ConversationState): number {
  return countMessages(state.transcript.slice(0, summarizable(state)));
}

function expectSame({ state, plain }: Both, shelf: Shelf): void {
  expect(shelf.whole(state.transcript)).toEqual(plain.transcript);
  expect(turnsIn(state.transcript)).toEqual(turnsIn(plain.transcript));
  expect([state.transcriptBytes, state.forgotten]).toEqual([
    plain.transcriptBytes,
    plain.forgotten,
  ]);
  expect(requestWindow(state).unsent).toBe(requestWindow(plain).unsent);
  expect(summarizableMessages(state)).toBe(summarizableMessages(plain));
  expect(droppedAtRollOver(state)).toBe(droppedAtRollOver(plain));
  const callIds = wholeMessages(plain.transcript).flatMap(({ parts }) =>
    parts.flatMap((part) => ('toolCallId' in part ? [part.toolCallId] : [])),
  );
  expect(takenCallIds(withOldTombstones(state), callIds)).toEqual(new Set(callIds));
}

describe('the oldest turns that a roll-over offloads', () => {
  it('leave every decision as it was, in any order of messages, offloads, summaries and omissions', {
    ...promise('G179'),
  }, () => {
    fc.assert(
      fc.property(happenings, (all) => {
        const shelf = new Shelf();
        let both = NOTHING_SAID;
        for (const happening of all) {
          both = after(both, happening, shelf);
          expectSame(both, shelf);
        }
      }),
    );
  });

  it('are stored once: later roll-overs carry the references', () => {
    const shelf = new Shelf();
    let state = aConversationState(turns(20, [2], 300));
    for (let run = 0; run < 5; run += 1) state = shelf.rolledOver(state, BOUNDS);
    expect(shelf.stored).toBe(offloadedEnd(state.transcript));
    const before = shelf.stored;
    state = shelf.rolledOver(aTurn(21, [3], 3_000).reduce(withMessage, state), BOUNDS);
    expect(shelf.stored).toBeGreaterThan(before);
    expect(shelf.stored).toBe(offloadedEnd(state.transcript));
  });

  it('are whole turns, as many as needed, in chunks up to the bound; the newest ones stay', () => {
    const state = aConversationState(turns(40, [1], 600));
    const plan = offloadPlan(state, { fromBytes: 9_000, keepBytes: 5_000, chunkBytes: 12_000 });
    const kept = state.transcript.slice(plan?.messages.length);
    expect(bytesOf(kept)).toBeLessThanOrEqual(5_000);
    expect(kept[0]).toMatchObject({ role: 'user' });
    expect(plan?.chunks.length).toBeGreaterThan(3);
    let from = 0;
    for (const count of plan?.chunks ?? []) {
      const chunk = plan?.messages.slice(from, from + count) ?? [];
      from += count;
      expect(chunk[0]).toMatchObject({ role: 'user' });
      expect(bytesOf(chunk)).toBeLessThanOrEqual(12_000);
    }
    expect(from).toBe(plan?.messages.length);
  });

  it('are none when the bound is not reached', () => {
    const state = aConversationState(turns(3, [3], 3_000));
    expect(offloadPlan(state, { ...BOUNDS, fromBytes: 1e9 })).toBeUndefined();
  });

  it('are chunks of their own where a turn is larger than a chunk', () => {
    const plan = offloadPlan(aConversationState(turns(3, [3], 3_000)), BOUNDS);
    expect(new Set(plan?.messages.map(({ turnId }) => turnId))).toEqual(
      new Set(['t1', 't2', 't3']),
    );
    expect(plan?.chunks).toHaveLength(3);
  });

  it('make the carried state small: of a megabyte the newest turns stay, and less than a tenth of the rest', () => {
    const state = aConversationState(turns(60, [10], 1_300));
    expect(state.transcriptBytes).toBeGreaterThan(0.9 * MAX_CARRIED_TRANSCRIPT_BYTES);
    const shelf = new Shelf();
    const next = shelf.rolledOver(state, DEFAULTS);
    const offloaded = next.transcript.filter(isOffloaded);
    expect(bytesOf(wholeMessages(next.transcript))).toBeLessThan(OFFLOAD_KEEP_BYTES);
    expect(utf8Bytes(JSON.stringify(offloaded))).toBeLessThan(0.1 * state.transcriptBytes);
    expect(carriedBytes(next)).toBeLessThan(0.1 * state.transcriptBytes + OFFLOAD_KEEP_BYTES);
    expect(carriedBytes(state)).toBeGreaterThan(0.9 * MAX_CARRIED_TRANSCRIPT_BYTES);
  });

  it('beyond the size of one payload are stored and not dropped, and a model gets all of them', {
    ...promise('G184'),
  }, () => {
    const state = aConversationState(turns(160, [10], 1_300));
    expect(state.transcriptBytes).toBeGreaterThan(2 * MAX_CARRIED_TRANSCRIPT_BYTES);
    expect(droppedAtRollOver(state)).toBeGreaterThan(0);
    expect(visibleFrom(state)).toBeGreaterThan(0);
    const shelf = new Shelf();
    const next = shelf.rolledOver(state, DEFAULTS);
    expect(droppedAtRollOver(next)).toBe(0);
    expect(shelf.whole(visibleTranscript(next))).toEqual(state.transcript);
    expect(carriedBytes(next)).toBeLessThan(0.1 * state.transcriptBytes + OFFLOAD_KEEP_BYTES);
    expect(heldBytesOf(next)).toEqual({ heldBytes: MAX_STORED_TRANSCRIPT_BYTES });
  });

  it('are left out of a model call by whole turns when their references alone outgrow a payload', () => {
    const items = Array.from({ length: 12_000 }, (_, index) => ({
      ...{ role: 'offloaded' as const, turnId: `t${index}`, id: `m${index}`, chunk: 'c' },
      ...{ from: index, to: index + 1, bytes: 100 },
    }));
    const state = { transcript: items, transcriptBytes: 100 * items.length };
    expect(state.transcriptBytes).toBeLessThan(MAX_TRANSCRIPT_BYTES);
    expect(visibleFrom(state)).toBeGreaterThan(0);
    expect(visibleFrom({ ...state, transcript: items.slice(6_000) })).toBe(0);
  });

  it('are dropped when the memory outgrows the bounds of a conversation', () => {
    const shelf = new Shelf();
    const state = aConversationState(turns(560, [10], 1_300));
    expect(state.transcriptBytes).toBeGreaterThan(MAX_STORED_TRANSCRIPT_BYTES);
    const next = shelf.rolledOver(state, { ...DEFAULTS, chunkBytes: 4 * OFFLOAD_CHUNK_BYTES });
    const dropped = droppedAtRollOver(next);
    expect(dropped).toBeGreaterThan(0);
    const kept = next.transcript.slice(itemsOf(next.transcript, dropped));
    expect(bytesOf(kept)).toBeLessThanOrEqual(MAX_STORED_TRANSCRIPT_BYTES);
    // Turns that are dropped at once are not stored first.
    expect(shelf.stored).toBeLessThan(state.transcript.length - dropped + 1);
  });

  it('still give the policies of an open call the reads of its turn', () => {
    const state = aConversationState(turns(9, [2], 600));
    const open = { ...state, calls: { late: { turnId: 't2' } } } as unknown as ConversationState;
    const shelf = new Shelf();
    const next = shelf.rolledOver(shelf.rolledOver(open, BOUNDS), BOUNDS);
    expect(next.transcript[0]).toMatchObject({ role: 'offloaded' });
    expect(turnResults(next, 't2')).toEqual(turnResults(state, 't2'));
    expect(turnResults(next, 't2')).toHaveLength(2);
    // No policy asks for the others.
    expect(turnResults(next, 't1')).toEqual([]);
  });
});

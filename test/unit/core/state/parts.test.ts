/** Parts of the state by themselves: sums of usage, items of the transcript, turns of inbox events, remembered keys. */
import { describe, expect, it } from 'vitest';
import {
  inboxPreview,
  inboxTurnAfter,
  waitsForNextTurn,
  withInboxTurn,
} from '../../../../src/core/state/inbox-turns.js';
import {
  callKey,
  isSameDigest,
  keptArgsDigest,
  keptDigest,
  requestKey,
} from '../../../../src/core/state/requests.js';
import {
  countMessages,
  isOffloaded,
  itemsOf,
  type OffloadedMessages,
  type TranscriptItem,
  wholeMessages,
} from '../../../../src/core/state/transcript.js';
import { isTelemetry, remember, withCall, withTurn } from '../../../../src/core/state/update.js';
import { addUsage, NO_USAGE, spentIn, takenBy } from '../../../../src/core/state/usage.js';
import {
  MAX_PREVIEW_CHARS,
  MAX_PREVIEWED_EVENTS,
  MAX_REMEMBERED_REQUESTS,
} from '../../../../src/protocol/limits/limits.js';
import { aMachine } from '../../../support/schedules/core-driver.js';

const usage = (inputTokens: number, more: object = {}) => ({
  ...{ inputTokens, outputTokens: inputTokens * 10, ...more },
});

describe('usage', () => {
  it('adds up, and has the optional sums only where one side has them', () => {
    expect(addUsage(usage(1), usage(2))).toEqual(usage(3));
    const left = usage(1, { cachedInputTokens: 4, costMicros: 5 });
    const right = usage(2, { cachedInputTokens: 1, reasoningTokens: 7, estimated: true });
    const sum = { cachedInputTokens: 5, reasoningTokens: 7, costMicros: 5, estimated: true };
    expect(addUsage(left, right)).toEqual(usage(3, sum));
    expect(addUsage(right, left)).toEqual(usage(3, sum));
    const both = addUsage(usage(1, { costMicros: 2, reasoningTokens: 1 }), left);
    expect(both).toEqual(usage(2, { cachedInputTokens: 4, costMicros: 7, reasoningTokens: 1 }));
    expect(addUsage(usage(1, { costMicros: 0 }), NO_USAGE)).toEqual(usage(1, { costMicros: 0 }));
    const none = { cachedInputTokens: 0, reasoningTokens: 0 };
    expect(addUsage(usage(1, none), usage(2))).toEqual(usage(3));
  });

  it('of a model call has its attempts without a result', () => {
    expect(takenBy({ usage: usage(1) })).toEqual(usage(1));
    expect(takenBy({ usage: usage(1), earlierUsage: usage(2) })).toEqual(usage(3));
    const spent = { model: 'a', attempt: 1, usage: usage(1) };
    const open = { model: 'b', attempt: 2, usage: usage(2), id: 'x' } as never;
    expect(spentIn({})).toBeUndefined();
    expect(spentIn({ spent })).toBe(spent);
    expect(spentIn({ open })).toEqual({ model: 'b', attempt: 2, usage: usage(2) });
    expect(spentIn({ spent, open })).toEqual({ model: 'b', attempt: 2, usage: usage(3) });
  });
});

describe('the items of a transcript', () => {
  const message = (id: string): TranscriptItem => ({ role: 'user', id, turnId: 't', parts: [] });
  const offloaded: OffloadedMessages = {
    ...{ role: 'offloaded', turnId: 't', id: 'm3', chunk: 'x', from: 1, to: 4, bytes: 9 },
  };
  const items = [message('m0'), offloaded, message('m4'), message('m5')];

  it('stand for messages', () => {
    expect(items.map(isOffloaded)).toEqual([false, true, false, false]);
    expect(wholeMessages(items).map(({ id }) => id)).toEqual(['m0', 'm4', 'm5']);
    expect(countMessages(items)).toBe(6);
    expect(countMessages([])).toBe(0);
  });

  it('are counted up to a number of messages', () => {
    expect([0, 1, 2, 4, 5, 6, 7].map((messages) => itemsOf(items, messages))).toEqual([
      ...[0, 1, 2, 2, 3, 4, 4],
    ]);
    expect(itemsOf(items, -1)).toBe(0);
  });
});

describe('turns of inbox events', () => {
  const { state } = aMachine();
  const at = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
  const rated = (inboxTurns?: readonly string[], updatedAt = at(10)) => ({
    ...state,
    settings: { ...state.settings, inbox: { rate: { turns: 2, perMs: 5 * 60_000 } } },
    ...{ updatedAt, ...(inboxTurns === undefined ? {} : { inboxTurns }) },
  });

  it('start at once without a bound, and below it', () => {
    expect(inboxTurnAfter({ ...state, inboxTurns: [at(10), at(10)] })).toBeUndefined();
    expect(inboxTurnAfter(rated())).toBeUndefined();
    expect(inboxTurnAfter(rated([at(9)]))).toBeUndefined();
  });

  it('start once the oldest that counts is over, and at once where it is', () => {
    expect(inboxTurnAfter(rated([at(6), at(9)]))).toBe(at(11));
    expect(inboxTurnAfter(rated([at(1), at(6), at(9)]))).toBe(at(11));
    expect(inboxTurnAfter(rated([at(5), at(9)]))).toBeUndefined();
    expect(inboxTurnAfter(rated([at(4), at(9)]))).toBeUndefined();
  });

  it('are remembered while they count', () => {
    expect(withInboxTurn(state, at(10))).toBe(state);
    expect(withInboxTurn(rated(), at(10)).inboxTurns).toEqual([at(10)]);
    expect(withInboxTurn(rated([at(5), at(6)]), at(10)).inboxTurns).toEqual([at(6), at(10)]);
    expect(withInboxTurn(rated([at(7), at(8), at(9)]), at(10)).inboxTurns).toEqual([at(9), at(10)]);
  });

  it('are announced to the model of the turn before', () => {
    const waiting = (inbox: readonly object[], whileBusy?: 'next_turn') =>
      ({ ...state, inbox, settings: { ...state.settings, inbox: { whileBusy } } }) as never;
    const events = (count: number) =>
      Array.from({ length: count }, () => ({ text: 'x'.repeat(400) }));
    expect(waitsForNextTurn(waiting([], 'next_turn'))).toBe(true);
    expect([waitsForNextTurn(waiting([])), waitsForNextTurn(state)]).toEqual([false, false]);
    expect(inboxPreview(waiting([], 'next_turn'))).toBeUndefined();
    expect(inboxPreview(waiting(events(1)))).toBeUndefined();
    expect(inboxPreview(state)).toBeUndefined();
    const shown = inboxPreview(waiting(events(MAX_PREVIEWED_EVENTS + 1), 'next_turn'));
    expect(shown?.waiting).toBe(MAX_PREVIEWED_EVENTS + 1);
    expect(shown?.beginnings).toHaveLength(MAX_PREVIEWED_EVENTS);
    expect(shown?.beginnings[0]).toHaveLength(MAX_PREVIEW_CHARS);
  });
});

describe('the key of a request', () => {
  it('has its call and its actor, and no two places are confused', () => {
    const keys = [
      ...[requestKey('r'), requestKey('r', 'c'), requestKey('r', 'c', 'ann')],
      ...[requestKey('r', undefined, 'c'), requestKey('c', 'r'), requestKey('r","c')],
    ];
    expect(new Set(keys).size).toBe(keys.length);
    expect(requestKey('r', 'c')).toBe(requestKey('r', 'c'));
    expect(callKey('c')).not.toBe(callKey('d'));
  });

  it('is kept with the end of its digest, and a digest of arguments with the beginning', () => {
    expect(keptDigest('sha256:0123456789')).toBe('456789');
    expect(isSameDigest(keptDigest('sha256:0123456789'), 'sha256:0123456789')).toBe(true);
    expect(isSameDigest(keptDigest('sha256:0123456789'), 'sha256:0123456788')).toBe(false);
    expect(keptArgsDigest(`sha256:${'0'.repeat(64)}`)).toBe(`sha256:${'0'.repeat(17)}`);
    expect(keptArgsDigest('ask:1:x')).toBe('ask:1:x');
  });
});

describe('a change of the state', () => {
  const { state } = aMachine();

  it('has no effect on a turn or a call that is not there', () => {
    const fail = (): never => {
      throw new Error('changed');
    };
    expect(withTurn(state, fail)).toBe(state);
    expect(withCall(state, 'c', fail)).toBe(state);
  });

  it('remembers the newest requests', () => {
    let changed = state;
    for (let seq = 0; seq < MAX_REMEMBERED_REQUESTS + 2; seq += 1)
      changed = remember(changed, { key: `${seq}`, seq, operation: 'inbox', digest: '' });
    expect(changed.requests).toHaveLength(MAX_REMEMBERED_REQUESTS);
    expect(changed.requests[0]?.seq).toBe(2);
    expect(changed.requests.at(-1)?.seq).toBe(MAX_REMEMBERED_REQUESTS + 1);
  });

  it('is no activity where it is telemetry', () => {
    const types = ['resolution_refused', 'message_refused', 'summary', 'transcript_offloaded'];
    expect(types.map((type) => isTelemetry({ type } as never))).toEqual([true, true, true, true]);
    expect(isTelemetry({ type: 'user_message' } as never)).toBe(false);
  });
});

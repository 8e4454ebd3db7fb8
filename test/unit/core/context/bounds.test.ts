/** The bounds of what is carried, summarised and offloaded, to the byte; and the facts about the previous model call. */
import { describe, expect, it } from 'vitest';
import { assembleContext } from '../../../../src/core/context/assemble.js';
import {
  droppedToFit,
  markOf as markOfState,
  offloadPlan,
  toCarryOver,
} from '../../../../src/core/context/carry-over.js';
import { isCrowded, needsOffload } from '../../../../src/core/context/request-window.js';
import { oldResults, stubsIn, withStubs } from '../../../../src/core/context/retention.js';
import { summarizable, turnsKept } from '../../../../src/core/context/summaries.js';
import type { ConversationState, TurnState } from '../../../../src/core/state/state.js';
import type { ContextMark, Retention } from '../../../../src/protocol/conversation/context.js';
import type { Message } from '../../../../src/protocol/conversation/messages.js';
import {
  MAX_TOMBSTONE_BYTES,
  MAX_TRANSCRIPT_BYTES,
} from '../../../../src/protocol/limits/limits.js';
import { utf8Bytes } from '../../../../src/protocol/values/json.js';
import { bytesOf, contextParts, transcript } from '../../../support/samples/context-parts.js';
import { aConversationState } from '../../../support/samples/transcripts.js';

/** A user's message that has so many bytes as JSON. */
function sized(turnId: string, bytes: number): Message {
  const message = (chars: number): Message => ({
    ...{ role: 'user', id: `${turnId}.u`, turnId },
    parts: [{ type: 'text', text: 'x'.repeat(chars) }],
  });
  return message(bytes - utf8Bytes(JSON.stringify(message(0))));
}

const inTurn = (
  messages: readonly Message[],
  turnId: string,
  phase: TurnState['phase'] = 'model',
): ConversationState => {
  const turn = { turnId, phase } as TurnState;
  return { ...aConversationState(messages), turn };
};

describe('the facts about the previous model call', () => {
  const of = (context: object) =>
    markOfState({ ...aConversationState([]), context } as unknown as ConversationState);

  it('are none before the first', () => {
    expect(markOfState(aConversationState([]))).toStrictEqual({});
  });

  it('are its tokens, and where it was reduced or estimated how', () => {
    const least = { tokens: 5, inputTokens: 6 };
    expect(of({ ...least, budget: 9, messages: 3 })).toStrictEqual({ context: least });
    const all = { ...least, rough: true, scale: 1.5, fromTurnId: 't2', evictedAsOf: 'm' };
    expect(of({ ...all, summaryDue: true })).toStrictEqual({ context: all });
  });
});

describe('the context of a model call', () => {
  const messages = transcript([{}, { open: true }]);
  const tokens = bytesOf(messages);
  const given = (mark: ContextMark | undefined) =>
    assembleContext(contextParts(messages, { mark })).context;

  it('says nothing of reductions where there were none', () => {
    expect(given(undefined)).toStrictEqual({ tokens, budget: 1_000_000, messages: 3 });
  });

  it.each([
    [50, 0.5],
    [49, 1],
    [200, 2],
    [201, 1],
    [150, 1.5],
  ])('takes %i counted for 100 estimated tokens as the scale %d', (inputTokens, scale) => {
    const { scale: used = 1, tokens: counted } = given({ tokens: 100, inputTokens });
    expect([used, counted]).toEqual([scale, Math.ceil(tokens * scale)]);
  });

  it('has no scale after a call that had no tokens', () => {
    expect(given({ tokens: 0, inputTokens: 7 })).not.toHaveProperty('scale');
  });
});

describe('ended calls', () => {
  const tombstone = (key: string, bytes: number) => {
    const at = (name: string) => ({ key, name, turnId: 't', status: 'resolved' as const, at: '' });
    return at('x'.repeat(bytes - utf8Bytes(JSON.stringify(at('')))));
  };
  // Each counts one byte more, for the comma.
  const whole = [tombstone('a', 1_000), tombstone('b', MAX_TOMBSTONE_BYTES - 1_002)];
  const carried = (tombstones: ConversationState['tombstones']) => {
    const state = { ...aConversationState([]), tombstones };
    return { state, carried: toCarryOver(state).state as ConversationState };
  };

  it('are all carried up to their bound', () => {
    const { state, carried: kept } = carried(whole);
    expect(kept).toBe(state);
    expect(carried([]).carried).not.toHaveProperty('forgetsCalls');
  });

  it('beyond it are the newest that fit, and the state knows that there were more', () => {
    const { carried: kept } = carried([tombstone('older', 100), ...whole]);
    expect(kept.tombstones).toEqual(whole);
    expect(kept.forgetsCalls).toBe(true);
    const [, large] = whole;
    const { carried: less } = carried([tombstone('a', 1_001), ...whole.slice(1)]);
    expect(less.tombstones).toEqual([large]);
  });
});

describe('turns', () => {
  const half = MAX_TRANSCRIPT_BYTES / 2;
  const newest = [sized('t8', 200), sized('t9', 200)];

  it('are summarised up to what one worker can be sent', () => {
    const fit = [sized('t1', half), sized('t2', half)];
    expect(summarizable(aConversationState([...fit, ...newest]))).toBe(2);
    const over = [sized('t1', half), sized('t2', half + 1)];
    expect(summarizable(aConversationState([...over, ...newest]))).toBe(1);
    const first = [sized('t1', 3 * half), sized('t2', 200)];
    expect(summarizable(aConversationState([...first, ...newest]))).toBe(1);
    expect(summarizable(aConversationState(newest))).toBe(0);
  });

  it('are summarised with the summary before them, which counts', () => {
    const summary = { ...sized('t0', half), summary: 1 } as Message;
    const after = (bytes: number): number => {
      const messages = [summary, sized('t1', half), sized('t2', bytes), ...newest];
      return summarizable(aConversationState(messages));
    };
    expect(after(200)).toBe(2);
    expect(summarizable(aConversationState([summary, sized('t1', 200), ...newest]))).toBe(2);
  });

  it('that stay whole are the newest two, apart from the one in progress', () => {
    expect(turnsKept(aConversationState(newest))).toBe(2);
    expect(turnsKept(inTurn(newest, 't9'))).toBe(3);
    expect(turnsKept(inTurn(newest, 't8'))).toBe(2);
    expect(turnsKept(inTurn([], 't8'))).toBe(2);
  });

  it('are kept whole, the newest ones that fit to the byte', () => {
    const three = [sized('t1', 200), sized('t2', 300), sized('t3', 400)];
    const dropped = (bytes: number) => droppedToFit(three, bytes);
    expect([900, 899, 700, 699, 400, 1].map(dropped)).toEqual([0, 1, 1, 2, 2, 2]);
    expect(droppedToFit([], 1)).toBe(0);
    const sameTurn = [sized('t1', 200), sized('t2', 300), sized('t2', 400)];
    expect(droppedToFit(sameTurn, 1)).toBe(1);
  });

  it('are offloaded above one bound, down to another, in chunks of a third', () => {
    const four = [1, 2, 3, 4].map((ordinal) => sized(`t${ordinal}`, 300));
    const plan = (fromBytes: number, keepBytes: number, chunkBytes: number) =>
      offloadPlan(aConversationState(four), { fromBytes, keepBytes, chunkBytes })?.chunks;
    expect(plan(1_200, 0, 600)).toBeUndefined();
    expect(plan(1_199, 0, 600)).toEqual([2, 2]);
    expect(plan(1_199, 0, 599)).toEqual([1, 1, 1, 1]);
    expect(plan(1_199, 300, 900)).toEqual([3]);
    expect(plan(1_199, 299, 900)).toEqual([3, 1]);
    expect(plan(1_199, 1_200, 900)).toBeUndefined();
  });
});

describe('the turn in progress', () => {
  const turnBytes = 600;
  const bounds = { fromBytes: 1, keepBytes: 1, chunkBytes: 1, turnBytes };
  const crowded = (bytes: number, phase: TurnState['phase'] = 'model', of = 't2') =>
    isCrowded(inTurn([sized('t1', 5_000), sized('t2', bytes)], of, phase), bounds);

  it('is crowded beyond its bound, while it waits for the model', () => {
    expect([crowded(600), crowded(601), crowded(601, 'tools')]).toEqual([false, true, false]);
    expect(isCrowded(aConversationState([sized('t1', 5_000)]), bounds)).toBe(false);
    expect(isCrowded(inTurn([sized('t2', 5_000)], 't2'), undefined)).toBe(false);
  });

  it('waits for an offload beyond one payload, unless it is being stopped', () => {
    const needs = (bytes: number, more: object = {}) => {
      const state = inTurn([sized('t2', bytes)], 't2');
      return needsOffload({ ...state, turn: { ...state.turn, ...more } as TurnState });
    };
    expect(needs(MAX_TRANSCRIPT_BYTES)).toBe(false);
    expect(needs(MAX_TRANSCRIPT_BYTES + 1)).toBe(true);
    for (const more of [{ phase: 'tools' }, { stop: 'time_budget' }, { cancel: {} }])
      expect(needs(MAX_TRANSCRIPT_BYTES + 1, more)).toBe(false);
  });
});

describe('stubs', () => {
  const [, , results] = transcript([{ steps: [['lookup', 100]] }]);
  const message = results as Message;

  it('take the place of old results alone, and are counted', () => {
    expect(withStubs(message, new Set(['other']))).toBe(message);
    expect(stubsIn(message, message)).toBe(0);
    const shown = withStubs(message, new Set(['t1.1']));
    expect(shown).not.toBe(message);
    expect(stubsIn(shown, message)).toBe(1);
  });

  it('do not take the place of a result that is as short', () => {
    const length = '[result expired]'.length;
    for (const [chars, isStub] of [
      [length, false],
      [length + 1, true],
    ] as const) {
      const [, , short] = transcript([{ steps: [['lookup', chars]] }]);
      expect(withStubs(short as Message, new Set(['t1.1'])) !== short).toBe(isStub);
    }
  });

  it('are of results that are older than their tool keeps, by turns or by number', () => {
    const messages = transcript([1, 2, 3].map(() => ({ steps: [['lookup', 9]] as const })));
    const old = (retention: Retention) => [...oldResults(messages, () => retention)].sort();
    expect(old({ turns: 1 })).toEqual(['t1.1', 't2.1']);
    expect(old({ last: 2 })).toEqual(['t1.1']);
    expect(old('never_evict')).toEqual([]);
  });
});

/** The studio's own rules: moves of the cursor, turns, lanes, filters in the address. */
import { describe, expect, it } from 'vitest';
import { foldView } from '../../../src/core/view/view.js';
import type { ConversationSnapshot } from '../../../src/protocol/conversation/conversation.js';
import type { CanonicalEvent } from '../../../src/protocol/log/events.js';
import { askedOf, changed, choiceIn, queryOf } from '../../../web/studio/model/choice.js';
import {
  indexOf,
  messageOf,
  moved,
  placeBefore,
  turnAt,
  turnsIn,
} from '../../../web/studio/model/cursor.js';
import { chartOf, placeIn } from '../../../web/studio/model/lanes.js';
import {
  bytesWords,
  eventWords,
  statusWords,
  trustOf,
  usageWords,
  withTrouble,
} from '../../../web/studio/model/words.js';
import { sampleLog, TURN } from '../../support/samples/sample-log.js';

const LOG = sampleLog('c-1');

/** A second turn, which fails, behind the first. */
function twoTurns(): readonly CanonicalEvent[] {
  const at = '2026-01-01T00:00:09.000Z';
  const again = LOG.filter(({ type }) => type === 'user_message' || type === 'turn_started').map(
    (event, index) => ({ ...event, turnId: 'turn_2', seq: 10 + index, at }) as CanonicalEvent,
  );
  const usage = { inputTokens: 0, outputTokens: 0 };
  const end = { status: 'failed', text: '', steps: 1, usage } as const;
  return [...LOG, ...again, { type: 'turn_ended', seq: 12, at, turnId: 'turn_2', ...end }];
}

describe('the cursor', () => {
  it('moves by events and turns, and stays at the ends', () => {
    const log = twoTurns();
    expect(moved(log, 4, 'previous')).toBe(3);
    expect(moved(log, 4, 'next')).toBe(5);
    expect(moved(log, 4, 'previousTurn')).toBe(2);
    expect(moved(log, 4, 'nextTurn')).toBe(10);
    expect([moved(log, 0, 'previous'), moved(log, 1, 'previousTurn')]).toEqual([0, 0]);
    expect([moved(log, 11, 'next'), moved(log, 11, 'nextTurn'), moved(log, 3, 'last')]).toEqual([
      ...[11, 11, 11],
    ]);
  });

  it('finds the event of a seq, or the one before it, and the end without one', () => {
    expect([indexOf(LOG, 5), indexOf(LOG, 999), indexOf(LOG, undefined)]).toEqual([4, 8, 8]);
    expect([indexOf([], undefined), indexOf(LOG, 0)]).toEqual([-1, -1]);
  });

  it('knows the turns, their ends and messages, and where to try a failed one again', () => {
    const log = twoTurns();
    const turns = turnsIn(log);
    expect(turns).toEqual([
      { turnId: TURN, from: 2, to: 8, status: 'completed' },
      { turnId: 'turn_2', from: 10, to: 11, status: 'failed' },
    ]);
    expect([turnAt(turns, 0), turnAt(turns, 9), turnAt(turns, 11)]).toEqual([
      ...[turns[0], turns[0], turns[1]],
    ]);
    const failed = turns[1];
    if (failed === undefined) throw new Error('no turn');
    expect(messageOf(log, failed)).toEqual({ text: 'Hello', hasFiles: false });
    const picture = { type: 'image', mediaType: 'image/png', blob: { ref: 'r' } };
    const withPicture = log.map((event) =>
      event.type === 'user_message' ? { ...event, parts: [...event.parts, picture] } : event,
    ) as readonly CanonicalEvent[];
    expect(messageOf(withPicture, failed)).toEqual({ text: 'Hello', hasFiles: true });
    expect(placeBefore(log, failed, new Set([7, 9, 12]))).toBe(9);
    expect(placeBefore(log, failed, new Set([12]))).toBeUndefined();
  });
});

describe('the lanes of a turn', () => {
  it('show the time of model, tools and people, and what is still under way', () => {
    const chart = chartOf(LOG.slice(2));
    expect(chart.to - chart.from).toBe(3_000);
    expect(chart.spans).toMatchObject([
      { lane: 'people', from: chart.from + 1_000, to: chart.from + 2_000 },
    ]);
    const open = chartOf(LOG.slice(2, 5)).spans;
    expect(open.map(({ lane, isOpen }) => [lane, isOpen])).toEqual([
      ['model', true],
      ['people', true],
    ]);
  });

  it('have a moment for each attempt that was lost', () => {
    const failed = { attempt: 1, model: 'm', code: 'model_rate_limited', message: '' };
    const usage = { inputTokens: 1, outputTokens: 1 };
    const call = {
      ...{ type: 'model_call', seq: 4, at: '2026-01-01T00:00:05.000Z', turnId: TURN, step: 1 },
      ...{ attempt: 2, model: 'm', finishReason: 'stop', usage, failedAttempts: [failed] },
    } as CanonicalEvent;
    const { spans } = chartOf([...LOG.slice(2, 3), call]);
    expect(spans).toMatchObject([
      { lane: 'model', label: 'm, stop' },
      { lane: 'lost', label: 'attempt 1: model_rate_limited' },
    ]);
  });

  it('have no width where the turn took no time', () => {
    const chart = chartOf(LOG.slice(2, 3));
    expect([placeIn(chart, chart.from, 100), chartOf([]).spans]).toEqual([0, []]);
  });
});

describe('the filters of the list', () => {
  it('are the address, and what it does not know is none', () => {
    const choice = choiceIn(
      new URLSearchParams('?status=closed&agent=a%20b&attention=true&search=x'),
    );
    expect(choice).toEqual({ status: 'closed', agent: 'a b', attention: true, search: 'x' });
    expect(choiceIn(new URLSearchParams(queryOf(choice)))).toEqual(choice);
    expect(choiceIn(new URLSearchParams('?status=odd&attention=1'))).toEqual({});
    expect(queryOf(changed({ search: 'x' }, { search: undefined }))).toBe('');
    expect(askedOf(choice)).toEqual({
      status: 'closed',
      agent: 'a b',
      attention: 'agent_not_served',
    });
  });
});

it('events, usage and sizes are words', () => {
  expect(LOG.map(eventWords)).toEqual(expect.arrayContaining(['Hello', 'customer.ask (human)']));
  expect(eventWords(LOG.find(({ type }) => type === 'tool_result') ?? LOG[0]!)).toBe(
    'customer.ask: resolved',
  );
  expect(
    usageWords({ inputTokens: 1_200, outputTokens: 80, costMicros: 1_500, estimated: true }),
  ).toBe('about 1,200 tokens in, 80 out, cost 0.0015');
  expect([bytesWords(12), bytesWords(12_345), bytesWords(3_400_000)]).toEqual([
    ...['12 B', '12.3 kB', '3.4 MB'],
  ]);
});

it('trouble and attention, which no log has, are said beside the newest state by the log', () => {
  let logged: ConversationSnapshot | undefined;
  for (const event of LOG) logged = foldView(logged, event);
  if (logged === undefined) throw new Error('no state');
  const since = '2026-01-01T00:00:09.000Z';
  const trouble = { kind: 'failing', runId: 'r', attempts: 4, since, was: 'streaming' } as const;
  // The answer of the API may be some seconds older than the log.
  const before = { ...logged, status: 'streaming', seq: 1 } as const;
  expect(statusWords(withTrouble(logged, before))).toBe('Idle');
  const failing = withTrouble(logged, { ...before, status: 'failing', trouble });
  expect([statusWords(failing), failing.seq]).toEqual(['Its workflow fails', logged.seq]);
  const attention = { reason: 'agent_not_served', since } as const;
  expect(statusWords(withTrouble(logged, { ...before, attention }))).toBe(
    'Idle; no worker serves its agent',
  );
  expect(withTrouble(undefined, before)).toBe(before);
});

it('the text of a person or page is untrusted, that of the service trusted, and that of the model neither', () => {
  const common = { id: 'm_1', turnId: TURN, step: 1 };
  const result = {
    ...({ type: 'tool_result', toolCallId: 'call_1', name: 'pay' } as const),
    envelope: { ok: true, result: 1 },
  } as const;
  expect(trustOf({ role: 'user', id: 'm_1', turnId: TURN, parts: [] })).toBe('untrusted');
  expect(trustOf({ ...common, role: 'assistant', parts: [] })).toBe('model');
  expect(trustOf({ ...common, role: 'assistant', parts: [], synthetic: true })).toBe('trusted');
  expect(trustOf({ ...common, role: 'tool', parts: [result] })).toBe('trusted');
  const given = { ...result, provenance: 'untrusted' } as const;
  expect(trustOf({ ...common, role: 'tool', parts: [result, given] })).toBe('untrusted');
});

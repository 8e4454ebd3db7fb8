/** `subscribe` of a turn, on a store: what belongs to the turn, and no more. */
import { describe, expect, it, vi } from 'vitest';
import type { TurnFrame, TurnHandle } from '../../../../src/client/index.js';
import { admittedTurn, attachTurn } from '../../../../src/client/messages/turn.js';
import { ReadYourWrites } from '../../../../src/client/reading/read-your-writes.js';
import { applyAll } from '../../../../src/core/apply/apply.js';
import { snapshotOf } from '../../../../src/core/view/snapshot.js';
import type { EventBody } from '../../../../src/protocol/log/events.js';
import { formatCursor } from '../../../../src/protocol/values/cursor.js';
import { promise } from '../../../support/promise.js';
import { answers, closes, stamped, started, turn } from '../../../support/samples/log-events.js';
import {
  BEGUN,
  delta,
  FIRST,
  KEY,
  OF_FIRST,
  OF_SECOND,
  REST,
  SECOND,
  storedTurns,
} from '../../../support/turns/stored-turns.js';
import { until } from '../../../support/until.js';

async function turns() {
  const stored = await storedTurns();
  const parts = {
    ...{ reader: stored.reader, key: KEY, known: new ReadYourWrites() },
    // No test of these cancels.
    control: {} as never,
    patience: () => 1,
  };
  const reply = { turnId: FIRST, messageId: `${FIRST}.0`, seq: 2, ahead: 0 };
  return {
    ...stored,
    attach: (turnId: string) => attachTurn(parts, turnId),
    admitted: () => admittedTurn(parts, reply, { requestId: 'r', duplicate: false }),
  };
}

const TERMINATED: EventBody = { type: 'run_ended', runId: 'r', status: 'terminated' };

/** The marks of a gap behind seq 4, in which these events are lost. */
function gapOf(lost: readonly EventBody[]): readonly EventBody[] {
  const state = applyAll(stamped([started(KEY), ...BEGUN, ...lost]));
  if (state === undefined) throw new TypeError('no state');
  const gap = { type: 'events_lost', from: 5, through: 4 + lost.length } as const;
  return lost.map((_event, nth) => (nth === 0 ? { ...gap, snapshot: snapshotOf(state) } : gap));
}

/** Reads the frames of a turn to their end. */
function follow(handle: TurnHandle, options?: Parameters<TurnHandle['subscribe']>[0]) {
  const frames: TurnFrame[] = [];
  const over = (async () => {
    for await (const frame of handle.subscribe(options)) frames.push(frame);
  })();
  return { frames, over, places: () => places(frames) };
}

function places(frames: readonly TurnFrame[]): readonly string[] {
  return frames.map((frame) =>
    frame.type === 'event' ? `${formatCursor(frame.cursor)} ${frame.event.type}` : 'live',
  );
}

describe('subscribe of a turn', promise('G416'), () => {
  it('has its events from the first to the last, and ends', async () => {
    const { attach, store } = await turns();
    await store(...BEGUN, ...REST, ...turn('turn_a_3'));
    for (const [turnId, expected] of [[FIRST, OF_FIRST] as const, [SECOND, OF_SECOND] as const]) {
      const { over, places } = follow(attach(turnId));
      await over;
      expect(places()).toEqual(expected);
    }
  });

  it('follows a turn that goes on, with its live events and no others', async () => {
    const { attach, store, says, isWatched } = await turns();
    await store(...BEGUN);
    const { over, frames, places } = follow(attach(FIRST));
    await until('it has begun', () => places().length === 2 && isWatched());
    says(delta(FIRST, 'h'));
    await until('the text', () => places().includes('live'));
    says(delta(SECOND, 'no'));
    await store(...REST);
    await over;
    expect(places()).toEqual([...OF_FIRST.slice(0, 2), 'live', ...OF_FIRST.slice(2)]);
    expect(frames.flatMap((frame) => (frame.type === 'live' ? [frame.event] : []))).toEqual([
      delta(FIRST, 'h'),
    ]);
  });

  it('goes on behind every place, without a gap or a repeat, and has nothing behind the end', async () => {
    const { attach, store } = await turns();
    await store(...BEGUN, ...REST);
    for (let seq = 0; seq <= 12; seq += 1) {
      const { over, places } = follow(attach(SECOND), { after: { generation: 1, seq } });
      await over;
      const left = OF_SECOND.filter((place) => Number(/-(\d+)/.exec(place)?.[1]) > seq);
      expect([seq, places()]).toEqual([seq, left]);
    }
  });

  it('of a message that was admitted just now waits for its events', async () => {
    const { admitted, store } = await turns();
    const { over, places } = follow(admitted());
    await store(...BEGUN, ...REST);
    await over;
    expect(places()).toEqual(OF_FIRST);
  });

  it('of a message that opened the conversation again has the turn, though the store is slow', async () => {
    const { admitted, store, isWatched, reader } = await turns();
    const asked = vi.spyOn(reader, 'turnResult');
    await store(closes());
    const { over, places } = follow(admitted());
    await until('it is followed', isWatched);
    await store(started(KEY));
    await until('it is asked', () => asked.mock.calls.length > 0);
    await store(...turn(FIRST));
    await over;
    expect(places().map((place) => place.split(' ')[0])).toEqual([
      ...['1-4', '1-5', '1-6', '1-7', '1-8'],
    ]);
  });

  it('of a message whose events no run has any more ends with the event that ended its run', async () => {
    const { admitted, store, isWatched } = await turns();
    const { over, places } = follow(admitted());
    await until('it is followed', isWatched);
    await store(TERMINATED);
    await over;
    expect(places()).toEqual(['1-2 run_ended']);
  });

  it('of a turn that is stored a moment later has it whole', async () => {
    const { attach, store } = await turns();
    const { over, places } = follow(attach(FIRST));
    await store(...BEGUN, ...REST);
    await over;
    expect(places()).toEqual(OF_FIRST);
  });

  it('of no turn is an error', async () => {
    const { attach } = await turns();
    await expect(follow(attach('turn_x_1')).over).rejects.toMatchObject({ code: 'unknown_turn' });
  });

  it.each<[string, readonly EventBody[]]>([
    ['conversation_closed', [closes()]],
    ['run_ended', [TERMINATED]],
    ['conversation_started', [started(KEY)]],
    ['events_lost', gapOf(REST)],
  ])('ends with %s, where the turn has no end of its own', async (type, bodies) => {
    const { attach, store } = await turns();
    await store(...BEGUN);
    const { over, places } = follow(attach(FIRST));
    await until('it has begun', () => places().length === 2);
    await store(...bodies);
    await over;
    const expected = [...OF_FIRST.slice(0, 2), `1-5 ${type}`];
    expect(places()).toEqual(expected);
    const again = follow(attach(FIRST), { after: { generation: 1, seq: 5 } });
    await again.over;
    expect(again.places()).toEqual([]);
    await store(...turn('turn_a_3'));
    const late = follow(attach(FIRST));
    await late.over;
    expect(late.places()).toEqual(expected);
  });

  it('goes on behind a gap in which the turn did not end, and asks once for all of its marks', async () => {
    const { attach, store, reader } = await turns();
    await store(...BEGUN, ...gapOf(REST.slice(0, 2)));
    const asked = vi.spyOn(reader, 'turnResult');
    const { over, places } = follow(attach(FIRST));
    await until('it is asked', () => asked.mock.calls.length > 0);
    await store(...REST.slice(2));
    await over;
    const expected = [...OF_FIRST.slice(0, 2), '1-7 turn_ended'];
    expect(places()).toEqual(expected);
    // The frames behind the gap do not wait.
    expect(asked.mock.calls.map(([, , { timeoutMs }]) => timeoutMs)).toEqual([0]);
    const late = follow(attach(FIRST));
    await late.over;
    expect(late.places()).toEqual(expected);
  });

  it('of a turn that waits behind a gap ends with the run', async () => {
    const { attach, store, reader } = await turns();
    const asked = vi.spyOn(reader, 'turnResult');
    const { over, places } = follow(attach(SECOND));
    await store(...BEGUN, ...gapOf(REST.slice(0, 2)));
    await until('the gap has passed', () => asked.mock.calls.length > 0);
    await store(TERMINATED);
    await over;
    expect(places()).toEqual(['1-4 user_message', '1-7 run_ended']);
  });

  it('begins anew where the log is rewritten', async () => {
    const { attach, store, rewrite } = await turns();
    await store(...BEGUN);
    const { over, places } = follow(attach(FIRST));
    await until('it has begun', () => places().length === 2);
    await rewrite(...BEGUN.slice(0, 2), ...answers(FIRST));
    await over;
    expect(places()).toEqual([
      ...OF_FIRST.slice(0, 2),
      '2-0 log_rewritten',
      ...['2-2 user_message', '2-3 turn_started', '2-4 model_call', '2-5 assistant_message'],
      '2-6 turn_ended',
    ]);
  });

  it('has the new log for a reader who was further in the old one than the new one is', async () => {
    const { attach, store, rewrite } = await turns();
    await store(...BEGUN, ...REST);
    await rewrite(...turn(FIRST));
    const { over, places } = follow(attach(FIRST), { after: { generation: 1, seq: 7 } });
    await over;
    expect([places().at(0), places().at(-1)]).toEqual(['2-0 log_rewritten', '2-6 turn_ended']);
    expect(places()).toHaveLength(6);
  });

  it('does not wait behind the rewriting of a log in which the turn goes on', async () => {
    const { attach, store, rewrite, reader } = await turns();
    await store(...BEGUN);
    const asked = vi.spyOn(reader, 'turnResult');
    const { over, places } = follow(attach(FIRST));
    await until('it has begun', () => places().length === 2);
    await rewrite(...BEGUN.slice(0, 2));
    await until('it has begun anew', () => places().length === 5);
    await store(...answers(FIRST));
    await over;
    expect(asked.mock.calls.map(([, , { timeoutMs }]) => timeoutMs)).toEqual([0]);
  });

  it('ends where the conversation is deleted', async () => {
    const { attach, store, remove, isWatched } = await turns();
    await store(...BEGUN);
    const { over, places } = follow(attach(FIRST));
    await until('it has begun', () => places().length === 2 && isWatched());
    await remove();
    await over;
    expect(places()).toEqual(OF_FIRST.slice(0, 2));
    await expect(follow(attach(FIRST)).over).rejects.toMatchObject({ code: 'unknown_turn' });
  });

  it('ends where the new log does not have the turn', async () => {
    const { attach, store, rewrite } = await turns();
    await store(...BEGUN);
    const { over, places } = follow(attach(FIRST));
    await until('it has begun', () => places().length === 2);
    await rewrite(...turn('turn_b_1'));
    await over;
    expect(places().at(-1)).toBe('2-0 log_rewritten');
    expect(places()).toHaveLength(3);
  });

  it('ends with its signal, and when the loop is left', async () => {
    const { attach, store, isWatched } = await turns();
    await store(...BEGUN);
    const leaving = new AbortController();
    const { over, places } = follow(attach(FIRST), { signal: leaving.signal });
    await until('it has begun', () => places().length === 2 && isWatched());
    leaving.abort();
    await over;
    for await (const frame of attach(FIRST).subscribe()) if (frame.type === 'event') break;
    await until('nothing is followed', () => !isWatched());
  });
});

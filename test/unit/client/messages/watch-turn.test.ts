/** `subscribe` of a turn, on a store: what belongs to the turn, and no more. */
import { describe, expect, it } from 'vitest';
import type { TurnFrame, TurnHandle } from '../../../../src/client/index.js';
import { admittedTurn, attachTurn } from '../../../../src/client/messages/turn.js';
import { ReadYourWrites } from '../../../../src/client/reading/read-your-writes.js';
import { formatCursor } from '../../../../src/protocol/values/cursor.js';
import { promise } from '../../../support/promise.js';
import { answers, closes, turn } from '../../../support/samples/log-events.js';
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
  return { ...stored, parts, attach: (turnId: string) => attachTurn(parts, turnId) };
}

/** Reads the frames of a turn to their end. */
function follow(handle: TurnHandle, options?: Parameters<TurnHandle['subscribe']>[0]) {
  const frames: TurnFrame[] = [];
  const state = { isOver: false };
  const over = (async () => {
    for await (const frame of handle.subscribe(options)) frames.push(frame);
    state.isOver = true;
  })();
  return { frames, over, state, places: () => places(frames) };
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
    const { parts, store } = await turns();
    const reply = { turnId: FIRST, messageId: `${FIRST}.0`, seq: 2, ahead: 0 };
    const sent = admittedTurn(parts, reply, { requestId: 'r', duplicate: false });
    const { over, places } = follow(sent);
    await store(...BEGUN, ...REST);
    await over;
    expect(places()).toEqual(OF_FIRST);
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

  it('ends with the event that ended its run, where the turn has no end', async () => {
    const { attach, store } = await turns();
    await store(...BEGUN);
    const { over, places } = follow(attach(FIRST));
    await until('it has begun', () => places().length === 2);
    await store(closes());
    await over;
    expect(places().at(-1)).toBe('1-5 conversation_closed');
    const again = follow(attach(FIRST), { after: { generation: 1, seq: 5 } });
    await again.over;
    expect(again.places()).toEqual([]);
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

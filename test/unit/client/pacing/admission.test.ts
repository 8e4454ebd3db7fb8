/** How many conversations a client asks for an answer at once, by the time that answers take. */
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Admission } from '../../../../src/client/pacing/admission.js';
import {
  entered,
  fill,
  keyOf,
  MESSAGE,
  orderOf,
  RESOLUTION,
} from '../../../support/pacing/places.js';
import { promise } from '../../../support/promise.js';

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
  });
});

describe('the places of a client', () => {
  it('are not waited for while few conversations are asked', async () => {
    const admission = new Admission();
    const places = await Promise.all(
      Array.from({ length: 16 }, (_, nth) => admission.enter(keyOf(nth), MESSAGE)),
    );
    expect(places.every((place) => place.entered)).toBe(true);
    expect(admission.isFull).toBe(false);
  });

  it('count conversations: one that does not answer holds one, for all that is sent to it', async () => {
    const admission = new Admission();
    const places = admission.places;
    for (let nth = 0; nth < places * 3; nth += 1) await entered(admission, keyOf('mute'));
    for (let nth = 1; nth < places; nth += 1) await entered(admission, keyOf(nth));
    const late = admission.enter(keyOf('late'), RESOLUTION);
    await vi.advanceTimersByTimeAsync(2_500);
    expect(await late).toEqual({ entered: false });
  });

  it('a request without one in time is given up, and leaves nothing behind', async () => {
    const admission = new Admission();
    const taken = await fill(admission);
    const late = admission.enter(keyOf('late'), RESOLUTION);
    expect(admission.isFull).toBe(true);
    await vi.advanceTimersByTimeAsync(2_500);
    expect(await late).toEqual({ entered: false });
    expect(admission.isFull).toBe(false);
    for (const place of taken) place.leave({ answered: true });
    await entered(admission, keyOf('next'));
  });

  it('are given back once, however often that is repeated', async () => {
    const admission = new Admission();
    const [first] = await fill(admission);
    first?.leave({ answered: true });
    first?.leave({ answered: true });
    await entered(admission, keyOf('a'));
    const second = admission.enter(keyOf('b'), RESOLUTION);
    await vi.advanceTimersByTimeAsync(2_500);
    expect(await second).toEqual({ entered: false });
  });
});

describe('the order of requests that wait', () => {
  it('has resolutions first', promise('G344'), async () => {
    const admission = new Admission();
    const [first] = await fill(admission);
    const { order, enter } = orderOf(admission);
    enter('message', 'acme');
    enter('resolution', 'acme', RESOLUTION);
    first?.leave({ answered: true });
    await vi.advanceTimersByTimeAsync(0);
    expect(order).toEqual(['resolution', 'message']);
  });

  it('takes tenants in turn, so that a thousand requests of one do not hold up another', {
    ...promise('G344'),
  }, async () => {
    const admission = new Admission();
    await entered(admission, keyOf('quiet-1', 'quiet'), MESSAGE);
    for (let nth = 2; nth < admission.messagePlaces; nth += 1)
      await entered(admission, keyOf(`taken-${nth}`, 'loud'), MESSAGE);
    const last = await entered(admission, keyOf('taken', 'loud'), MESSAGE);
    const { order, enter } = orderOf(admission);
    for (let nth = 0; nth < 1_000; nth += 1) enter(`loud-${nth}`, 'loud');
    enter('quiet-2', 'quiet');
    last.leave({ answered: true });
    await vi.advanceTimersByTimeAsync(0);
    expect(order.indexOf('quiet-2')).toBe(1);
    expect(order).toHaveLength(1_001);
  });
});

/** A worker that answers one request after the other, and clients that keep this many requests open until all are sent. */
async function burst({
  count,
  atOnce,
  answerMs,
}: {
  count: number;
  atOnce: number;
  answerMs: number;
}) {
  const admission = new Admission();
  let freeAt = Date.now();
  // Not when no timer is left: those of other files of this process count as well.
  let endedAt = freeAt;
  const times = { admitted: [] as number[], refused: 0, longestMs: 0 };
  const startedAt = Date.now();
  const one = async (nth: number): Promise<void> => {
    const askedAt = Date.now();
    const admitted = await admission.enter(keyOf(nth), RESOLUTION);
    times.longestMs = Math.max(times.longestMs, Date.now() - askedAt);
    if (!admitted.entered) {
      times.refused += 1;
      return;
    }
    const admittedAt = Date.now();
    freeAt = Math.max(freeAt, admittedAt) + answerMs;
    await new Promise((resolve) => setTimeout(resolve, freeAt - admittedAt));
    endedAt = Date.now();
    times.admitted.push(endedAt - admittedAt);
    admitted.leave({ answered: true });
  };
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      await one(next);
    }
  };
  const all = Promise.all(Array.from({ length: atOnce }, client));
  await vi.runAllTimersAsync();
  await all;
  return { ...times, places: admission.places, tookMs: endedAt - startedAt };
}

describe('a burst of answers to conversations that have to be replayed', () => {
  it.each([{ answerMs: 5 }, { answerMs: 20 }, { answerMs: 30 }])(
    'is answered within 3 s of admission, at $answerMs ms an answer',
    promise('G344'),
    async ({ answerMs }) => {
      const { admitted, refused, longestMs } = await burst({ count: 2_000, atOnce: 100, answerMs });
      const inTime = admitted.filter((ms) => ms <= 3_000).length;
      expect(inTime / 2_000).toBeGreaterThanOrEqual(0.95);
      expect(refused / 2_000).toBeLessThanOrEqual(0.05);
      expect(longestMs).toBeLessThanOrEqual(2_500);
    },
  );

  it('keeps the worker at work', async () => {
    const { tookMs } = await burst({ count: 2_000, atOnce: 100, answerMs: 20 });
    expect(tookMs).toBeLessThan(2_000 * 20 * 1.02);
  });

  it('leaves more places where answers are quick, and fewer where they are slow', async () => {
    const quick = await burst({ count: 5_000, atOnce: 600, answerMs: 1 });
    const slow = await burst({ count: 500, atOnce: 100, answerMs: 100 });
    expect(quick.places).toBeGreaterThan(64);
    expect(slow.places).toBeLessThanOrEqual(16);
  });
});

describe('requests without an answer', () => {
  /** Fills all places and gives them back after three seconds without an answer. */
  async function allMissed(admission: Admission): Promise<void> {
    const taken = await fill(admission);
    await vi.advanceTimersByTimeAsync(3_000);
    for (const place of taken) place.leave({ answered: false });
  }

  it('leave the places as they are where nothing answers: more of them wait no longer', async () => {
    const admission = new Admission();
    const { places } = admission;
    await allMissed(admission);
    await allMissed(admission);
    expect(admission.places).toBe(places);
  });

  it('are slow ones while others are answered', async () => {
    const admission = new Admission();
    const { places } = admission;
    const taken = await fill(admission);
    await vi.advanceTimersByTimeAsync(1_400);
    taken[0]?.leave({ answered: true });
    await vi.advanceTimersByTimeAsync(1_600);
    for (const place of taken) place.leave({ answered: false });
    expect(admission.places).toBe(Math.floor(places * 0.7));
  });
});

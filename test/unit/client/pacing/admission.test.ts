/** How many conversations a client asks for an answer at once, by the time that answers take. */
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  Admission,
  type Admitted,
  type EnterOptions,
} from '../../../../src/client/pacing/admission.js';
import { promise } from '../../../support/promise.js';

const RESOLUTION = { kind: 'resolution', waitMs: 2_500 } as const;
const MESSAGE = { kind: 'message', waitMs: 2_500, busyMs: 2_500 } as const;
/** Its sender does not repeat it. */
const EVENT = { kind: 'message', waitMs: 2_500 } as const;
/** For less time than a conversation that does not answer holds up others. */
const SHORT = { kind: 'beginning', waitMs: 500, busyMs: 500 } as const;
const BEGINNING = { kind: 'beginning', waitMs: 2_500, busyMs: 2_500 } as const;

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
  });
});

function keyOf(nth: number | string, tenant = 'acme') {
  return { tenant, conversationId: `c-${nth}` };
}

async function entered(
  admission: Admission,
  key: ReturnType<typeof keyOf>,
  options: EnterOptions = RESOLUTION,
): Promise<Admitted> {
  const place = await admission.enter(key, options);
  if (!place.entered) throw new Error('no place is free');
  return place;
}

/** Takes every place of resolutions, or of messages, each for a conversation of its own. */
async function fill(
  admission: Admission,
  options: EnterOptions = RESOLUTION,
  tenant?: string,
): Promise<readonly Admitted[]> {
  const taken: Admitted[] = [];
  const count = options.kind === 'resolution' ? admission.places : admission.messagePlaces;
  for (let nth = 0; nth < count; nth += 1)
    taken.push(await entered(admission, keyOf(`taken-${nth}`, tenant), options));
  return taken;
}

/** Names of requests in the order in which they get places. */
function orderOf(admission: Admission) {
  const order: string[] = [];
  const enter = (name: string, tenant: string, options: EnterOptions = MESSAGE): void => {
    void admission.enter(keyOf(name, tenant), options).then((place) => {
      if (!place.entered) return;
      order.push(name);
      place.leave({ answered: true });
    });
  };
  return { order, enter };
}

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

describe('messages', () => {
  it('leave places to resolutions', async () => {
    const admission = new Admission();
    await fill(admission, MESSAGE);
    const late = admission.enter(keyOf('late'), SHORT);
    await entered(admission, keyOf('call'), RESOLUTION);
    await vi.advanceTimersByTimeAsync(500);
    expect((await late).entered).toBe(false);
  });

  it('of a tenant that has no place do not wait behind those of another', {
    ...promise('G399'),
  }, async () => {
    const admission = new Admission();
    await fill(admission, MESSAGE, 'loud');
    void admission.enter(keyOf('loud', 'loud'), MESSAGE);
    await entered(admission, keyOf('quiet-1', 'quiet'), MESSAGE);
    const second = admission.enter(keyOf('quiet-2', 'quiet'), SHORT);
    await vi.advanceTimersByTimeAsync(500);
    expect((await second).entered).toBe(false);
  });

  it('of ever more tenants without a place are bounded', async () => {
    const admission = new Admission();
    const bound = admission.messagePlaces * 2;
    for (let nth = 0; nth < bound; nth += 1)
      await entered(admission, keyOf('c', `tenant-${nth}`), MESSAGE);
    const late = admission.enter(keyOf('c', 'late'), SHORT);
    await vi.advanceTimersByTimeAsync(500);
    expect((await late).entered).toBe(false);
  });

  it('to conversations that do not answer hold up others for a second at most', {
    ...promise('G399'),
  }, async () => {
    const admission = new Admission();
    await fill(admission, MESSAGE, 'acme');
    const next = admission.enter(keyOf('next'), MESSAGE);
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await next).entered).toBe(true);
  });

  /** Ends as many of them one after the other, each answered after this time. */
  async function answered(admission: Admission, options: EnterOptions, count: number, ms: number) {
    for (let nth = 0; nth < count; nth += 1) {
      const place = await entered(admission, keyOf(`answered-${nth}`), options);
      await vi.advanceTimersByTimeAsync(ms);
      place.leave({ answered: true });
    }
  }

  it('have fewer places where new conversations are answered late', promise('G399'), async () => {
    const admission = new Admission();
    await answered(admission, BEGINNING, 1, 40);
    await answered(admission, BEGINNING, 10, 300);
    expect(admission.messagePlaces).toBe(2);
    expect(admission.places).toBe(64);
  });

  it('keep their places where conversations are replayed first, or the server is far away', {
    ...promise('G399'),
  }, async () => {
    const replayed = new Admission();
    await answered(replayed, BEGINNING, 1, 40);
    await answered(replayed, MESSAGE, 10, 1_200);
    expect(replayed.messagePlaces).toBe(16);
    const far = new Admission();
    await answered(far, BEGINNING, 10, 400);
    expect(far.messagePlaces).toBe(16);
  });

  /** Messages of one tenant, of which one is answered each 100 ms. */
  function loudTenant() {
    const admission = new Admission();
    const taken: Admitted[] = [];
    const refused: (number | undefined)[] = [];
    let sent = 0;
    const send = async (count: number): Promise<void> => {
      for (let nth = 0; nth < count; nth += 1) {
        sent += 1;
        void admission.enter(keyOf(sent, 'loud'), BEGINNING).then((place) => {
          if (place.entered) taken.push(place);
          else refused.push(place.retryAfterMs);
        });
      }
      await vi.advanceTimersByTimeAsync(0);
    };
    const answer = async (count: number): Promise<void> => {
      for (let nth = 0; nth < count; nth += 1) {
        await vi.advanceTimersByTimeAsync(100);
        taken.shift()?.leave({ answered: true });
      }
    };
    return { admission, send, answer, refused };
  }

  it('are refused at once where a place would come too late, each with a later time to return', {
    ...promise('G399'),
  }, async () => {
    const { send, answer, refused } = loudTenant();
    await send(200);
    await answer(12);
    expect(refused).toEqual([]);
    await send(100);
    expect(refused).toHaveLength(100);
    const times = refused.map((ms) => ms ?? 0);
    expect(times[0]).toBeGreaterThanOrEqual(2_500);
    expect(times.at(-1)).toBeGreaterThanOrEqual(100 * 75);
    expect(times).toEqual([...times].sort((one, other) => one - other));
  });

  it('of senders that do not repeat them take no time to return from others', async () => {
    const { admission, send, answer, refused } = loudTenant();
    await send(200);
    await answer(12);
    for (let nth = 0; nth < 100; nth += 1)
      expect(await admission.enter(keyOf(`event-${nth}`, 'loud'), EVENT)).toEqual({
        entered: false,
      });
    await send(1);
    expect(refused[0]).toBeLessThan(3_000);
  });

  it('are taken after hours without any, however slow the last ones were', async () => {
    const { send, answer, refused } = loudTenant();
    await send(22);
    await answer(22);
    await vi.advanceTimersByTimeAsync(4 * 60 * 60 * 1_000);
    await send(1);
    await answer(1);
    await send(22);
    await answer(22);
    expect(refused).toEqual([]);
  });

  it('wait, and get no time to return, where nothing is answered', promise('G399'), async () => {
    const admission = new Admission();
    await answered(admission, BEGINNING, 10, 50);
    await vi.advanceTimersByTimeAsync(5_000);
    await fill(admission, BEGINNING);
    const late = Array.from({ length: 100 }, (_, nth) => admission.enter(keyOf(nth), SHORT));
    await vi.advanceTimersByTimeAsync(499);
    expect(admission.isFull).toBe(true);
    await vi.advanceTimersByTimeAsync(1);
    for (const place of await Promise.all(late)) expect(place).toEqual({ entered: false });
  });
});

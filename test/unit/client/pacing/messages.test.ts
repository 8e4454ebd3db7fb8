/** The places of messages: a part of all places, shared by tenants, with a time to return for those that get none. */
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  Admission,
  type Admitted,
  type EnterOptions,
} from '../../../../src/client/pacing/admission.js';
import {
  BEGINNING,
  EVENT,
  entered,
  fill,
  keyOf,
  MESSAGE,
  orderOf,
  RESOLUTION,
  SHORT,
} from '../../../support/pacing/places.js';
import { promise } from '../../../support/promise.js';

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
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

  it('of a tenant that waits for more than a place do not hold up those of one that has none', {
    ...promise('G399'),
  }, async () => {
    const admission = new Admission();
    const loud = await fill(admission, MESSAGE, 'loud');
    for (let nth = 0; nth < loud.length; nth += 1)
      await entered(admission, keyOf('c', `tenant-${nth}`), MESSAGE);
    const { order, enter } = orderOf(admission);
    enter('loud', 'loud');
    enter('quiet', 'quiet');
    loud[0]?.leave({ answered: true });
    await vi.advanceTimersByTimeAsync(0);
    expect(order).toEqual(['quiet']);
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
    await vi.advanceTimersByTimeAsync(999);
    expect(admission.isFull).toBe(true);
    await vi.advanceTimersByTimeAsync(1);
    expect(admission.isFull).toBe(false);
    expect((await next).entered).toBe(true);
  });

  it('to one that does not answer, while later ones do, hold up others for a second at most', {
    ...promise('G399'),
  }, async () => {
    const admission = new Admission();
    const [, ...others] = await fill(admission, MESSAGE, 'acme');
    await vi.advanceTimersByTimeAsync(500);
    others[0]?.leave({ answered: true });
    const later = await entered(admission, keyOf('later'), MESSAGE);
    await vi.advanceTimersByTimeAsync(400);
    later.leave({ answered: true });
    for (const other of others.slice(1)) other.leave({ answered: true });
    const bound = admission.messagePlaces;
    for (let nth = 1; nth < bound; nth += 1)
      await entered(admission, keyOf(`next-${nth}`), MESSAGE);
    const last = admission.enter(keyOf('last'), MESSAGE);
    expect(admission.isFull).toBe(true);
    await vi.advanceTimersByTimeAsync(100);
    expect(admission.isFull).toBe(false);
    expect((await last).entered).toBe(true);
  });

  it(
    'that are all answered late keep their places: their number holds',
    promise('G399'),
    async () => {
      const admission = new Admission();
      const taken = [...(await fill(admission, MESSAGE))];
      let more = 0;
      for (let nth = 0; nth < 100; nth += 1)
        void admission.enter(keyOf(`more-${nth}`), { ...MESSAGE, busyMs: 60_000 }).then((place) => {
          if (!place.entered) return;
          more += 1;
          taken.push(place);
        });
      for (let nth = 1; nth <= 30; nth += 1) {
        await vi.advanceTimersByTimeAsync(150);
        taken.shift()?.leave({ answered: true });
        await vi.advanceTimersByTimeAsync(0);
        // The first answer is the quickest, which adds a place.
        expect(more).toBeLessThanOrEqual(nth + 1);
      }
    },
  );

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

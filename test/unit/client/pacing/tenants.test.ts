/** A quiet tenant beside one that begins thousands of conversations: by a worker that does one thing after the other. */
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { Admission } from '../../../../src/client/pacing/admission.js';
import { promise } from '../../../support/promise.js';

/** Milliseconds of the worker until a message is answered, and for the rest of its turn. */
const ANSWER_MS = 20;
const REST_MS = 30;
const PACE_MS = 250;
const WAIT_MS = 2_500;
/** The waits of the API and of a client. */
const BUSY_MS = [2_500, 30_000];
const MEASURED_MS = 60_000;
const FLOOD = 5_000;

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
  });
});

async function pause(milliseconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function setUp(busyMs: number) {
  const admission = new Admission();
  let freeAt = Date.now();
  let conversations = 0;
  const counts = { refused: 0, ended: 0 };
  let isOver = false;
  const work = async (milliseconds: number): Promise<void> => {
    freeAt = Math.max(freeAt, Date.now()) + milliseconds;
    await pause(freeAt - Date.now());
  };
  /** Milliseconds of a turn in a new conversation, with its refusals. */
  const turn = async (tenant: string): Promise<number> => {
    const begunAt = Date.now();
    conversations += 1;
    const key = { tenant, conversationId: `c-${conversations}` };
    for (;;) {
      const place = await admission.enter(key, { kind: 'beginning', waitMs: WAIT_MS, busyMs });
      if (!place.entered) {
        counts.refused += 1;
        await pause(place.retryAfterMs ?? 500);
        continue;
      }
      await work(ANSWER_MS);
      place.leave({ answered: true });
      await work(REST_MS);
      if (!isOver) counts.ended += 1;
      return Date.now() - begunAt;
    }
  };
  /** The turns of a tenant that begins four a second, while the other one does this. */
  const quietBeside = async (other: () => void): Promise<number> => {
    const taken: number[] = [];
    other();
    for (let at = 0; at < MEASURED_MS; at += PACE_MS) {
      void turn('quiet').then((ms) => taken.push(ms));
      await vi.advanceTimersByTimeAsync(PACE_MS);
    }
    expect(taken.length).toBeGreaterThan((MEASURED_MS / PACE_MS) * 0.95);
    isOver = true;
    return taken.sort((a, b) => a - b)[Math.floor(taken.length * 0.95)] ?? 0;
  };
  return { turn, quietBeside, counts, admission };
}

it.each(BUSY_MS)(
  'the quiet tenant waits as long as beside a busy tenant, and the other one gets on as well, where messages wait for %i ms',
  promise('G399'),
  async (busyMs) => {
    const busy = setUp(busyMs);
    const besideBusyMs = await busy.quietBeside(() => {
      const lane = async (): Promise<void> => {
        for (;;) await busy.turn('other');
      };
      for (let lanes = 0; lanes < 8; lanes += 1) void lane();
    });
    const flooded = setUp(busyMs);
    const besideFloodMs = await flooded.quietBeside(() => {
      for (let nth = 0; nth < FLOOD; nth += 1) void flooded.turn('other');
    });
    expect(besideFloodMs).toBeLessThanOrEqual(besideBusyMs * 1.2);
    expect(flooded.counts.ended).toBeGreaterThanOrEqual(busy.counts.ended * 0.8);
    // Refused messages return when there is a place, not each second.
    expect(flooded.counts.refused).toBeLessThan(FLOOD * 3);
  },
);

/** How long a turn waits for a store that it needs to continue. */
import { beforeEach, expect, it, vi } from 'vitest';
import { OffloadPauses } from '../../../src/workflows/transcript/offload-pauses.js';
import { promise } from '../../support/promise.js';

const timers = vi.hoisted(() => ({ begun: [] as { ms: number; fire: () => void }[] }));
vi.mock(import('@temporalio/workflow'), async (original) => ({
  ...(await original()),
  sleep: ((ms: number) =>
    new Promise<void>((fire) => {
      timers.begun.push({ ms, fire });
    })) as never,
}));

beforeEach(() => {
  timers.begun.length = 0;
});

it('pauses become longer, some four minutes in all, and begin anew once the turn has continued', {
  ...promise('G191'),
}, async () => {
  let over = 0;
  const room = new OffloadPauses(() => {
    over += 1;
  });
  const pauses = async (): Promise<number> => {
    const from = timers.begun.length;
    while (room.pause()) {
      expect(room.isPausing).toBe(true);
      timers.begun.at(-1)?.fire();
      await vi.waitFor(() => {
        expect(room.isPausing).toBe(false);
      });
    }
    return timers.begun.slice(from).reduce((sum, { ms }) => sum + ms, 0);
  };
  expect(room.hasWaited).toBe(false);
  const waited = await pauses();
  expect(room.hasWaited).toBe(true);
  expect(waited).toBeGreaterThan(4 * 60_000);
  expect(waited).toBeLessThan(5 * 60_000);
  expect(over).toBe(timers.begun.length);
  expect(timers.begun.map(({ ms }) => ms)).toEqual(
    timers.begun.map(({ ms }) => ms).toSorted((a, b) => a - b),
  );
  expect(room.pause()).toBe(false);
  room.found();
  expect(room.hasWaited).toBe(false);
  expect(await pauses()).toBe(waited);
});

import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { orLate, within } from '../../../../src/client/temporal/waiting.js';

const LONG_MS = 60_000;

/** Counts the timers of the code alone: the process has others, which may end meanwhile. */
function countTimers(): () => number {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  return () => vi.getTimerCount();
}

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('waiting for a call with a bound', () => {
  it('returns the answer that comes in time, and leaves no timer behind', async () => {
    const timers = countTimers();
    await expect(orLate(LONG_MS, sleep(1, 'answer'), () => 'late')).resolves.toBe('answer');
    await expect(within(LONG_MS, sleep(1, 'answer'))).resolves.toBe('answer');
    expect(timers()).toBe(0);
  });

  it('makes no error for an answer that comes in time', async () => {
    const abort = vi.spyOn(AbortController.prototype, 'abort');
    await orLate(LONG_MS, Promise.resolve(), () => undefined);
    await within(LONG_MS, Promise.resolve());
    expect(abort).not.toHaveBeenCalled();
  });

  it('rejects as the call does, and leaves no timer behind', async () => {
    const timers = countTimers();
    const refused = Promise.reject(new Error('refused'));
    await expect(orLate(LONG_MS, refused, () => 'late')).rejects.toThrow('refused');
    expect(timers()).toBe(0);
  });

  it("gives up a call that takes too long, with the caller's error", async () => {
    const never = new Promise<string>(() => undefined);
    await expect(within(5, never)).resolves.toBeUndefined();
    const late = (): never => {
      throw new Error('not in time');
    };
    await expect(orLate(5, never, late)).rejects.toThrow('not in time');
  });

  it('ignores a later rejection of a call that was given up', async () => {
    const unheard = vi.fn();
    process.on('unhandledRejection', unheard);
    try {
      const failing = sleep(10).then(() => {
        throw new Error('too late to matter');
      });
      await expect(orLate(1, failing, () => 'late')).resolves.toBe('late');
      await sleep(20);
      expect(unheard).not.toHaveBeenCalled();
    } finally {
      process.off('unhandledRejection', unheard);
    }
  });
});

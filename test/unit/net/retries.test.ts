/** Pauses between tries of pages and tool workers. */
import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { BackOff, pause, retryAfterMs } from '../../../src/net/retries.js';

describe('the pause before the next try', () => {
  it('grows to its longest, half of it by chance, and begins anew after a success', () => {
    const backOff = new BackOff({ minPauseMs: 100, maxPauseMs: 1_000 });
    const next = (): number => backOff.next();
    for (const longest of [100, 200, 400, 800, 1_000, 1_000]) {
      const ms = next();
      expect(ms).toBeGreaterThanOrEqual(longest / 2);
      expect(ms).toBeLessThanOrEqual(longest);
    }
    expect(backOff.tries).toBe(6);
    backOff.reset();
    expect(next()).toBeLessThanOrEqual(100);
    for (let count = 0; count < 2_000; count += 1) next();
    expect(next()).toBeLessThanOrEqual(1_000);
  });

  it('is at least as long as the server asks, up to a bound', () => {
    const pauses = { minPauseMs: 100, maxPauseMs: 1_000 };
    expect(new BackOff(pauses).next(90_000)).toBeGreaterThanOrEqual(90_050);
    const bounded = new BackOff({ ...pauses, maxRetryAfterMs: 60_000 });
    expect(bounded.next(90_000)).toBeLessThanOrEqual(60_100);
  });

  it('ends early by a signal or a reason to hope, and leaves no listener', async () => {
    const given = new AbortController();
    let wake = (): void => undefined;
    let stopped = 0;
    const woken = pause(3_600_000, given.signal, (listener) => {
      wake = listener;
      return () => {
        stopped += 1;
      };
    });
    wake();
    await woken;
    expect([stopped, getEventListeners(given.signal, 'abort').length]).toEqual([1, 0]);
    const aborted = pause(3_600_000, given.signal);
    given.abort();
    await aborted;
    await pause(3_600_000, given.signal);
    await pause(1, new AbortController().signal);
  });
});

const NOW = Date.parse('2030-01-01T00:00:00.000Z');

it.each([
  ['120', 120_000],
  ['1.5', 1_500],
  [' 0 ', 0],
  ['Tue, 01 Jan 2030 00:00:30 GMT', 30_000],
  ['Mon, 31 Dec 2029 23:59:00 GMT', 0],
  ['soon', undefined],
  ['', undefined],
  [undefined, undefined],
])('Retry-After %j asks for %s ms', (header, expected) => {
  expect(retryAfterMs(header, NOW)).toBe(expected);
});

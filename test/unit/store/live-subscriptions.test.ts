import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { conversationKey } from '../../../src/protocol/values/ids.js';
import { LINGER_MS, LiveSubscriptions } from '../../../src/store/live/subscriptions.js';
import type { Watch } from '../../../src/store/ports/live.js';
import { KEY } from '../../support/samples/log-events.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function subscriptions() {
  const notified: (Watch | undefined)[] = [];
  const of = new LiveSubscriptions((_key, watch) => notified.push(watch));
  return { of, notified, watch: (live: boolean) => of.add(KEY, { live }, () => undefined) };
}

it('subscriptions notify publishers once of a reader that waits for one result after the other, and of its end a second after the last', () => {
  const { of, notified, watch } = subscriptions();
  for (let waits = 0; waits < 3; waits += 1) {
    const stop = watch(false);
    vi.advanceTimersByTime(LINGER_MS / 2);
    stop();
    expect(of.watchOf(conversationKey(KEY))).toBeUndefined();
    vi.advanceTimersByTime(LINGER_MS / 2);
  }
  expect(notified).toEqual([{ live: false }]);
  // A publisher that comes later gets the same state.
  expect(of.all()).toEqual([[conversationKey(KEY), false]]);
  vi.advanceTimersByTime(LINGER_MS);
  expect(notified).toEqual([{ live: false }, undefined]);
  expect(of.all()).toEqual([]);
});

it('subscriptions notify publishers of each subscriber to live events', () => {
  const { notified, watch } = subscriptions();
  watch(true)();
  watch(true)();
  watch(false)();
  expect(notified).toEqual([{ live: true }, { live: true }, { live: false }]);
});

it('subscriptions notify no publisher any more once they are cleared', () => {
  const { of, notified, watch } = subscriptions();
  watch(false)();
  of.clear();
  vi.advanceTimersByTime(2 * LINGER_MS);
  expect(notified).toEqual([{ live: false }]);
});

/** The time of the page: one timer for all components that show it. */
import { useSyncExternalStore } from 'react';

const TICK_MS = 1_000;
const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const one of listeners) one();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Milliseconds since 1970, to the second before. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, current);
}

/** The same, rounded down to a multiple of `ms`: the component is rendered only when that changes. */
export function useCoarseNow(ms: number): number {
  return useSyncExternalStore(subscribe, () => Math.floor(current() / ms) * ms);
}

/** While no component shows the time there is no timer, so the time is read. */
function current(): number {
  if (timer === undefined) now = Date.now();
  return now;
}

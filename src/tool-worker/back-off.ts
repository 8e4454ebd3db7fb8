/** Pauses between tries. */

const FIRST_MS = 250;
const MAX_MS = 15_000;
/** A longer `Retry-After` is shortened: the API may be back earlier. */
const MAX_RETRY_AFTER_MS = 60_000;

export class BackOff {
  #tries = 0;

  /** Milliseconds until the next try: at random, so that many workers do not come back at once. */
  next(retryAfterMs = 0): number {
    const ceilingMs = Math.min(MAX_MS, FIRST_MS * 2 ** this.#tries);
    this.#tries = Math.min(this.#tries + 1, 16);
    const ownMs = ceilingMs * (0.5 + Math.random() / 2);
    return Math.max(ownMs, Math.min(retryAfterMs, MAX_RETRY_AFTER_MS));
  }

  /** Whether the tries have failed for several seconds. */
  get isLong(): boolean {
    return this.#tries > 5;
  }

  reset(): void {
    this.#tries = 0;
  }
}

/** Resolves after the time, or when the signal aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}

/** A function, because the compiler would treat a property that it saw once as constant. */
export function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

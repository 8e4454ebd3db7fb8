/** Pauses between tries: they grow, are spread by chance, and end early when the page has reason to hope. */

/** Milliseconds. */
export interface Timing {
  /** Least and longest pause before the next try; a longer `Retry-After` counts. @defaultValue 500 and 30,000 */
  readonly minPauseMs: number;
  readonly maxPauseMs: number;
  /** A stream without a byte for so long is lost: the API sends one every 15 s. @defaultValue 40,000 */
  readonly silenceMs: number;
  /** A request that changes something is given up after so long without an answer. @defaultValue 60,000 */
  readonly giveUpMs: number;
}

export const TIMING: Timing = {
  minPauseMs: 500,
  maxPauseMs: 30_000,
  silenceMs: 40_000,
  giveUpMs: 60_000,
};

export class BackOff {
  readonly #timing: Timing;
  #tries = 0;

  constructor(timing: Timing) {
    this.#timing = timing;
  }

  /** The next pause: half of it is left to chance, so that many pages do not return at once. */
  next(retryAfterMs = 0): number {
    const { minPauseMs, maxPauseMs } = this.#timing;
    const longest = Math.min(maxPauseMs, minPauseMs * 2 ** this.#tries);
    this.#tries += 1;
    return retryAfterMs + longest * (0.5 + Math.random() / 2);
  }

  reset(): void {
    this.#tries = 0;
  }
}

/** Resolves after the time, when the signal aborts, or when `wake` calls back; never rejects. */
export async function pause(
  ms: number,
  signal: AbortSignal,
  wake: (listener: () => void) => () => void = () => () => undefined,
): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      sleep();
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
    const sleep = wake(end);
  });
}

/** Calls back when the network is back or the page is shown again, where there is a page. Returns how to stop. */
export function onWake(listener: () => void): () => void {
  const shown = (): void => {
    if (document.visibilityState === 'visible') listener();
  };
  const hasPage = typeof document !== 'undefined';
  const hasEvents = typeof globalThis.addEventListener === 'function';
  if (hasPage) document.addEventListener('visibilitychange', shown);
  if (hasEvents) globalThis.addEventListener('online', listener);
  return () => {
    if (hasPage) document.removeEventListener('visibilitychange', shown);
    if (hasEvents) globalThis.removeEventListener('online', listener);
  };
}

/** An id that no other page makes. `randomUUID` exists only on pages served by TLS. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Repeats of requests: the pauses between tries, and what `Retry-After` asks for. Runs anywhere: pages and tool workers
 * use it, and nothing of Node may be imported here.
 */

/** Milliseconds. */
export interface Pauses {
  /** Least and longest pause before the next try. */
  readonly minPauseMs: number;
  readonly maxPauseMs: number;
  /** A longer `Retry-After` is shortened to it. @defaultValue it is not shortened */
  readonly maxRetryAfterMs?: number;
}

export class BackOff {
  readonly #pauses: Pauses;
  #tries = 0;

  constructor(pauses: Pauses) {
    this.#pauses = pauses;
  }

  /**
   * Milliseconds until the next try: `retryAfterMs`, and a pause that grows. Half of the pause is left to chance, so that
   * clients which were refused together do not return together.
   */
  next(retryAfterMs = 0): number {
    const { minPauseMs, maxPauseMs, maxRetryAfterMs = Number.POSITIVE_INFINITY } = this.#pauses;
    const longest = Math.min(maxPauseMs, minPauseMs * 2 ** this.#tries);
    this.#tries += 1;
    return Math.min(retryAfterMs, maxRetryAfterMs) + longest * (0.5 + Math.random() / 2);
  }

  /** Tries since the last reset. */
  get tries(): number {
    return this.#tries;
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
      stopWaking();
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
    const stopWaking = wake(end);
  });
}

/** A function, because the compiler would treat a property that it saw once as constant. */
export function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

/**
 * The header `Retry-After` in milliseconds from `now`, given as seconds or as a date; a date that has passed gives 0.
 * Undefined for nothing and nonsense.
 * @see https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
 */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  const text = header?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^[0-9]+(?:\.[0-9]+)?$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

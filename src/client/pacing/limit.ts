/**
 * A number of requests that may be under way at once. It falls while their answers are slow, and rises while these are
 * quick and it holds requests back.
 */

const BACK_OFF = 0.7;
/** Milliseconds in which the time of the quickest answer doubles, so that it does not count for ever. */
const FORGET_MS = 10 * 60 * 1_000;

export interface LimitOptions {
  readonly atStart: number;
  readonly min: number;
  readonly max: number;
  /** Milliseconds; slower answers mean that too many are under way. */
  readonly slowMs: number;
  /** Milliseconds, well below the slow time, so that the number does not swing. */
  readonly quickMs: number;
  /**
   * Both times grow where the slow one is less than this many times the quickest answer: a server far away is no
   * overload. Absent: they stay as they are.
   */
  readonly slowFactor?: number;
}

/** A request that has ended. */
export interface Ended {
  /** Milliseconds, by the clock of `nowMs`. */
  readonly enteredAtMs: number;
  readonly nowMs: number;
  readonly answered: boolean;
  /** Whether a long time, with an answer or without one, means that too many are under way. */
  readonly mayBeSlow: boolean;
  /** Whether the limit holds requests back. */
  readonly isReached: boolean;
}

export class Limit {
  readonly #options: LimitOptions;
  #size: number;
  #changedAtMs = Number.NEGATIVE_INFINITY;
  #quickestMs = Number.POSITIVE_INFINITY;
  #noticedAtMs = 0;

  constructor(options: LimitOptions) {
    this.#options = options;
    this.#size = options.atStart;
  }

  get size(): number {
    return this.#size;
  }

  /** Answers to requests of before the last change say nothing of it: all of them were slow together. */
  learn({ enteredAtMs, nowMs, answered, mayBeSlow, isReached }: Ended): void {
    const { min, max, slowMs, quickMs } = this.#options;
    const tookMs = nowMs - enteredAtMs;
    if (answered) this.#notice(tookMs, nowMs);
    const factor = this.#factor();
    if (mayBeSlow && tookMs > slowMs * factor && enteredAtMs >= this.#changedAtMs) {
      this.#size = Math.max(min, Math.floor(this.#size * BACK_OFF));
      this.#changedAtMs = nowMs;
    } else if (answered && isReached && tookMs < quickMs * factor)
      this.#size = Math.min(max, this.#size + 1);
  }

  #notice(tookMs: number, nowMs: number): void {
    const forgotten = 2 ** ((nowMs - this.#noticedAtMs) / FORGET_MS);
    this.#quickestMs = Math.min(this.#quickestMs * forgotten, tookMs);
    this.#noticedAtMs = nowMs;
  }

  #factor(): number {
    const { slowMs, slowFactor = 0 } = this.#options;
    if (this.#quickestMs === Number.POSITIVE_INFINITY) return 1;
    return Math.max(1, (this.#quickestMs * slowFactor) / slowMs);
  }
}

/**
 * Decides how long a call waits for an answer of the workflow before the input is left as a signal. A fixed time makes
 * overload worse: once tasks take longer, every input is sent twice, as an update that is given up and as a signal
 * beside it, and the workflow has to judge both.
 *
 * P1  The time is `UPDATE_DEADLINE_MS`, unless answers were slower lately; then half as long again as these took, up to
 * `MAX_UPDATE_DEADLINE_MS`.
 * P2  If no answer came for a while there may be no worker at all, and a longer wait is useless.
 */
import {
  MAX_UPDATE_DEADLINE_MS,
  UPDATE_DEADLINE_MS,
} from '../../protocol/limits/service-limits.js';

/** Milliseconds for which one answer proves that there is a worker. */
const ALIVE_MS = 30_000;
const HEADROOM = 1.5;
/** Factor of each faster answer: after a few of them the usual time is enough again. */
const DECAY = 0.7;

export class Pace {
  #slowMs = 0;
  #answeredAt = Number.NEGATIVE_INFINITY;

  /** @param nowMs By any clock, the same in all calls. */
  budgetMs(nowMs: number): number {
    if (nowMs - this.#answeredAt > ALIVE_MS) return UPDATE_DEADLINE_MS;
    const wantedMs = Math.round(this.#slowMs * HEADROOM);
    return Math.min(Math.max(wantedMs, UPDATE_DEADLINE_MS), MAX_UPDATE_DEADLINE_MS);
  }

  /** Records that the workflow has accepted or refused after this time. */
  answered(tookMs: number, nowMs: number): void {
    this.#slowMs = Math.max(tookMs, this.#slowMs * DECAY);
    this.#answeredAt = nowMs;
  }

  /** Records a call that was given up after this time: an answer takes longer, if there is a worker. */
  missed(waitedMs: number): void {
    this.#slowMs = Math.max(waitedMs, this.#slowMs);
  }
}

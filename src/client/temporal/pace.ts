/**
 * How long an answer of the workflow is waited for before the input is left as a signal. A fixed time makes overload worse: once tasks take
 * longer, every input is sent twice, as an update that is given up and as a signal beside it, and the workflow has to judge both.
 *
 * P1  It is `UPDATE_DEADLINE_MS`, unless answers were slower lately; then half as long again as these took, up to `MAX_UPDATE_DEADLINE_MS`.
 * P2  Where nobody has answered for a while there may be no worker at all, and waiting longer helps nobody.
 */
import {
  MAX_UPDATE_DEADLINE_MS,
  UPDATE_DEADLINE_MS,
} from '../../protocol/limits/service-limits.js';

/** For so long one answer shows that there is a worker. */
const ALIVE_MS = 30_000;
const HEADROOM = 1.5;
/** What each faster answer takes off: after a few of them the usual time is enough again. */
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

  /** The workflow has said yes or no after so long. */
  answered(tookMs: number, nowMs: number): void {
    this.#slowMs = Math.max(tookMs, this.#slowMs * DECAY);
    this.#answeredAt = nowMs;
  }

  /** Given up after so long: it takes longer than that, if there is anybody. */
  missed(waitedMs: number): void {
    this.#slowMs = Math.max(waitedMs, this.#slowMs);
  }
}

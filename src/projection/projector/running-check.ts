/**
 * A check under way. Its query may wait for seconds: for a worker that was lost with it, or for the end of a task that
 * was lost. It is given up as soon as another query would be answered sooner, so that news does not wait for it.
 *
 * Q1  A run that moves or is replayed in this worker is in its memory. Its events come with the news; where they do not,
 * and the query is not answered right after the replay, it waits for something else, and the next one is answered at once.
 * Q2  Once a further worker is lost, a query that has waited for longer than the server waits for a lost worker may
 * have been lost with the further one.
 * Q3  A query that waited for a busy worker instead is asked again in vain; so a conversation gives up few in a row.
 */
import { STICKY_TIMEOUT_MS } from '../../protocol/limits/service-limits.js';

/** Milliseconds after the last news of a replay; the query that caused it is answered within. */
const ANSWERED_AFTER_MS = 500;
/** Milliseconds within which a query that waits for a lost worker is usually answered by another. */
const HANDOVER_MS = STICKY_TIMEOUT_MS + 250;
/** Checks of one conversation that are given up in a row. */
const MAX_GIVEN_UP = 2;

export class RunningCheck {
  readonly #controller = new AbortController();
  readonly #startedAt = performance.now();
  readonly #mayGiveUp: boolean;
  #timer: NodeJS.Timeout | undefined;

  constructor(givenUpBefore: number) {
    this.#mayGiveUp = givenUpBefore < MAX_GIVEN_UP;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isGivenUp(): boolean {
    return this.signal.aborted;
  }

  get tookMs(): number {
    return performance.now() - this.#startedAt;
  }

  /** Q1. */
  runIsHere(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.giveUp();
    }, ANSWERED_AFTER_MS);
    this.#timer.unref();
  }

  /** Q2. */
  isWantedAgain(): void {
    if (this.tookMs > HANDOVER_MS) this.giveUp();
  }

  /** Gives up in any case: nothing is to wait for the answer. */
  abandon(): void {
    this.#controller.abort();
  }

  /** The check has ended. */
  end(): void {
    clearTimeout(this.#timer);
  }

  /** Q3. */
  giveUp(): void {
    if (this.#mayGiveUp) this.#controller.abort();
  }
}

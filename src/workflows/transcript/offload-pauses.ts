/**
 * Waits with growing pauses, a few minutes in all, while a turn cannot continue: for an unavailable store, or for work
 * that a roll-over would lose.
 */
import { sleep } from '@temporalio/workflow';
import { isoOf } from '../../core/state/time.js';
import { summaryOf } from '../activities/schedule.js';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 64_000;
/** About four minutes in all. */
const MAX_PAUSES = 9;

export class OffloadPauses {
  readonly #over: () => void;
  #count = 0;
  #isPausing = false;

  /** `over` is called at the end of each pause. */
  constructor(over: () => void) {
    this.#over = over;
  }

  get isPausing(): boolean {
    return this.#isPausing;
  }

  /** Since the turn last continued. */
  get hasWaited(): boolean {
    return this.#count > 0;
  }

  /** Begins the next pause. False after `MAX_PAUSES` pauses. */
  pause(): boolean {
    if (this.#count >= MAX_PAUSES) return false;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#count, LONGEST_PAUSE_MS);
    this.#count += 1;
    this.#isPausing = true;
    const summary = summaryOf(`the store is tried again at ${isoOf(Date.now() + pauseMs)}`);
    void sleep(pauseMs, { summary }).then(
      () => {
        this.#isPausing = false;
        this.#over();
      },
      // The workflow is cancelled: its main loop handles that.
      () => undefined,
    );
    return true;
  }

  /** The turn has capacity again, or is over. */
  found(): void {
    this.#count = 0;
  }
}

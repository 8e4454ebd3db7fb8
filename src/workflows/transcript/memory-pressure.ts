/**
 * Waits for a store that is away while a turn cannot go on without, or for what a roll-over would lose: a few minutes, with growing pauses,
 * and no longer.
 */
import { sleep } from '@temporalio/workflow';
import { isoOf } from '../../core/state/time.js';
import { summaryOf } from '../activities/schedule.js';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 64_000;
/** Some four minutes in all. */
const MAX_PAUSES = 9;

export class RoomPauses {
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

  /** Since the turn went on last. */
  get hasWaited(): boolean {
    return this.#count > 0;
  }

  /** Begins the next pause. False when there were enough. */
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
      // The workflow is cancelled: its main loop hears of it.
      () => undefined,
    );
    return true;
  }

  /** The turn goes on, or is over. */
  found(): void {
    this.#count = 0;
  }
}

/** Delays the next summary after one has failed. Pure. */
import type { ConversationState } from '../state/state.js';

/**
 * Skips summaries after a failed one for 1, 2, 4 and so on, at most 64 further turns. Turns run on in the meantime;
 * where the budget is full, the oldest are left out.
 */
export class SummaryPause {
  #failures = 0;
  #untilTurn = 0;

  isOver({ turnCount }: Pick<ConversationState, 'turnCount'>): boolean {
    return turnCount >= this.#untilTurn;
  }

  /** A summary that cannot be used counts as failed: the next would be just as useless, and costs model tokens. */
  ended({ turnCount }: Pick<ConversationState, 'turnCount'>, isUsed: boolean): void {
    if (isUsed) {
      this.#failures = 0;
      return;
    }
    this.#untilTurn = turnCount + 2 ** Math.min(this.#failures, 6);
    this.#failures += 1;
  }
}

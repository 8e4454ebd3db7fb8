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

  failed({ turnCount }: Pick<ConversationState, 'turnCount'>): void {
    this.#untilTurn = turnCount + 2 ** Math.min(this.#failures, 6);
    this.#failures += 1;
  }

  succeeded(): void {
    this.#failures = 0;
  }
}

/** After a summary has failed, the next one waits for a while. Pure. */
import type { ConversationState } from '../state/state.js';

/**
 * Whoever has summaries made waits after one that failed: for 1, 2, 4 and at last 64 further turns. Turns go on meanwhile;
 * where the budget is full they leave the oldest out.
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

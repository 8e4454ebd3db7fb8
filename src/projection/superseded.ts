/** Which live events come too late: the canonical event of their item has been given already. */
import type { CanonicalEvent } from '../protocol/events.js';
import type { TurnId } from '../protocol/ids.js';
import type { LiveEvent } from '../protocol/live-events.js';

/** Follows the newest turn of one log; bounded by the calls of one turn. */
export class Superseded {
  #turnId: TurnId | undefined;
  #endedTurnId: TurnId | undefined;
  #step = 0;
  readonly #endedCalls = new Set<string>();

  note(event: CanonicalEvent): void {
    switch (event.type) {
      case 'turn_started':
        this.#turnId = event.turnId;
        this.#step = 0;
        this.#endedCalls.clear();
        return;
      case 'assistant_message':
        if (event.turnId === this.#turnId) this.#step = event.step;
        return;
      case 'tool_result':
        this.#endedCalls.add(event.toolCallId);
        return;
      case 'turn_ended':
        this.#endedTurnId = event.turnId;
        return;
      default:
    }
  }

  covers(event: LiveEvent): boolean {
    if (event.turnId === this.#endedTurnId) return true;
    if (event.type === 'tool_call_started' || event.type === 'tool_progress')
      return this.#endedCalls.has(event.toolCallId);
    return event.turnId === this.#turnId && event.step <= this.#step;
  }
}

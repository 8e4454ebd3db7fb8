/** Closes a conversation that has been idle for the time of its settings. */
import { sleep } from '@temporalio/workflow';
import { detachedCalls } from '../../core/calls/detached.js';
import type { ConversationMachine } from '../../core/machine/machine.js';
import { isSince } from '../../core/state/state.js';
import { isoOf } from '../../core/state/time.js';

export class IdleClose {
  readonly #machine: ConversationMachine;
  readonly #idleCloseMs: number;
  readonly #wake: () => void;
  #hasTimer = false;

  /** `wake`: called when the timer has fired. */
  constructor(machine: ConversationMachine, idleCloseMs: number, wake: () => void) {
    this.#machine = machine;
    this.#idleCloseMs = idleCloseMs;
    this.#wake = wake;
  }

  /**
   * Starts the timer if the conversation is idle and has none; true when it did. A run keeps one timer, which checks
   * again when it fires: a timer per turn would cost two events each.
   */
  watch(): boolean {
    if (this.#hasTimer || this.#isWorking()) return false;
    this.#hasTimer = true;
    const closeAt = this.#closeAt();
    const summary = `close when idle until ${isoOf(closeAt)}`;
    void sleep(Math.max(1, closeAt - Date.now()), { summary }).then(
      () => {
        this.#hasTimer = false;
        const isIdle = !this.#isWorking() && this.#machine.state.queue.length === 0;
        if (isIdle && Date.now() >= this.#closeAt()) this.#machine.close('idle');
        this.#wake();
      },
      () => undefined,
    );
    return true;
  }

  /** Results of detached calls, and since revision 2 inbox events that wait, must find the conversation open. */
  #isWorking(): boolean {
    const { state } = this.#machine;
    const hasEvents = state.inbox !== undefined && state.inboxHeld !== true;
    return (
      state.turn !== undefined ||
      detachedCalls(state).length > 0 ||
      (hasEvents && isSince(state, 2))
    );
  }

  #closeAt(): number {
    return Date.parse(this.#machine.state.updatedAt) + this.#idleCloseMs;
  }
}

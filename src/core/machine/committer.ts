/**
 * Writes the log of a conversation: gives each event its number and its time, folds it into the state, and then carries
 * out all internal decisions, until only external effects are left. Independent of the kinds of input.
 */
import type { CanonicalEvent, EventBody } from '../../protocol/log/events.js';
import { apply } from '../apply/apply.js';
import { turnTooLong, turnTooLongText } from '../context/request-window.js';
import { decide } from '../decide/decide.js';
import { internalEvents, isInternal } from '../events/internal.js';
import { modelFailedEvents } from '../events/model-calls.js';
import type { ConversationState } from '../state/state.js';
import { isStopping } from '../state/state.js';
import { isoOf } from '../state/time.js';

export interface MachineOptions {
  readonly state: ConversationState;
  /** Milliseconds since the epoch; workflow time or a virtual clock. */
  readonly now: () => number;
  readonly onEvent: (event: CanonicalEvent) => void;
  /**
   * Makes a token for each new turn's id, different after every reset of the workflow: after a reset the ordinals of
   * turns start again, and a client that waits for the new turn must not get the end of the old one. Absent where no
   * reset can happen.
   */
  readonly turnToken?: () => string;
  /** Called for each result of an activity that does not have its form; `problem`: in words. */
  readonly onFaulty?: (activity: string, problem: string) => void;
}

export class Committer {
  readonly turnToken: (() => string) | undefined;
  #state: ConversationState;
  readonly #now: () => number;
  readonly #onEvent: (event: CanonicalEvent) => void;
  #refusals = 0;

  constructor(options: MachineOptions) {
    this.#state = options.state;
    this.#now = options.now;
    this.#onEvent = options.onEvent;
    this.turnToken = options.turnToken;
  }

  get state(): ConversationState {
    return this.#state;
  }

  get nowMs(): number {
    return this.#now();
  }

  /** @throws {RangeError} where an event is missing before it */
  adopt(event: CanonicalEvent): void {
    const { lastSeq } = this.#state;
    if (event.seq <= lastSeq) return;
    if (event.seq !== lastSeq + 1)
      throw new RangeError(`event ${event.seq} cannot follow event ${lastSeq}`);
    this.#state = apply(this.#state, event);
    this.#onEvent(event);
  }

  /** Folds each event before it numbers the next. */
  commit(bodies: readonly EventBody[]): void {
    const at = isoOf(this.#now());
    for (const body of bodies) {
      const event: CanonicalEvent = {
        ...body,
        seq: this.#state.lastSeq + 1,
        at,
        ...this.#counted(),
      };
      this.#state = apply(this.#state, event);
      this.#onEvent(event);
    }
  }

  /**
   * Counts a refusal that is not recorded; the next event carries the count. Roll-overs and closes are events, so no
   * count is lost.
   */
  countRefusal(): void {
    this.#refusals += 1;
  }

  #counted(): { readonly unrecordedRefusals?: number } {
    const unrecordedRefusals = this.#refusals;
    this.#refusals = 0;
    return unrecordedRefusals === 0 ? {} : { unrecordedRefusals };
  }

  /** Carries out internal decisions until only external effects are left. */
  settle(): void {
    for (;;) {
      if (this.#turnOutgrown()) continue;
      const due = decide(this.#state).filter(isInternal);
      if (due.length === 0) return;
      // The effects concern different calls, so none invalidates another; deciding again after each would be quadratic.
      for (const effect of due)
        this.commit(
          internalEvents(this.#state, effect, { nowMs: this.#now(), turnToken: this.turnToken }),
        );
    }
  }

  /** Fails a turn whose own messages exceed one model call's input: it cannot continue, the next turn can. */
  #turnOutgrown(): boolean {
    const { turn } = this.#state;
    if (turn?.phase !== 'model' || isStopping(turn) || !turnTooLong(this.#state)) return false;
    const message = turnTooLongText(this.#state);
    const error = { code: 'model_context_too_long', message };
    this.commit(modelFailedEvents(turn, { error }));
    return true;
  }
}

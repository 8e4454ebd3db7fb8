/** Sends requests that a workflow answers: when the workers can take them, and within a deadline. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConversationKey } from '../../protocol/values/ids.js';
import type { Trouble } from '../../protocol/values/trouble.js';
import { ConversationError } from '../api/errors.js';
import { Admission, type RequestKind } from '../pacing/admission.js';
import { Pace } from '../pacing/pace.js';
import { GRPC, grpcCodeOf, isTransient, isUnconfirmed, refusalOf } from './errors.js';

/** Back-off between tries inside one deadline: a roll-over lasts one workflow task, some tens of milliseconds. */
const FIRST_PAUSE_MS = 20;
const LAST_PAUSE_MS = 250;
/** The wait for a place: an answer that gets none is a signal, and so durable, within 3 s of its receipt. */
const ADMISSION_WAIT_MS = 2_500;
export const BUSY_TEXT =
  'The workers have more requests than they can answer at the moment. More workers answer sooner';
/**
 * Not confirmed: the call may or may not have taken effect; a repeat with the same ids is safe. With a cause of the code
 * `workers_busy` it was not made.
 */
export type Attempted<Value> =
  | { readonly confirmed: true; readonly value: Value }
  | { readonly confirmed: false; readonly cause: unknown };

export interface ConfirmOptions {
  /** The conversation that is asked. Absent: the call takes no place from others. */
  readonly key?: ConversationKey;
  /** For the call and for its wait for a place. @defaultValue a time that fits how long answers take now */
  readonly budgetMs?: number;
  /** @defaultValue message */
  readonly kind?: RequestKind;
  /** Longest wait for a place while others are answered. @defaultValue as short as where nothing is answered */
  readonly busyMs?: number | undefined;
}

export interface ConfirmingParts {
  /** Makes a call with a deadline, in milliseconds since 1970. */
  readonly before: <Value>(deadline: number, call: () => Promise<Value>) => Promise<Value>;
  readonly trouble: (key: ConversationKey) => Promise<Trouble | undefined>;
  /** Factor for waits that no caller has set. */
  readonly patience: () => number;
}

export class Confirming {
  readonly #parts: ConfirmingParts;
  readonly #pace = new Pace();
  readonly #admission = new Admission();
  #answeredAt: number | undefined;

  constructor(parts: ConfirmingParts) {
    this.#parts = parts;
  }

  /** When a worker last answered, in milliseconds since 1970. */
  get answeredAt(): number | undefined {
    return this.#answeredAt;
  }

  /** True while requests wait until the workers can take them. */
  get isBusy(): boolean {
    return this.#admission.isFull;
  }

  /**
   * Repeats a call while it is refused for a passing reason, inside one deadline. With a key the call first waits until
   * the workers can take it (`Admission`), and is given up at once when the server refuses it because the workflow of
   * that conversation fails: no answer would come in time.
   */
  async confirm<Value>(
    call: () => Promise<Value>,
    options: ConfirmOptions = {},
  ): Promise<Attempted<Value>> {
    const { key, budgetMs, busyMs, kind = 'message' } = options;
    const patience = this.#parts.patience();
    const endsAt = budgetMs === undefined ? undefined : Date.now() + budgetMs;
    const deadline = (): number =>
      endsAt ?? Date.now() + this.#pace.budgetMs(Date.now()) * patience;
    if (key === undefined) return await this.#tryUntil(deadline(), call);
    const waitMs = budgetMs ?? ADMISSION_WAIT_MS * patience;
    const place = await this.#admission.enter(key, { kind, waitMs, busyMs });
    if (!place.entered) {
      const { retryAfterMs } = place;
      const cause = new ConversationError('workers_busy', BUSY_TEXT, { retryAfterMs });
      return { confirmed: false, cause };
    }
    let answered = false;
    try {
      const tried = await this.#tryUntil(deadline(), call, key);
      answered = tried.confirmed;
      return tried;
    } catch (error) {
      answered = refusalOf(error) !== undefined;
      throw error;
    } finally {
      place.leave({ answered });
    }
  }

  async #tryUntil<Value>(
    deadline: number,
    call: () => Promise<Value>,
    key?: ConversationKey,
  ): Promise<Attempted<Value>> {
    const beganAt = Date.now();
    let isChecked = false;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LAST_PAUSE_MS)) {
      try {
        const value = await this.#parts.before(deadline, call);
        this.#heard(beganAt);
        return { confirmed: true, value };
      } catch (error) {
        if (refusalOf(error) !== undefined) this.#heard(beganAt);
        if (isUnconfirmed(error)) {
          this.#pace.missed(Date.now() - beganAt);
          return { confirmed: false, cause: error };
        }
        if (!isTransient(error)) throw error;
        if (Date.now() + pause >= deadline) return { confirmed: false, cause: error };
        if (key !== undefined && !isChecked && grpcCodeOf(error) === GRPC.failedPrecondition) {
          isChecked = true;
          const trouble = await this.#parts.trouble(key);
          if (trouble?.kind === 'failing') return { confirmed: false, cause: error };
        }
      }
      await sleep(pause);
    }
  }

  /** Records that a worker has answered a call that began at that time. */
  #heard(beganAt: number): void {
    const now = Date.now();
    this.#answeredAt = now;
    this.#pace.answered(now - beganAt, now);
  }
}

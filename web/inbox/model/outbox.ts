/**
 * Answers on their way. Each is held for a while, in which it can be taken back, and then sent until there is a verdict.
 * One answer of a call is under way at a time, under one request id, so no repeat counts twice. Pure but for its timers.
 */
import type { Problem, Resolution, Verdict } from 'colloquy/browser';

export interface Answer {
  readonly ref: string;
  readonly conversationId: string;
  readonly toolCallId: string;
  /** The arguments that the person has seen. */
  readonly argsDigest?: string | undefined;
  readonly resolution: Resolution;
  /** Names the call to the person. */
  readonly title: string;
  /** ISO 8601 */
  readonly deadline: string;
}

export interface OutgoingAnswer extends Answer {
  readonly requestId: string;
  readonly state: 'held' | 'sending' | 'done' | 'failed';
  /** Milliseconds since 1970: when it is sent, or was. */
  readonly sendAt: number;
  /** Present when `done`. */
  readonly verdict?: Verdict;
  /** Present when `failed`: there was no verdict. */
  readonly problem?: Problem;
}

export interface OutboxOptions {
  /** Sends until there is a verdict. `isLeaving`: the page is being left, so the request has to outlive it. */
  readonly send: (answer: OutgoingAnswer, isLeaving: boolean) => Promise<Verdict>;
  /** The problem of what `send` threw. */
  readonly problemOf: (error: unknown) => Problem;
  readonly newId: () => string;
  readonly now?: () => number;
}

export const HOLD_MS = 5_000;
/** Closer to its deadline, an answer is sent at once. */
export const URGENT_MS = 30_000;
/** Finished answers that are kept for display. */
const MAX_FINISHED = 50;

export class Outbox {
  readonly #options: OutboxOptions;
  readonly #now: () => number;
  readonly #listeners = new Set<() => void>();
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  #answers: readonly OutgoingAnswer[] = [];

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** Newest last; at most one of each call. Bound, as is `subscribe`. */
  readonly getSnapshot = (): readonly OutgoingAnswer[] => this.#answers;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  of(ref: string): OutgoingAnswer | undefined {
    return this.#answers.find((answer) => answer.ref === ref);
  }

  /** False, without a change, while another answer of the call is held or being sent. */
  hold(answer: Answer): boolean {
    const before = this.of(answer.ref);
    if (before?.state === 'held' || before?.state === 'sending') return false;
    const now = this.#now();
    const isUrgent = Date.parse(answer.deadline) - now < URGENT_MS;
    const sendAt = isUrgent ? now : now + HOLD_MS;
    const held: OutgoingAnswer = {
      ...{ ...answer, requestId: this.#options.newId(), state: 'held', sendAt },
    };
    this.#set([...this.#answers.filter(({ ref }) => ref !== answer.ref), held]);
    if (isUrgent) this.sendNow(answer.ref);
    else {
      const timer = setTimeout(() => this.sendNow(answer.ref), HOLD_MS);
      this.#timers.set(answer.ref, timer);
    }
    return true;
  }

  /** Takes a held answer back. False when it has been sent: nothing takes it back then. */
  undo(ref: string): boolean {
    if (this.of(ref)?.state !== 'held') return false;
    this.#stopTimer(ref);
    this.#set(this.#answers.filter((answer) => answer.ref !== ref));
    return true;
  }

  /** Sends a held answer, or one that failed, once more under its request id. */
  sendNow(ref: string): void {
    const answer = this.of(ref);
    if (answer?.state !== 'held' && answer?.state !== 'failed') return;
    this.#stopTimer(ref);
    void this.#send(answer, false);
  }

  /** For a page that is being left: sends what is held, and repeats what has no verdict yet. */
  leave(): void {
    for (const answer of this.#answers)
      if (answer.state === 'held' || answer.state === 'sending') {
        this.#stopTimer(answer.ref);
        void this.#send(answer, true);
      }
  }

  /** Takes a finished answer from the display. */
  dismiss(ref: string): void {
    const state = this.of(ref)?.state;
    if (state === 'done' || state === 'failed')
      this.#set(this.#answers.filter((answer) => answer.ref !== ref));
  }

  async #send(answer: OutgoingAnswer, isLeaving: boolean): Promise<void> {
    const sent: OutgoingAnswer = { ...answer, state: 'sending', sendAt: this.#now() };
    this.#put(sent);
    try {
      const verdict = await this.#options.send(sent, isLeaving);
      this.#put({ ...sent, state: 'done', verdict });
    } catch (error) {
      this.#put({ ...sent, state: 'failed', problem: this.#options.problemOf(error) });
    }
  }

  /** Replaces the answer with the same request id: an answer that has a verdict keeps it. */
  #put(answer: OutgoingAnswer): void {
    const before = this.#answers.find(({ requestId }) => requestId === answer.requestId);
    if (before === undefined || before.state === 'done') return;
    this.#set(this.#answers.map((one) => (one === before ? answer : one)));
  }

  #set(answers: readonly OutgoingAnswer[]): void {
    const finished = answers.filter(({ state }) => state === 'done');
    const dropped = new Set(finished.slice(0, Math.max(0, finished.length - MAX_FINISHED)));
    this.#answers = answers.filter((answer) => !dropped.has(answer));
    for (const listener of this.#listeners) listener();
  }

  #stopTimer(ref: string): void {
    clearTimeout(this.#timers.get(ref));
    this.#timers.delete(ref);
  }
}

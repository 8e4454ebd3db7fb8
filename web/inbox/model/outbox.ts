/**
 * Answers on their way. Each is held for a while, in which it can be taken back, and then sent until there is a verdict;
 * those of one decision are held and sent together. One answer of a call is under way at a time, under one request id,
 * so no repeat counts twice. Pure but for its timers.
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
  /** The same for the answers of one decision. */
  readonly group: string;
  readonly state: 'held' | 'sending' | 'done' | 'failed';
  /** Milliseconds since 1970: when it is sent, or was. */
  readonly sendAt: number;
  /** Present when `done`. */
  readonly verdict?: Verdict;
  /** Present when `failed`: there was no verdict. */
  readonly problem?: Problem;
}

export type Result = { readonly verdict: Verdict } | { readonly problem: Problem };

export interface OutboxOptions {
  /**
   * Sends at most `MAX_SENT` answers until there are results, in their order. `isKept`: the page is being left, so the
   * request has to outlive it.
   */
  readonly send: (
    answers: readonly OutgoingAnswer[],
    isKept: boolean,
  ) => Promise<readonly Result[]>;
  /** The problem of what `send` threw. */
  readonly problemOf: (error: unknown) => Problem;
  readonly newId: () => string;
  readonly now?: () => number;
}

export const HOLD_MS = 5_000;
/** Closer to its deadline, an answer is sent at once. */
export const URGENT_MS = 30_000;
/** The most answers of one request. */
export const MAX_SENT = 100;
/** Browsers let requests of 64 KiB in all outlive their page. */
const MAX_KEPT_BYTES = 60_000;
/** Finished answers that are kept for display. */
const MAX_FINISHED = 1_000;

export class Outbox {
  readonly #options: OutboxOptions;
  readonly #now: () => number;
  readonly #listeners = new Set<() => void>();
  /** By group. */
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

  /** Whether an answer of the call is held or being sent: it takes no other one. */
  isBusy(ref: string): boolean {
    const state = this.of(ref)?.state;
    return state === 'held' || state === 'sending';
  }

  /** Answers of calls that are busy are left out. Returns the number of the others. */
  hold(answers: readonly Answer[]): number {
    const taken = answers.filter(({ ref }) => !this.isBusy(ref));
    if (taken.length === 0) return 0;
    const now = this.#now();
    const group = this.#options.newId();
    const held = taken.map((answer): OutgoingAnswer => {
      const isUrgent = Date.parse(answer.deadline) - now < URGENT_MS;
      const requestId = taken.length === 1 ? group : this.#options.newId();
      const sendAt = isUrgent ? now : now + HOLD_MS;
      return { ...answer, requestId, group, state: 'held', sendAt };
    });
    const refs = new Set(held.map(({ ref }) => ref));
    this.#set([...this.#answers.filter(({ ref }) => !refs.has(ref)), ...held]);
    this.#send(held.filter(({ sendAt }) => sendAt <= now));
    if (held.some(({ sendAt }) => sendAt > now))
      this.#timers.set(
        group,
        setTimeout(() => this.sendGroup(group), HOLD_MS),
      );
    return held.length;
  }

  /** Takes the held answers of the group back. Returns their number: nothing takes back what has been sent. */
  undo(group: string): number {
    const kept = this.#answers.filter((answer) => !isHeld(answer, group));
    const count = this.#answers.length - kept.length;
    if (count === 0) return 0;
    this.#stopTimer(group);
    this.#set(kept);
    return count;
  }

  /** Sends the held answers of the group. */
  sendGroup(group: string): void {
    this.#stopTimer(group);
    this.#send(this.#answers.filter((answer) => isHeld(answer, group)));
  }

  /** Sends answers that are held, or that failed, once more under their request ids. */
  sendNow(refs: ReadonlySet<string>): void {
    this.#send(
      this.#answers.filter(
        ({ ref, state }) => refs.has(ref) && (state === 'held' || state === 'failed'),
      ),
    );
  }

  /** For a page that is hidden, which a phone may end without another event: sends what is held. */
  hide(): void {
    this.#sendKept(['held']);
  }

  /** For a page that is being left: sends what is held, and repeats what has no verdict yet. */
  leave(): void {
    this.#sendKept(['held', 'sending']);
  }

  /** Whether leaving the page may lose an answer: one that may be under way, or more than outlives a page. */
  get isAtRisk(): boolean {
    const held = this.#answers.filter(({ state }) => state === 'held');
    return this.#answers.some(({ state }) => state === 'sending') || bytesOf(held) > MAX_KEPT_BYTES;
  }

  /** Takes finished answers of the group from the display. */
  dismiss(group: string): void {
    const isShown = (answer: OutgoingAnswer): boolean =>
      answer.group !== group || answer.state === 'held' || answer.state === 'sending';
    if (!this.#answers.every(isShown)) this.#set(this.#answers.filter(isShown));
  }

  #sendKept(states: readonly OutgoingAnswer['state'][]): void {
    for (const group of this.#timers.keys()) this.#stopTimer(group);
    let left = MAX_KEPT_BYTES;
    for (const part of parts(this.#answers.filter(({ state }) => states.includes(state)))) {
      left -= bytesOf(part);
      void this.#sendPart(part, left >= 0);
    }
  }

  #send(answers: readonly OutgoingAnswer[]): void {
    for (const part of parts(answers)) void this.#sendPart(part, false);
  }

  async #sendPart(answers: readonly OutgoingAnswer[], isKept: boolean): Promise<void> {
    const sendAt = this.#now();
    const sent = answers.map((answer) => ({ ...answer, state: 'sending' as const, sendAt }));
    this.#put(sent);
    try {
      const results = await this.#options.send(sent, isKept);
      this.#put(sent.map((answer, index) => finished(answer, results[index])));
    } catch (error) {
      const problem = this.#options.problemOf(error);
      this.#put(sent.map((answer) => finished(answer, { problem })));
    }
  }

  /** Replaces the answers with the same request ids: an answer that has a verdict keeps it. */
  #put(answers: readonly OutgoingAnswer[]): void {
    const byId = new Map(answers.map((answer) => [answer.requestId, answer]));
    this.#set(
      this.#answers.map((before) =>
        before.state === 'done' ? before : (byId.get(before.requestId) ?? before),
      ),
    );
  }

  #set(answers: readonly OutgoingAnswer[]): void {
    const done = answers.filter(({ state }) => state === 'done');
    const dropped = new Set(done.slice(0, Math.max(0, done.length - MAX_FINISHED)));
    this.#answers = dropped.size === 0 ? answers : answers.filter((one) => !dropped.has(one));
    for (const listener of this.#listeners) listener();
  }

  #stopTimer(group: string): void {
    clearTimeout(this.#timers.get(group));
    this.#timers.delete(group);
  }
}

const NO_RESULT: Problem = { status: 0, code: 'unreachable', detail: 'The API gave no result' };

function finished(answer: OutgoingAnswer, result: Result = { problem: NO_RESULT }): OutgoingAnswer {
  return 'verdict' in result
    ? { ...answer, state: 'done', verdict: result.verdict }
    : { ...answer, state: 'failed', problem: result.problem };
}

function isHeld(answer: OutgoingAnswer, group: string): boolean {
  return answer.group === group && answer.state === 'held';
}

function parts(answers: readonly OutgoingAnswer[]): readonly (readonly OutgoingAnswer[])[] {
  const count = Math.ceil(answers.length / MAX_SENT);
  return Array.from({ length: count }, (_, index) =>
    answers.slice(index * MAX_SENT, (index + 1) * MAX_SENT),
  );
}

function bytesOf(answers: readonly OutgoingAnswer[]): number {
  return new TextEncoder().encode(answers.length === 0 ? '' : JSON.stringify(answers)).length;
}

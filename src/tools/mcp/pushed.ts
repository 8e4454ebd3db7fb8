/**
 * Questions that an older server asks in the middle of a call. Three modes: `ask` gives the call up, asks the question,
 * and makes the call again from its start, so the server's work before the question runs twice; `hold` keeps the call
 * open in this worker until there is an answer, so it is lost with its worker; `cancel` answers the server with a
 * cancellation. Runs in the worker.
 */
import { isRecord } from '../../protocol/values/json.js';
import type { OpenCall, PushAnswer } from './session/connection.js';
import {
  type ElicitAnswer,
  type ElicitRequest,
  pushedKey,
  requestOf,
} from './session/questions.js';

const CANCEL = { action: 'cancel' } as const;

export type PushMode = 'ask' | 'hold' | 'cancel';

export class PushedQuestions implements OpenCall {
  readonly mode: PushMode;
  readonly #answers: ReadonlyMap<string, ElicitAnswer>;
  readonly #stop = new AbortController();
  readonly #unasked: string[] = [];
  #place = 0;
  #open: readonly [key: string, request: ElicitRequest] | undefined;
  /** Resolves the server's request, which waits with its call open. */
  #settle: ((answer: ElicitAnswer | typeof CANCEL) => void) | undefined;
  #tellAsked: () => void = () => undefined;
  #asked: Promise<void>;

  constructor(answers: ReadonlyMap<string, ElicitAnswer>, mode: PushMode) {
    this.#answers = answers;
    this.mode = mode;
    this.#asked = this.#nextQuestion();
  }

  /** Fires when the call is given up for a question. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** The question that the call was given up for, or waits with. */
  get open(): readonly [key: string, request: ElicitRequest] | undefined {
    return this.#open;
  }

  /** Resolves when the server waits for an answer, with its call open. */
  get asked(): Promise<void> {
    return this.#asked;
  }

  /** True while the server waits for an answer: other questions that it asks meanwhile do not belong to this call. */
  get isWaiting(): boolean {
    return this.#settle !== undefined;
  }

  /** Questions that were never asked, in the server's words. */
  get unasked(): readonly string[] {
    return this.#unasked;
  }

  push(params: unknown): PushAnswer | Promise<PushAnswer> {
    const request = requestOf(params);
    if (this.#open !== undefined) return this.mode === 'ask' ? 'later' : this.#cancelled(params);
    if ('problem' in request) return this.#cancelled(params);
    this.#place += 1;
    const key = pushedKey(this.#place, request);
    const answer = this.#answers.get(key);
    if (answer !== undefined) return answer;
    if (this.mode === 'cancel') return this.#cancelled(params);
    this.#open = [key, request];
    if (this.mode === 'hold') {
      const settled = new Promise<PushAnswer>((resolve) => {
        this.#settle = resolve;
      });
      this.#tellAsked();
      return settled;
    }
    this.#stop.abort(new Error('the call waits for an answer'));
    return 'later';
  }

  /** Gives the server its answer; its call continues, and may ask again. */
  settle(answer: ElicitAnswer): void {
    this.#end(answer);
  }

  /** Cancels the open question, for the server and for the model. */
  giveUp(): void {
    if (this.#open === undefined) return;
    this.#unasked.push(wordsOf(this.#open[1].message));
    this.#end(CANCEL);
  }

  #end(answer: ElicitAnswer | typeof CANCEL): void {
    const settle = this.#settle;
    this.#settle = undefined;
    this.#open = undefined;
    this.#asked = this.#nextQuestion();
    settle?.(answer);
  }

  #nextQuestion(): Promise<void> {
    return new Promise((resolve) => {
      this.#tellAsked = resolve;
    });
  }

  #cancelled(params: unknown): PushAnswer {
    this.#unasked.push(wordsOf(isRecord(params) ? params['message'] : undefined));
    return CANCEL;
  }
}

function wordsOf(message: unknown): string {
  return typeof message === 'string' && message !== '' ? message : 'no words given';
}

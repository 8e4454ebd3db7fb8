/**
 * What an older server asks in the middle of a call. Nobody can be asked while a call is held open for days, so the call is given up,
 * the question is asked, and the call is made again: the same questions, in the same order, then have their answers. That runs the
 * server's work before the question twice, so it is done only where the tool allows for that. Runs in the worker.
 */
import { isRecord } from '../../protocol/json.js';
import type { OpenCall, PushAnswer } from './connection.js';
import { type ElicitAnswer, type ElicitRequest, pushedKey, requestOf } from './questions.js';

const CANCEL: PushAnswer = { action: 'cancel' };

export class PushedQuestions implements OpenCall {
  readonly #answers: ReadonlyMap<string, ElicitAnswer>;
  readonly #mayAsk: boolean;
  readonly #stop = new AbortController();
  readonly #unasked: string[] = [];
  #place = 0;
  #open: readonly [key: string, request: ElicitRequest] | undefined;

  constructor(answers: ReadonlyMap<string, ElicitAnswer>, mayAsk: boolean) {
    this.#answers = answers;
    this.#mayAsk = mayAsk;
  }

  /** Fires when the call is given up for a question. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** The question that the call was given up for. */
  get open(): readonly [key: string, request: ElicitRequest] | undefined {
    return this.#open;
  }

  /** Questions that nobody was asked, in the server's words. */
  get unasked(): readonly string[] {
    return this.#unasked;
  }

  push(params: unknown): PushAnswer {
    const request = requestOf(params);
    if (this.#open !== undefined) return 'later';
    if ('problem' in request) return this.#cancelled(params);
    this.#place += 1;
    const key = pushedKey(this.#place, request);
    const answer = this.#answers.get(key);
    if (answer !== undefined) return answer;
    if (!this.#mayAsk) return this.#cancelled(params);
    this.#open = [key, request];
    this.#stop.abort(new Error('the call waits for an answer'));
    return 'later';
  }

  #cancelled(params: unknown): PushAnswer {
    const message = isRecord(params) ? params['message'] : undefined;
    this.#unasked.push(typeof message === 'string' && message !== '' ? message : 'no words given');
    return CANCEL;
  }
}

/**
 * The model for tests and demonstrations without a key: it returns the answers of a script. `script(...)` returns them
 * one after the other; `scriptedBy(...)` computes each from the request alone, so that it survives the death of its
 * worker.
 */

import { FAILURES } from '../../protocol/failures/failures.js';
import type {
  AbortSignalLike,
  Model,
  ModelCallOptions,
  ModelPrices,
  ModelRequest,
  ModelResponse,
} from '../../protocol/model/model.js';
import type { Json } from '../../protocol/values/json.js';
import type { ModelFailureCode } from '../shared/failure.js';
import { ModelFailure } from '../shared/failure.js';
import { throwIfAborted } from '../shared/stream-watch.js';
import { played } from './play.js';
import type { ScriptedAnswer, ScriptedCall, ScriptedProviderCall } from './types.js';

/** The model answers with a text and ends its turn. */
export function says(text: string): ScriptedAnswer {
  return { type: 'answer', text };
}

/** The model requests one call. */
export function calls(
  name: string,
  input: Json,
  options: { readonly id?: string } = {},
): ScriptedAnswer {
  return callsAll([{ name, input, ...options }]);
}

/** The model requests several calls in one step, after a text if one is given. */
export function callsAll(scripted: readonly ScriptedCall[], text?: string): ScriptedAnswer {
  return { type: 'answer', calls: scripted, ...(text === undefined ? {} : { text }) };
}

/** The provider runs a tool of its own, and the model answers with a text: one answer, without work for the engine. */
export function saysAfter(
  call: ScriptedProviderCall | readonly ScriptedProviderCall[],
  text: string,
): ScriptedAnswer {
  return { type: 'answer', providerCalls: [call].flat(), text };
}

/** The model call fails. By default the failure table decides whether it is retried. */
export function fails(
  code: ModelFailureCode,
  options: { readonly retryable?: boolean; readonly retryAfterMs?: number } = {},
): ScriptedAnswer {
  return { type: 'failure', code, retryable: FAILURES[code].retryable, ...options };
}

const HANG_LISTENERS = new WeakMap<AbortSignalLike, () => void>();

/**
 * Sets a listener for when the call with this signal reaches `hangs()`, so that a test driver need not wait for the
 * call.
 */
export function onHang(signal: AbortSignalLike, listener: () => void): void {
  HANG_LISTENERS.set(signal, listener);
}

/** The model never answers; the call ends when it is aborted. */
export function hangs(): ScriptedAnswer {
  return { type: 'hang' };
}

/** The answer is computed from the request, in its turn of the script. */
export function responds(answer: (request: ModelRequest) => ScriptedAnswer): ScriptedAnswer {
  return { type: 'computed', answer };
}

/**
 * A model that returns these answers in order, one per call (a retry is a call), and then fails with
 * `script_exhausted`.
 */
export function script(...answers: readonly ScriptedAnswer[]): ScriptedModel {
  return new ScriptedModel(answers);
}

/**
 * A model that computes every answer from the request. With a pure function of the transcript, neither the process nor
 * the number of calls matters.
 */
export function scriptedBy(answer: (request: ModelRequest) => ScriptedAnswer): ScriptedModel {
  return new ScriptedModel([], responds(answer));
}

export class ScriptedModel implements Model {
  readonly name = 'scripted';
  readonly prices?: ModelPrices;
  readonly contextTokens?: number;
  readonly #answers: ScriptedAnswer[];
  readonly #otherwise: ScriptedAnswer | undefined;
  readonly #requests: ModelRequest[] = [];

  /** `otherwise` answers whenever the answers are used up. */
  constructor(
    answers: readonly ScriptedAnswer[],
    otherwise?: ScriptedAnswer,
    options: { readonly prices?: ModelPrices; readonly contextTokens?: number } = {},
  ) {
    this.#answers = [...answers];
    this.#otherwise = otherwise;
    if (options.prices !== undefined) this.prices = options.prices;
    if (options.contextTokens !== undefined) this.contextTokens = options.contextTokens;
  }

  /** A script can play any provider tool. */
  providerToolProblem(): undefined {
    return undefined;
  }

  /** Every request so far, oldest first: frozen copies, as they were when they came. */
  get requests(): readonly ModelRequest[] {
    return this.#requests;
  }

  /** @throws ModelFailure as scripted; `script_exhausted` when no answer is left */
  async generate(request: ModelRequest, options: ModelCallOptions): Promise<ModelResponse> {
    this.#requests.push(deepFreeze(structuredClone(request)));
    throwIfAborted(options.signal);
    const answer = resolved(this.#answers.shift() ?? this.#otherwise, request);
    if (answer.type === 'hang') {
      HANG_LISTENERS.get(options.signal)?.();
      return untilAborted(options.signal);
    }
    if (answer.type === 'failure') throw failureOf(answer);
    return await played(answer, request, options);
  }

  /** @throws Error that names the unused answers */
  assertFinished(): void {
    if (this.#answers.length === 0) return;
    const left = this.#answers.map(describe).join(', ');
    throw new Error(`The script has ${this.#answers.length} unused answers: ${left}`);
  }
}

type FailedAnswer = Extract<ScriptedAnswer, { type: 'failure' }>;

function resolved(
  answer: ScriptedAnswer | undefined,
  request: ModelRequest,
): Exclude<ScriptedAnswer, { type: 'computed' }> {
  let current = answer;
  while (current?.type === 'computed') current = current.answer(request);
  if (current !== undefined) return current;
  throw new ModelFailure('script_exhausted', 'The scripted model has no answer left', {
    retryable: false,
  });
}

function failureOf({ code, retryable, retryAfterMs }: FailedAnswer): ModelFailure {
  const message = `${FAILURES[code].title} (scripted)`;
  return new ModelFailure(code, message, { retryable, retryAfterMs });
}

async function untilAborted(signal: AbortSignalLike): Promise<never> {
  while (true) {
    throwIfAborted(signal);
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', resolve);
    });
  }
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  for (const item of Object.values(value)) deepFreeze(item);
  return Object.freeze(value);
}

function describe(answer: ScriptedAnswer): string {
  switch (answer.type) {
    case 'answer': {
      const asked = (answer.calls ?? []).map(({ name }) => `calls(${name})`);
      const hosted = (answer.providerCalls ?? []).map(({ name }) => `ran(${name})`);
      const text = answer.text === undefined ? [] : [JSON.stringify(answer.text)];
      return [...hosted, ...text, ...asked].join(' + ');
    }
    case 'failure':
      return `fails(${answer.code})`;
    case 'hang':
      return 'hangs()';
    case 'computed':
      return 'responds(...)';
  }
}

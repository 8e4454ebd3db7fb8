/**
 * One call: claim it, run its handler, send the result under the claim until there is a verdict.
 *
 * R1  A handler runs only while its claim is held; its signal aborts when another worker may have the call.
 * R2  Each request has an id that its repeats share, so a lost reply makes neither a second claim nor a second result.
 * R3  A result is sent until the API judges it, unless the API has said that the claim is over.
 */
import type { ToolOffer } from '../protocol/calls/claims.js';
import type { FieldProblem } from '../protocol/values/field-problem.js';
import { cutText } from '../protocol/values/well-formed.js';
import { type Api, messageOf, NoVerdict, type Said, untilVerdict } from './api.js';
import { Lease, type LeaseLoss } from './lease.js';
import type { Settings } from './options.js';
import type { ToolCallContext, ToolWorkerFailure, ToolWorkerFailureKind } from './types.js';

/** Begins the request ids of results, so that a worker recognises a result of its kind. */
const REQUEST = 'tool-worker';
/** Characters of an error that the model reads. */
const MAX_ERROR_CHARS = 1_000;
/** Statuses of results that no repeat makes acceptable. */
const UNFIT: readonly number[] = [400, 413, 415, 422];

export interface CallParts {
  readonly api: Api;
  readonly settings: Settings;
  /** Aborts when the worker stops without a drain. */
  readonly stopped: AbortSignal;
  /** Aborts when the worker claims no further call. */
  readonly draining: AbortSignal;
}

interface Answer {
  readonly requestId: string;
  readonly resolution:
    | { readonly type: 'result'; readonly value: unknown }
    | { readonly type: 'error'; readonly message: string };
}

/** Never rejects. */
export async function runCall(parts: CallParts, offer: ToolOffer): Promise<void> {
  try {
    await new CallRun(parts, offer).run();
  } catch (error) {
    report(parts.settings, 'result_refused', { call: offer, cause: error });
  }
}

class CallRun {
  readonly #parts: CallParts;
  readonly #offer: ToolOffer;
  readonly #lost = new AbortController();
  #loss: LeaseLoss | undefined;

  constructor(parts: CallParts, offer: ToolOffer) {
    this.#parts = parts;
    this.#offer = offer;
  }

  async run(): Promise<void> {
    const lease = await this.#claim();
    if (lease === undefined) return;
    const { stopped } = this.#parts;
    const done = new AbortController();
    try {
      const aborted = abortOf(stopped, done.signal);
      const answer = await Promise.race([this.#answer(lease), aborted]);
      if (answer !== undefined && !stopped.aborted) await this.#send(lease, answer);
    } finally {
      done.abort();
      if (stopped.aborted) await lease.release();
      lease.end();
    }
  }

  /** Undefined if another worker was faster, the call has ended, or the worker stops. */
  async #claim(): Promise<Lease | undefined> {
    const { api, settings, stopped, draining } = this.#parts;
    const offer = this.#offer;
    const { leaseMs } = settings;
    const body = { lease: leaseMs, requestId: `${REQUEST}-claim-${crypto.randomUUID()}` };
    let sentAtMs = 0;
    const send = async (): Promise<Said> => {
      sentAtMs = performance.now();
      // A claim that is under way is not broken off: the API may have taken it.
      return await api.claim(offer, body, stopped);
    };
    let said: Said | undefined;
    try {
      said = await untilVerdict(send, draining);
    } catch (error) {
      this.#report('claim_refused', { cause: error });
      return undefined;
    }
    if (said === undefined) return undefined;
    const { verdict } = said;
    if (verdict === 'forbidden' || verdict === 'invalid')
      this.#report('claim_refused', { cause: refusalOf(said) });
    const claimId = verdict === 'duplicate' ? said.first?.claimId : said.claimId;
    if (claimId === undefined) return undefined;
    return new Lease({ api, offer, leaseMs }, { claimId, sentAtMs }, (loss, why) => {
      this.#loss = loss;
      this.#lost.abort(new Error(why));
    });
  }

  /** Undefined if there is nothing to send: the handler was stopped, or another worker may have the call. */
  async #answer(lease: Lease): Promise<Answer | undefined> {
    const { reverted } = this.#offer;
    const requestId = `${REQUEST}-${lease.claimId}`;
    if (reverted?.requestId.startsWith(REQUEST) === true) {
      // The output was accepted, and a check found later that it breaks a rule: another run would give the same.
      this.#report('invalid_output', { problems: reverted.problems });
      return errorAnswer(requestId, unfitText(reverted.problems));
    }
    const { tools } = this.#parts.settings;
    const handler = tools.get(this.#offer.tool);
    if (handler === undefined) return undefined;
    const signal = AbortSignal.any([this.#lost.signal, this.#parts.stopped]);
    try {
      const value = await handler(this.#offer.input, this.#contextOf(lease, signal));
      if (this.#loss === 'over') return undefined;
      return { requestId, resolution: { type: 'result', value: value ?? null } };
    } catch (error) {
      if (signal.aborted) return undefined;
      this.#report('handler', { cause: error });
      return errorAnswer(requestId, messageOf(error));
    }
  }

  #contextOf(lease: Lease, signal: AbortSignal): ToolCallContext {
    const { ref, agent, attempt, conversationId, deadline, tool, toolCallId, turnId } = this.#offer;
    return {
      ...{ ref, agent, attempt, conversationId, deadline, tool, toolCallId, turnId },
      claimId: lease.claimId,
      idempotencyKey: ref,
      signal,
      progress: (payload) => lease.progress(payload),
    };
  }

  /** Sends the answer, and an error in its place if the API finds it unfit. */
  async #send(lease: Lease, answer: Answer): Promise<void> {
    const problems = await this.#sendOnce(lease, answer);
    if (problems === undefined) return;
    this.#report('invalid_output', { problems });
    if (answer.resolution.type === 'error') return;
    const instead = errorAnswer(`${answer.requestId}-error`, unfitText(problems));
    const unfit = await this.#sendOnce(lease, instead);
    if (unfit !== undefined) this.#report('invalid_output', { problems: unfit });
  }

  /** The problems of an unfit answer; undefined if there is a verdict of any other kind, or the worker stops. */
  async #sendOnce(
    { claimId }: Lease,
    answer: Answer,
  ): Promise<readonly FieldProblem[] | undefined> {
    const { api, stopped } = this.#parts;
    const { argsDigest } = this.#offer;
    const body = { ...answer, claimId, ...(argsDigest === undefined ? {} : { argsDigest }) };
    const problem = jsonProblem(body);
    if (problem !== undefined) return [problem];
    // The API may have said meanwhile that the claim is over: then the answer would be refused, or be a second one.
    const over = new AbortController();
    const onLost = (): void => {
      if (this.#loss === 'over') over.abort();
    };
    this.#lost.signal.addEventListener('abort', onLost);
    const signal = AbortSignal.any([stopped, over.signal]);
    try {
      const said = await untilVerdict(() => api.resolve(this.#offer, body, signal), signal);
      if (said?.verdict === 'invalid') return said.problems ?? [];
      if (said === undefined || TAKEN.includes(said.verdict)) return undefined;
      this.#report('result_refused', { cause: refusalOf(said) });
      return undefined;
    } catch (error) {
      if (error instanceof NoVerdict && UNFIT.includes(error.status))
        return [{ path: '', message: error.message }];
      throw error;
    } finally {
      this.#lost.signal.removeEventListener('abort', onLost);
    }
  }

  #report(
    kind: ToolWorkerFailureKind,
    found: { readonly cause?: unknown; readonly problems?: readonly FieldProblem[] },
  ): void {
    report(this.#parts.settings, kind, { ...found, call: this.#offer });
  }
}

const TAKEN: readonly string[] = ['accepted', 'accepted_late', 'duplicate'];

/** Passes a failure to the application, whose own errors must not end the worker. */
export function report(
  { onError }: Pick<Settings, 'onError'>,
  kind: ToolWorkerFailureKind,
  found: {
    readonly call?: ToolOffer;
    readonly cause?: unknown;
    readonly problems?: readonly FieldProblem[];
  },
): void {
  const { call, cause, problems } = found;
  const place = call === undefined ? '' : ` of ${call.tool} (${call.ref})`;
  const text = problems === undefined ? messageOf(cause) : unfitText(problems);
  const failure: ToolWorkerFailure = Object.assign(
    new Error(`${kind}${place}: ${text}`, cause === undefined ? {} : { cause }),
    {
      kind,
      ...(call === undefined ? {} : { call }),
      ...(problems === undefined ? {} : { problems }),
    },
  );
  try {
    onError(failure);
  } catch {
    // There is no other place to report to.
  }
}

function errorAnswer(requestId: string, message: string): Answer {
  const text = cutText(message, MAX_ERROR_CHARS);
  return { requestId, resolution: { type: 'error', message: text === '' ? 'It failed' : text } };
}

function unfitText(problems: readonly FieldProblem[]): string {
  const all = problems.map(({ path, message }) => `${path} ${message}`.trim()).join('; ');
  return `The output of the tool breaks a rule: ${all}`;
}

function refusalOf({ verdict, why, reason, problems }: Said): Error {
  const details = [
    why,
    reason,
    ...(problems ?? []).map(({ path, message }) => `${path} ${message}`),
  ];
  const known = details.filter((detail) => detail !== undefined);
  return new Error(known.length === 0 ? verdict : `${verdict} (${known.join('; ')})`);
}

/** Why a body cannot be sent as JSON. */
function jsonProblem(body: object): FieldProblem | undefined {
  try {
    JSON.stringify(body);
    return undefined;
  } catch (error) {
    return { path: '/value', message: `is not JSON: ${messageOf(error)}` };
  }
}

/** Resolves with undefined when the signal aborts, and never once it is done: the signal lives as long as the worker. */
async function abortOf(signal: AbortSignal, done: AbortSignal): Promise<undefined> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true, signal: done });
  });
}

/**
 * How the code of a tool asks: the functions of its context, and the outcome at the end of the run. Runs in the worker.
 */
import { questionProblem } from '../../core/input/question.js';
import { audienceOf, checkAudience } from '../../define/checks/audience.js';
import { DefinitionError, ProblemList } from '../../define/checks/problems.js';
import type { Schema } from '../../define/schemas/schema.js';
import { validate } from '../../define/schemas/validate.js';
import { type AskSpec, askFormOf } from '../../define/tool/ask.js';
import type { ToolContext, ToolSignal } from '../../define/tool/context.js';
import { formPatternProblem } from '../../json-schema/judge/patterns.schema.js';
import type { Question } from '../../protocol/calls/questions.js';
import type { ToolResultEnvelope } from '../../protocol/calls/results.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import { MAX_ASK_STATE_BYTES, MAX_WAIT_MS } from '../../protocol/limits/limits.js';
import { MAX_BLOB_BYTES } from '../../protocol/limits/service-limits.js';
import type { Audience } from '../../protocol/values/audience.js';
import { durationMs, durationProblem } from '../../protocol/values/durations.js';
import { type Json, utf8Bytes } from '../../protocol/values/json.js';
import type { AnswerRefused } from '../../protocol/workflow/activities.js';
import { keptState } from '../results/stored-state.js';
import { messageOf } from '../shared/message-of.js';
import { toJson } from '../shared/normalise.js';
import type { TimedEnd } from './timed.js';
import type { ToolRun } from './tool-run.js';

/**
 * Ends the run of a tool that has asked, or has rejected an answer. This is not a failure: code that catches it must
 * rethrow it.
 */
class RunEnds extends Error {
  override readonly name = 'ToolAsks';
}

type Wanted =
  /** `state`: as text, if it is too large for the question. */
  | { readonly ask: Question; readonly state?: string | undefined }
  /** The answer to the previous question is rejected. */
  | Refused;

type Refused = Pick<AnswerRefused, 'refused' | 'form' | 'byCode'>;

type Outcome = { readonly ask: Question } | Refused | { readonly envelope: ToolResultEnvelope };

/** The asking part of one run's context. */
export class Asking {
  readonly #run: ToolRun;
  #wanted: { readonly what: Wanted; readonly signal: RunEnds } | undefined;
  #isTwice = false;

  constructor(run: ToolRun) {
    this.#run = run;
  }

  contextWith(signal: ToolSignal): ToolContext<never> {
    return {
      ...this.#run.ctx,
      signal,
      ask: (question) => this.#ask(question),
      answerTo: (form) => this.#answerTo(form) as never,
    };
  }

  /**
   * The outcome that replaces a result, or undefined when the run has asked nothing. A run that timed out has not
   * asked.
   */
  async outcomeOf(end: TimedEnd): Promise<Outcome | undefined> {
    const wanted = this.#wanted;
    if (wanted === undefined || end.end === 'timeout') return undefined;
    const { ctx } = this.#run;
    const fault = this.#faultOf(end, wanted.signal);
    if (fault === undefined) return await this.#carriedOut(wanted.what);
    ctx.logger.error('tool asked, but its code kept that from being carried out', { fault });
    return failed(fault);
  }

  async #carriedOut(what: Wanted): Promise<Outcome> {
    if ('refused' in what) return what;
    const { ask, state } = what;
    if (state === undefined) return { ask };
    const kept = await keptState(state, this.#run.large);
    return kept === undefined
      ? failed(TEXTS.askStateNotStored(this.#run.tool.name))
      : { ask: { ...ask, state: kept } };
  }

  #faultOf(end: TimedEnd, signal: RunEnds): string | undefined {
    const { name } = this.#run.tool;
    if (this.#isTwice) return TEXTS.askTwice(name);
    if (end.end === 'returned') return TEXTS.askSwallowed(name);
    if (end.end === 'threw' && end.error !== signal)
      return TEXTS.askLost(name, messageOf(end.error));
    return undefined;
  }

  #ask(spec: AskSpec): never {
    // A tool of the application can keep its state small.
    const mayStore = this.#run.tool.mcp !== undefined && this.#run.large !== undefined;
    return this.#end(questionOf(spec, mayStore), 'the tool has asked a question');
  }

  async #answerTo(form: Schema): Promise<unknown> {
    const { answer } = this.#run;
    if (answer === undefined) return undefined;
    const validated = await validate(form, answer.value);
    if (validated.ok) return validated.value;
    const refusal = { refused: validated.problems, ...formNow(form) };
    return this.#end(refusal, 'the form of the tool refused the answer');
  }

  #end(what: Wanted, text: string): never {
    if (this.#wanted === undefined)
      this.#wanted = { what, signal: new RunEnds(`${text}; let this pass`) };
    else this.#isTwice = true;
    throw this.#wanted.signal;
  }
}

/**
 * The form that rejects the answer, for a question that used another one. Empty for a form that cannot be asked.
 */
function formNow(form: Schema): Pick<AnswerRefused, 'form' | 'byCode'> {
  try {
    const { schema, byCode } = askFormOf(form);
    return { form: schema, ...(byCode ? { byCode: true as const } : {}) };
  } catch {
    return {};
  }
}

function failed(message: string): { readonly envelope: ToolResultEnvelope } {
  return { envelope: { ok: false, error: { code: 'tool_error', message } } };
}

/** @throws {TypeError} that names the field and its rule. */
function questionOf(spec: AskSpec, mayStore: boolean): Extract<Wanted, { readonly ask: Question }> {
  const { reason, audience, timeout, onDecline } = spec;
  try {
    const { schema, byCode } = askFormOf(spec.form);
    const state = spec.state === undefined ? undefined : stateOf(spec.state);
    const text = mayStore ? JSON.stringify(state ?? null) : '';
    const isStored = utf8Bytes(text) > MAX_ASK_STATE_BYTES && utf8Bytes(text) <= MAX_BLOB_BYTES;
    const question: Question = {
      form: schema,
      ...(state === undefined || isStored ? {} : { state }),
      ...(reason === undefined ? {} : { reason }),
      ...(audience === undefined ? {} : { audience: checkedAudience(audience) }),
      ...(timeout === undefined ? {} : { timeoutMs: checkedTimeout(timeout) }),
      ...declineOf(onDecline),
      ...(byCode ? { byCode: true as const } : {}),
    };
    const problem = questionProblem(question) ?? formPatternProblem(question.form);
    if (problem === undefined) return { ask: question, state: isStored ? text : undefined };
    throw new TypeError(problem);
  } catch (error) {
    throw new TypeError(`ctx.ask: ${messageOf(error)}`);
  }
}

function stateOf(state: unknown): Json {
  try {
    return toJson(state);
  } catch (error) {
    throw new TypeError(`state cannot be turned into JSON: ${messageOf(error)}`);
  }
}

function checkedAudience(audience: NonNullable<AskSpec['audience']>): Audience {
  const problems = new ProblemList();
  checkAudience(audience, 'audience', problems);
  try {
    problems.throwIfAny('a question');
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    throw new TypeError(error.problems.map(({ field, rule }) => `${field} ${rule}`).join('; '));
  }
  return audienceOf(audience);
}

function checkedTimeout(timeout: NonNullable<AskSpec['timeout']>): number {
  const problem = durationProblem(timeout, { minMs: 1, maxMs: MAX_WAIT_MS });
  if (problem !== undefined) throw new TypeError(`timeout ${problem}`);
  return durationMs(timeout) ?? MAX_WAIT_MS;
}

function declineOf(onDecline: unknown): Pick<Question, 'onDecline'> {
  if (onDecline === undefined || onDecline === 'end') return {};
  if (onDecline === 'enter') return { onDecline };
  throw new TypeError('onDecline must be "end" or "enter"');
}

/**
 * Final answers that must match a form: requested, parsed, validated, and requested once more if they do not. Runs in
 * the worker, and in tests of users.
 */
import { addUsage } from '../../core/state/usage.js';
import { type AnswerForm, answerFormOf } from '../../define/agent/output.js';
import type { AnyAgent } from '../../define/define-agent.js';
import { problemText, validate } from '../../define/schemas/validate.js';
import { withoutAbsentNulls } from '../../json-schema/absent-nulls.js';
import { patternProblems } from '../../json-schema/judge/patterns.schema.js';
import type { ModelContext } from '../../protocol/conversation/context.js';
import { type Message, textOf } from '../../protocol/conversation/messages.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import { MAX_ANSWER_BYTES, MAX_ANSWER_DEPTH } from '../../protocol/limits/limits.js';
import type { ModelRequest, ModelResponse } from '../../protocol/model/model.js';
import {
  isBoundedJson,
  isRecord,
  type Json,
  type JsonSchema,
  utf8Bytes,
} from '../../protocol/values/json.js';
import { toWireName } from '../../protocol/values/tool-names.js';
import { toJson } from '../shared/normalise.js';
import {
  type AskModel,
  askInContext,
  type Counting,
  type GivenContext,
  type ModelQuestion,
  tokensOf,
} from './model-context.js';

interface OutputQuestion {
  readonly form: AnswerForm | undefined;
  readonly response: ModelResponse;
  /** The context of the first request. */
  readonly given: GivenContext;
  readonly counting: Counting;
  /** Sends the second request. */
  readonly ask: AskModel;
}

/** The accepted answer; of two, the second, with the usage of both. */
interface SettledAnswer {
  readonly response: ModelResponse;
  /**
   * The value after defaults and transforms. Absent for answers that need no form, and for those that are not final.
   */
  readonly output?: Json;
  /** Why the answer does not match the form, also after a retry. */
  readonly outputProblem?: string;
}

/** A question whose answer may have to match a form. */
export interface FormQuestion extends ModelQuestion {
  readonly form: AnswerForm | undefined;
  /** Requests the answer again when it did not match its form. */
  readonly askAgain: AskModel;
  /** Checks the first answer before it is validated; its error ends the call. */
  readonly inspect?: (response: ModelResponse) => void;
}

export type FormAnswer =
  | (SettledAnswer & { readonly context: ModelContext })
  | { readonly tooLong: string };

/**
 * Calls a model in its context (`askInContext`), and settles the form of its answer. @throws errors of `ask` and `look`
 */
export async function askInForm(question: FormQuestion): Promise<FormAnswer> {
  const { form, counting, askAgain } = question;
  let given: GivenContext = { messages: [], stable: 0, tokens: 0 };
  const answer = await askInContext({
    ...question,
    ask: (context) => {
      given = context;
      return question.ask(context);
    },
  });
  if ('tooLong' in answer) return answer;
  const { response, context } = answer;
  question.inspect?.(response);
  const settled = await settleOutput({ form, response, given, counting, ask: askAgain });
  return { ...settled, context };
}

/** The form of a message replaces that of its agent; `false` requests a text. */
export function outputFormOf(
  agent: AnyAgent,
  given: JsonSchema | false | undefined,
): AnswerForm | undefined {
  if (given === false) return undefined;
  return given === undefined ? agent.output : answerFormOf({ jsonSchema: given });
}

/**
 * Why no answer can be checked by the form that a message requests, with the path of the fault. Undefined when the form
 * is usable.
 */
export function unusableForm(given: JsonSchema | false | undefined): string | undefined {
  const [fault] = isRecord(given) ? patternProblems(given) : [];
  return fault === undefined ? undefined : `/output${fault.path}: ${fault.rule}`;
}

/** The form as the model port takes it. */
export function requestedOutput(
  agent: AnyAgent,
  form: AnswerForm | undefined,
): Pick<ModelRequest, 'output'> {
  if (form === undefined) return {};
  const { jsonSchema, strictSchema } = form;
  const name = `${toWireName(agent.name)
    .replaceAll(/[^A-Za-z0-9_-]/g, '_')
    .slice(0, 57)}_output`;
  return {
    output: { name, schema: strictSchema ?? jsonSchema, strict: strictSchema !== undefined },
  };
}

/** The form of results of tools, as the model port takes it. */
export function resultFormOf({ resultForm }: AnyAgent): Pick<ModelRequest, 'bareResults'> {
  return resultForm === 'bare' ? { bareResults: true } : {};
}

/**
 * Validates a final answer, and requests it once more, with the problems, if it does not match. @throws errors of `ask`
 */
async function settleOutput(question: OutputQuestion): Promise<SettledAnswer> {
  const { form, response, given, counting, ask } = question;
  if (form === undefined || !isFinal(response)) return { response };
  if (response.finishReason === 'refusal')
    return { response, outputProblem: `it declined: ${textOf(response.parts)}` };
  const first = await judge(form, response);
  if (first.ok) return { response, output: first.output };
  const added = correction(given.messages, response, first.problem);
  const addedTokens = added.reduce((sum, message) => sum + tokensOf(message, counting.rough), 0);
  const messages = [...given.messages, ...added];
  const again = await ask({ ...given, messages, tokens: given.tokens + addedTokens });
  const both = { ...again, usage: addUsage(response.usage, again.usage) };
  if (!isFinal(again)) return { response: both };
  const second = await judge(form, again);
  return second.ok
    ? { response: both, output: second.output }
    : { response: both, outputProblem: second.problem };
}

/** An answer with calls is not final: its text is not the last word. */
function isFinal({ calls }: ModelResponse): boolean {
  return calls.length === 0;
}

type Judged =
  | { readonly ok: true; readonly output: Json }
  | { readonly ok: false; readonly problem: string };

async function judge(form: AnswerForm, response: ModelResponse): Promise<Judged> {
  const parsed = parse(textOf(response.parts));
  if (parsed === undefined) return { ok: false, problem: 'it is not JSON' };
  if (!isBoundedJson(parsed, MAX_ANSWER_DEPTH))
    return { ok: false, problem: `it is nested deeper than ${MAX_ANSWER_DEPTH} levels` };
  const validated = await validate(form.schema, withoutAbsentNulls(form.jsonSchema, parsed));
  if (!validated.ok) return { ok: false, problem: problemText(validated.problems) };
  try {
    const output = toJson(validated.value);
    const bytes = utf8Bytes(JSON.stringify(output));
    return bytes > MAX_ANSWER_BYTES
      ? { ok: false, problem: `it has ${bytes} bytes; at most ${MAX_ANSWER_BYTES}` }
      : { ok: true, output };
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Undefined for a text that is not JSON. Models that are only prompted for JSON often put it into a code block. */
function parse(text: string): unknown {
  try {
    return JSON.parse(unfenced(text.trim())) as unknown;
  } catch {
    return undefined;
  }
}

/** By hand: a regular expression that finds the last fence takes time square to the number of blank lines before it. */
function unfenced(text: string): string {
  const [opening = ''] = /^```(?:json)?[^\S\n]*\n/.exec(text) ?? [];
  const isFenced = opening !== '' && text.endsWith('```') && text.length >= opening.length + 3;
  return isFenced ? text.slice(opening.length, -3) : text;
}

/** The rejected answer and its problems; neither enters the transcript. */
function correction(
  messages: readonly Message[],
  { parts }: ModelResponse,
  problem: string,
): readonly Message[] {
  const turnId = messages.at(-1)?.turnId ?? '';
  const said = textOf(parts) === '' ? [] : parts;
  return [
    ...(said.length === 0
      ? []
      : [{ role: 'assistant' as const, id: 'output.1', turnId, step: 0, parts: said }]),
    {
      role: 'user',
      id: 'output.2',
      turnId,
      parts: [{ type: 'text', text: TEXTS.repairOutput(problem) }],
    },
  ];
}

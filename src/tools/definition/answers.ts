/**
 * Checks an accepted answer in ways that the workflow cannot: the whole schema, patterns, refinements and transforms.
 * Runs in the worker.
 */
import type { Schema } from '../../define/schemas/schema.js';
import { validate } from '../../define/schemas/validate.js';
import type { AnyTool } from '../../define/tool/types.js';
import type { ToolResultError } from '../../protocol/calls/results.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import { MAX_ANSWER_BYTES } from '../../protocol/limits/limits.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import { type Json, type JsonSchema, utf8Bytes } from '../../protocol/values/json.js';
import type { CheckAnswerResult } from '../../protocol/workflow/activities.js';
import { toJson } from '../shared/normalise.js';
import { offerOf } from './check.js';
import { definitionOf } from './digest.js';

/**
 * Judges the answer of a person or client by the tool's `output` schema and returns the future result: after defaults
 * and transforms, without keys that the schema does not know. When the definition differs from the one that the call
 * was offered with, a rejection also contains the new offer. Has no effects. Never throws.
 */
export async function checkAnswer(answer: {
  readonly tool: AnyTool;
  readonly value: Json;
  /** Digest of the definition that the call was offered with. */
  readonly answerDefinition?: string | undefined;
}): Promise<CheckAnswerResult> {
  const { tool, value } = answer;
  const offer = offerOf(tool);
  if (offer === undefined) return { ok: false, ended: goneTool(tool.name) };
  const { output } = tool;
  const outcome = output === undefined ? { ok: true as const, value } : await judged(output, value);
  const isSame = isJudgedBy(tool, answer.answerDefinition);
  return outcome.ok || isSame ? outcome : { ...outcome, offer };
}

/** Whether the tool judges answers as it did when the call was offered. An unknown digest counts as unchanged. */
export function isJudgedBy(tool: AnyTool, answerDefinition: string | undefined): boolean {
  return answerDefinition === undefined || definitionOf(tool).answerDefinition === answerDefinition;
}

/** The end of a call whose answer no tool can judge any more. */
export function goneTool(name: string): ToolResultError {
  return { code: 'not_available', message: TEXTS.noLongerAvailable(name) };
}

/** Judges an answer by the form of a question that a tool's code asked. */
export async function checkForm(form: JsonSchema, value: Json): Promise<CheckAnswerResult> {
  return judged({ jsonSchema: form }, value);
}

type Answered =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

async function judged(schema: Schema, given: Json): Promise<Answered> {
  const validated = await validate(schema, given);
  if (!validated.ok) return validated;
  try {
    const value = toJson(validated.value);
    const bytes = utf8Bytes(JSON.stringify(value));
    if (bytes > MAX_ANSWER_BYTES)
      return refused(`has ${bytes} bytes after parsing; at most ${MAX_ANSWER_BYTES}`);
    return { ok: true, value };
  } catch (error) {
    return refused(
      `cannot be turned into JSON: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function refused(message: string): Answered {
  return { ok: false, problems: [{ path: '', message }] };
}

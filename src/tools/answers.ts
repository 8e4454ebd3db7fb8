/** The checks of an accepted answer that the workflow cannot run: the whole schema, patterns, refinements and transforms. Runs in the worker. */
import type { Schema } from '../define/schema.js';
import type { AnyTool } from '../define/tool.js';
import type { CheckAnswerResult } from '../protocol/activities.js';
import { type Json, type JsonSchema, utf8Bytes } from '../protocol/json.js';
import { MAX_ANSWER_BYTES } from '../protocol/limits.js';
import { toJson } from './normalise.js';
import { validate } from './validate.js';

/**
 * Judges the answer of a person or client by the tool's `output` schema and returns what becomes the result: after defaults
 * and transforms, without keys that the schema does not know. Has no effects. Never throws.
 */
export async function checkAnswer(answer: {
  readonly tool: AnyTool;
  readonly value: Json;
}): Promise<CheckAnswerResult> {
  const { output } = answer.tool;
  return output === undefined ? { ok: true, value: answer.value } : judged(output, answer.value);
}

/** The same by the form of a question that a tool's code asked. */
export async function checkForm(form: JsonSchema, value: Json): Promise<CheckAnswerResult> {
  return judged({ jsonSchema: form }, value);
}

async function judged(schema: Schema, given: Json): Promise<CheckAnswerResult> {
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

function refused(message: string): CheckAnswerResult {
  return { ok: false, problems: [{ path: '', message }] };
}

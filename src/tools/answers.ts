/** The checks of an accepted answer that the workflow cannot run: the whole schema, patterns, refinements and transforms. Runs in the worker. */
import type { AnyTool } from '../define/tool.js';
import type { CheckAnswerResult } from '../protocol/activities.js';
import { type Json, utf8Bytes } from '../protocol/json.js';
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
  if (output === undefined) return { ok: true, value: answer.value };
  const validated = await validate(output, answer.value);
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

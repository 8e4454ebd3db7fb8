/** Arguments of a call: the model's text, and its value by the tool's input schema. Runs in the worker. */
import { createHash } from 'node:crypto';
import { problemText, validate } from '../../define/schemas/validate.js';
import type { AnyTool } from '../../define/tool/types.js';
import { withoutAbsentNulls } from '../../json-schema/absent-nulls.js';
import { MAX_ANSWER_DEPTH } from '../../protocol/limits/limits.js';
import { MAX_TOOL_INPUT_BYTES } from '../../protocol/limits/service-limits.js';
import { canonicalJson, isBoundedJson, type Json, utf8Bytes } from '../../protocol/values/json.js';
import { toJson } from './normalise.js';

export type Outcome<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problem: string };

export function parseArguments(text: string): Outcome<unknown> {
  // Some providers send an empty text for a call without arguments.
  if (text.trim() === '') return { ok: true, value: {} };
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) };
  }
}

/** The input that runs: after defaults and transforms, as JSON. Never throws. */
export async function validInput(tool: AnyTool, value: unknown): Promise<Outcome<Json>> {
  if (!isBoundedJson(value, MAX_ANSWER_DEPTH))
    return { ok: false, problem: `nested deeper than ${MAX_ANSWER_DEPTH} levels` };
  // Strict mode has no absent fields, so the model writes null for them.
  const validated = await validate(tool.input, withoutAbsentNulls(tool.inputSchema, value));
  if (!validated.ok) return { ok: false, problem: problemText(validated.problems) };
  try {
    const input = toJson(validated.value);
    const bytes = utf8Bytes(JSON.stringify(input));
    return bytes > MAX_TOOL_INPUT_BYTES
      ? { ok: false, problem: tooLarge(bytes) }
      : { ok: true, value: input };
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Why an input of that size is rejected. */
export function tooLarge(bytes: number): string {
  return `it has ${bytes} bytes; at most ${MAX_TOOL_INPUT_BYTES}`;
}

/**
 * The original arguments of the model or an approver, if the schema changed them: another definition may have to judge
 * them. Arguments that are too large are not kept; then the input replaces them.
 */
export function rawOf(given: Json, input: Json): { readonly raw?: Json } {
  if (canonicalJson(given) === canonicalJson(input)) return {};
  return utf8Bytes(JSON.stringify(given)) > MAX_TOOL_INPUT_BYTES ? {} : { raw: given };
}

/** `sha256:` and 64 hex digits over the canonical JSON: ties an approval to the input that runs. */
export function argsDigest(input: Json): string {
  return `sha256:${createHash('sha256').update(canonicalJson(input)).digest('hex')}`;
}

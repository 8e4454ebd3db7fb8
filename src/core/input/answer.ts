/**
 * The synchronous check of an answer against its JSON Schema, inside the workflow. The check is bounded in size, depth
 * and steps, and leaves out `pattern`: one bad regular expression on one answer would stop every conversation of the
 * worker.
 */

import { schemaProblems } from '../../json-schema/judge/judge.js';
import { relaxedSchema } from '../../json-schema/relaxed.js';
import { MAX_ANSWER_BYTES, MAX_ANSWER_DEPTH } from '../../protocol/limits/limits.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import { isBoundedJson, type JsonSchema, utf8Bytes } from '../../protocol/values/json.js';

/**
 * Problems of a value that a client sent, or an empty list. `path` is a JSON Pointer into the value. A value that takes
 * too many steps to check is refused.
 */
export function answerProblems(
  value: unknown,
  schema: JsonSchema | undefined,
): readonly FieldProblem[] {
  if (value === undefined) return [{ path: '/resolution/value', message: 'is required' }];
  if (!isBoundedJson(value, MAX_ANSWER_DEPTH))
    return [
      {
        path: '/resolution/value',
        message: `must be JSON, nested at most ${MAX_ANSWER_DEPTH} deep`,
      },
    ];
  const bytes = utf8Bytes(JSON.stringify(value));
  if (bytes > MAX_ANSWER_BYTES)
    return [
      {
        path: '/resolution/value',
        message: `must be at most ${MAX_ANSWER_BYTES} bytes, got ${bytes}`,
      },
    ];
  if (schema === undefined) return [];
  // The relaxed copy leaves out keywords that need regular expressions; an activity checks those.
  return schemaProblems(relaxedSchema(schema), value).map(({ path, message }) => ({
    path: `/resolution/value${path}`,
    message,
  }));
}

/**
 * The synchronous check of an answer against its JSON Schema, inside the workflow. Bounded in size, depth and steps, and without
 * `pattern`: one bad regular expression on one answer would stop every conversation of the worker.
 */

import { schemaProblems } from '../../json-schema/judge/judge.js';
import { relaxedSchema } from '../../json-schema/relaxed.js';
import { MAX_ANSWER_BYTES, MAX_ANSWER_DEPTH } from '../../protocol/limits/limits.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import { isBoundedJson, type JsonSchema, utf8Bytes } from '../../protocol/values/json.js';

/**
 * What is wrong with a value that somebody sent, or an empty list. `path` is a JSON Pointer into the value. One that takes too
 * long to check is refused.
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
  // What the relaxed copy leaves out needs regular expressions, and is judged by an activity.
  return schemaProblems(relaxedSchema(schema), value).map(({ path, message }) => ({
    path: `/resolution/value${path}`,
    message,
  }));
}

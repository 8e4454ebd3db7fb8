/**
 * The synchronous check of an answer against its JSON Schema, inside the workflow. Bounded in size and depth, and without
 * `pattern`: one bad regular expression on one answer would stop every conversation of the worker.
 */
import { type OutputUnit, Validator } from '@cfworker/json-schema';
import type { Json, JsonSchema } from '../protocol/json.js';
import { isBoundedJson, utf8Bytes } from '../protocol/json.js';
import { MAX_ANSWER_BYTES, MAX_ANSWER_DEPTH } from '../protocol/limits.js';
import type { FieldProblem } from '../protocol/resolutions.js';
import { isTooMuchWork, TOO_MUCH_WORK } from '../protocol/schema-work.js';

const MAX_REPORTED_PROBLEMS = 20;

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
  if (isTooMuchWork(schema, value)) return [{ path: '/resolution/value', message: TOO_MUCH_WORK }];
  return schemaProblems(value, schema);
}

function schemaProblems(value: Json, schema: JsonSchema): readonly FieldProblem[] {
  const errors = errorsOf(value, schema);
  // The validator reports every level on the way down; the deepest ones name the field.
  const leaves = errors.filter((error) => !OUTER_KEYWORDS.includes(error.keyword));
  return (leaves.length > 0 ? leaves : errors).slice(0, MAX_REPORTED_PROBLEMS).map((error) => ({
    path: `/resolution/value${error.instanceLocation.replace(/^#/, '')}`,
    message: error.error,
  }));
}

/** A schema that the validator trips over (a reference that leads nowhere, or in a circle) takes no answer; it never throws. */
function errorsOf(value: Json, schema: JsonSchema): readonly OutputUnit[] {
  try {
    const { valid, errors } = new Validator(schema, '2020-12', false).validate(value);
    return valid ? [] : errors;
  } catch {
    const error = 'cannot be checked: the schema of the tool is faulty';
    return [{ keyword: 'schema', keywordLocation: '#', instanceLocation: '#', error }];
  }
}

const OUTER_KEYWORDS: readonly string[] = ['properties', 'items', 'allOf', 'prefixItems', '$ref'];

/** The form that the final answer of a turn must have, where a message or its agent asks for one. Runs anywhere; never throws. */
import { jsonSchemaProblems } from './answer-schema.js';
import { isBoundedJson, isRecord, utf8Bytes } from './json.js';
import { MAX_ANSWER_DEPTH, MAX_OUTPUT_SCHEMA_BYTES } from './limits.js';

/** Why something cannot be the JSON Schema of an answer, or undefined. Providers want an object at the top. */
export function outputSchemaProblem(schema: unknown): string | undefined {
  if (!isRecord(schema) || !isBoundedJson(schema, MAX_ANSWER_DEPTH))
    return `must be a JSON Schema, nested at most ${MAX_ANSWER_DEPTH} deep`;
  const bytes = utf8Bytes(JSON.stringify(schema));
  if (bytes > MAX_OUTPUT_SCHEMA_BYTES)
    return `has ${bytes} bytes as JSON Schema; at most ${MAX_OUTPUT_SCHEMA_BYTES}`;
  const [fault] = jsonSchemaProblems(schema);
  if (fault !== undefined) return `${fault.path === '' ? '' : `${fault.path}: `}${fault.rule}`;
  return schema['type'] === 'object' ? undefined : 'must be of type "object" at the top';
}

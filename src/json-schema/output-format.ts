/**
 * The form that the final answer of a turn must have, where a message or its agent asks for one. Runs anywhere; never
 * throws.
 */

import { MAX_ANSWER_DEPTH, MAX_OUTPUT_SCHEMA_BYTES } from '../protocol/limits/limits.js';
import {
  isBoundedJson,
  isRecord,
  type Json,
  type JsonOf,
  type JsonSchema,
  utf8Bytes,
} from '../protocol/values/json.js';
import { jsonSchemaProblems } from './relaxed.js';

/** A schema of any library that converts itself to JSON Schema (`~standard.jsonSchema`), such as zod 4. */
export interface JsonSchemaSource {
  readonly '~standard': {
    readonly jsonSchema: {
      readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>;
    };
  };
}

/** The JSON of an answer in a given form, before a library parses it; any JSON where its type is not known. */
export type AnswerIn<Given> = Given extends {
  readonly '~standard': { readonly types?: { readonly input: infer Input } | undefined };
}
  ? JsonOf<Input>
  : Json;

/** Form of the answer to a message: its JSON Schema, given in one of three ways; or `false` for plain text. */
export type OutputGiven =
  | JsonSchema
  | JsonSchemaSource
  | { readonly jsonSchema: JsonSchema }
  | false;

/**
 * The JSON Schema of the input side, because that is the form that a model has to write. A value that is neither a
 * schema of a library nor made by `jsonSchema()` is returned as it is. @throws the library's error for types that JSON
 * does not have
 */
export function outputSchemaOf(given: OutputGiven): JsonSchema | false {
  if (given === false) return false;
  if (isSource(given)) {
    const { $schema: _, ...schema } = given['~standard'].jsonSchema.input({
      target: 'draft-2020-12',
    });
    return JSON.parse(JSON.stringify(schema)) as JsonSchema;
  }
  return isDeclared(given) ? given.jsonSchema : given;
}

function isSource(given: unknown): given is JsonSchemaSource {
  if ((typeof given !== 'object' && typeof given !== 'function') || given === null) return false;
  const standard = '~standard' in given ? given['~standard'] : undefined;
  return isRecord(standard) && isRecord(standard['jsonSchema']);
}

/** Whether the value was made by `jsonSchema()`. JSON Schema has no keyword of that name. */
function isDeclared(
  given: JsonSchema | { readonly jsonSchema: JsonSchema },
): given is { readonly jsonSchema: JsonSchema } {
  return isRecord(given) && isRecord(given['jsonSchema']) && !('type' in given);
}

/** Why a value cannot be the JSON Schema of an answer, or undefined. Providers require an object at the top. */
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

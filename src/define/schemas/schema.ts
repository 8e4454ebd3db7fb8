/**
 * Schemas of tools: zod types or raw JSON Schema, and their conversions. One declaration has three readers: the model
 * (input side), the workflow (a relaxed copy, see `src/json-schema`) and the worker (the schema itself). Runs anywhere.
 */
import { z } from 'zod';
import { patternProblems } from '../../json-schema/judge/patterns.schema.js';
import { jsonSchemaProblems } from '../../json-schema/relaxed.js';
import { schemaFormProblems } from '../../json-schema/shape.js';
import { isRecord, type JsonSchema } from '../../protocol/values/json.js';
import { dottedPath, textProblems } from '../../protocol/values/well-formed.js';

/** A JSON Schema (draft 2020-12) that reaches the model verbatim. */
export interface RawSchema<Value = unknown> {
  readonly jsonSchema: JsonSchema;
  /** Values are not judged by this schema here, so any pattern is allowed. @defaultValue false */
  readonly judgedElsewhere?: boolean;
  /** Carries the type that the author claims; never present at run time. */
  readonly '~value'?: Value;
}

export type Schema = z.core.$ZodType | RawSchema;

/** Output type of a schema: after defaults and transforms. */
export type ParsedOf<S extends Schema> = S extends z.core.$ZodType
  ? z.output<S>
  : S extends RawSchema<infer Value>
    ? Value
    : never;

/** Input type of a schema: before defaults and transforms. */
export type GivenTo<S extends Schema> = S extends z.core.$ZodType
  ? z.input<S>
  : S extends RawSchema<infer Value>
    ? Value
    : never;

/**
 * Declares a tool's input or output by JSON Schema instead of zod. `Value` is the type that the author claims for it;
 * the compiler cannot check it.
 */
export function jsonSchema<Value = unknown>(schema: JsonSchema): RawSchema<Value> {
  return { jsonSchema: schema };
}

export function isZodSchema(schema: unknown): schema is z.core.$ZodType {
  return isRecord(schema) && isRecord(schema['_zod']) && isRecord(schema['_zod']['def']);
}

/** The reason why a value is no schema at all; undefined when it is one. */
export function schemaProblem(value: unknown): string | undefined {
  if (isZodSchema(value)) return undefined;
  if (isRecord(value) && isRecord(value['jsonSchema'])) return undefined;
  if (isRecord(value) && isRecord(value['_def'])) return 'is a schema of zod 3; zod 4 is needed';
  return 'must be a zod type or jsonSchema({...})';
}

/** A place inside a schema and the rule broken there; `path` is empty for the whole. */
export interface SchemaProblem {
  readonly path: string;
  readonly rule: string;
}

export interface ConvertedSchema {
  readonly jsonSchema: JsonSchema;
  readonly problems: readonly SchemaProblem[];
}

/**
 * The JSON Schema (draft 2020-12) of the input side, which a model or a person has to write. Descriptions and defaults
 * are kept. Types that JSON cannot express are listed as problems. `closed`: plain objects refuse unknown keys. Never
 * throws.
 */
export function inputJsonSchema(
  schema: Schema,
  options: { readonly closed?: boolean } = {},
): ConvertedSchema {
  if (!isZodSchema(schema)) return { jsonSchema: schema.jsonSchema, problems: rawProblems(schema) };
  const problems: SchemaProblem[] = [];
  try {
    const document: unknown = z.toJSONSchema(schema, {
      io: 'input',
      target: 'draft-2020-12',
      unrepresentable: ({ path, message }) => {
        problems.push({ path: pathText(path), rule: `${message}; use a type that JSON has` });
        return 'any';
      },
      override: ({ zodSchema, jsonSchema: document, path }) => {
        const { def } = zodSchema._zod;
        if (options.closed === true && def.type === 'object' && !('catchall' in def))
          document.additionalProperties ??= false;
        if (def.type === 'file')
          problems.push({ path: pathText(path), rule: 'Files cannot be represented in JSON' });
      },
    });
    const plain = plainSchema(document);
    return { jsonSchema: plain, problems: [...problems, ...textFaults(plain)] };
  } catch (error) {
    const rule = error instanceof Error ? error.message : 'cannot be represented in JSON Schema';
    return { jsonSchema: {}, problems: [...problems, { path: '', rule }] };
  }
}

/** The problems of raw JSON Schema, references first, since the others may follow from them. */
function rawProblems({ jsonSchema, judgedElsewhere }: RawSchema): readonly SchemaProblem[] {
  const problems = [...jsonSchemaProblems(jsonSchema)];
  if (problems.length === 0) problems.push(...schemaFormProblems(jsonSchema));
  if (problems.length > 0 || judgedElsewhere === true) return problems;
  return [...patternProblems(jsonSchema), ...textFaults(jsonSchema)];
}

function textFaults(document: JsonSchema): readonly SchemaProblem[] {
  return textProblems(document).map(({ path, message }) => ({
    path: dottedPath(path),
    rule: message,
  }));
}

const HISTORY_CANNOT_HOLD: readonly string[] = [
  'date',
  'bigint',
  'map',
  'set',
  'symbol',
  'function',
  'nan',
];

/**
 * Places where parsing would make a value that history cannot hold, such as a date: the tool's code gets its input from
 * history, so its type would be wrong. The output of transforms cannot be known, and is normalised to JSON.
 */
export function parsedSideProblems(schema: Schema): readonly SchemaProblem[] {
  if (!isZodSchema(schema)) return [];
  const problems: SchemaProblem[] = [];
  try {
    z.toJSONSchema(schema, {
      io: 'output',
      target: 'draft-2020-12',
      unrepresentable: ({ zodSchema, path }) => {
        const { type } = zodSchema._zod.def;
        if (HISTORY_CANNOT_HOLD.includes(type))
          problems.push({
            path: pathText(path),
            rule: `parses to a ${type}, which history cannot hold; keep it as JSON and convert it in run`,
          });
        return 'any';
      },
    });
  } catch {
    // A schema that cannot be converted at all was reported for the input side.
  }
  return problems;
}

/** True for schemas that providers take as a tool's input: an object at the top, not a choice between several. */
export function isObjectSchema(document: JsonSchema): boolean {
  return document['type'] === 'object';
}

function plainSchema(document: unknown): JsonSchema {
  // A copy through JSON drops what zod attaches beside the keywords; `$schema` adds nothing to the target.
  const copy: unknown = JSON.parse(JSON.stringify(document));
  if (!isRecord(copy)) return {};
  const { $schema: _dialect, ...rest } = copy as JsonSchema;
  return rest;
}

/** Text of a path: `['properties', 'a', 'items', 'properties', 'b']` becomes `a[].b`. */
function pathText(path: readonly (string | number)[]): string {
  let text = '';
  for (let index = 0; index < path.length; index += 1) {
    const part = path[index];
    if (part === 'properties' && index + 1 < path.length) {
      index += 1;
      text += `${text === '' ? '' : '.'}${String(path[index])}`;
    } else if (part === 'items') text += '[]';
    else
      text += typeof part === 'number' ? `[${part}]` : `${text === '' ? '' : '.'}${String(part)}`;
  }
  return text;
}

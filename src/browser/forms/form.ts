/**
 * The fields of an answer, from its JSON Schema: for the flat forms of MCP's elicitation, which any page can render.
 * Richer schemas are for an editor of JSON, or a form of the application.
 * @see https://modelcontextprotocol.io/specification - ElicitRequest, PrimitiveSchemaDefinition
 */
import { isRecord, type Json, type JsonSchema } from '../../protocol/values/json.js';

export type Form =
  | {
      readonly type: 'fields';
      readonly title?: string;
      readonly help?: string;
      readonly fields: readonly Field[];
    }
  /** No flat form: the answer is JSON by this schema. */
  | { readonly type: 'json'; readonly schema: JsonSchema };

/** The first six are types of HTML's `input`, by name; `multi-select` is a `select` with several values. */
export type FieldType =
  | 'text'
  | 'email'
  | 'url'
  | 'date'
  | 'number'
  | 'checkbox'
  | 'datetime-local'
  | 'select'
  | 'multi-select';

export interface Field {
  readonly name: string;
  readonly type: FieldType;
  /** The schema's title, or the name. */
  readonly title: string;
  readonly help?: string;
  readonly required: boolean;
  readonly default?: Json;
  /** Of `select` and `multi-select`. */
  readonly options?: readonly Option[];
  /** Of numbers: bounds; of texts: numbers of characters; of `multi-select`: numbers of values. */
  readonly min?: number;
  readonly max?: number;
  /** Only whole numbers. */
  readonly whole?: true;
}

export interface Option {
  readonly value: string | number | boolean;
  readonly title: string;
}

type Schema = Readonly<Record<string, unknown>>;

/** Keywords that a flat form may have at its top, and those of each type of field. Others need the JSON editor. */
const NOTES = ['$schema', 'title', 'description', 'default', 'examples'];
const TOP = [...NOTES, 'type', 'properties', 'required', 'additionalProperties'];
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  // The API judges patterns: a browser's own engine may read them otherwise.
  string: ['minLength', 'maxLength', 'format', 'pattern', 'enum', 'enumNames', 'oneOf', 'const'],
  number: ['minimum', 'maximum', 'enum', 'oneOf', 'const'],
  integer: ['minimum', 'maximum', 'enum', 'oneOf', 'const'],
  boolean: [],
  array: ['items', 'minItems', 'maxItems', 'uniqueItems'],
};
const FORMATS: Readonly<Record<string, FieldType>> = {
  email: 'email',
  uri: 'url',
  url: 'url',
  date: 'date',
  'date-time': 'datetime-local',
};

/** Describes the form of an answer. Never throws: a schema that it does not understand is a form of type `json`. */
export function formOf(schema: JsonSchema): Form {
  const fields = fieldsOf(schema);
  return fields === undefined
    ? { type: 'json', schema }
    : { type: 'fields', ...notesOf(schema), fields };
}

function fieldsOf(schema: Schema): readonly Field[] | undefined {
  const { type, properties, required = [] } = schema;
  if (type !== 'object' || !isRecord(properties) || !hasOnly(schema, TOP)) return undefined;
  if (isRecord(schema['additionalProperties']) || !Array.isArray(required)) return undefined;
  const names = Object.keys(properties);
  if (required.some((name) => !names.includes(name as string))) return undefined;
  const fields = names.flatMap((name) => {
    const field = fieldOf(name, properties[name], required.includes(name));
    return field === undefined ? [] : [field];
  });
  return fields.length === names.length ? fields : undefined;
}

function fieldOf(name: string, schema: unknown, required: boolean): Field | undefined {
  if (!isRecord(schema) || typeof schema['type'] !== 'string') return undefined;
  const { type } = schema;
  const allowed = Object.hasOwn(ALLOWED, type) ? ALLOWED[type] : undefined;
  if (allowed === undefined || !hasOnly(schema, [...NOTES, 'type', ...allowed])) return undefined;
  const kind = type === 'array' ? listKind(schema) : singleKind(schema, type);
  if (kind === undefined) return undefined;
  const { title = name, help } = notesOf(schema);
  const given = schema['default'];
  return {
    ...{ name, title, required, ...kind },
    ...(help === undefined ? {} : { help }),
    ...(given === undefined ? {} : { default: given as Json }),
  };
}

type Kind = Pick<Field, 'type' | 'options' | 'min' | 'max' | 'whole'>;

function singleKind(schema: Schema, type: string): Kind | undefined {
  const isChoice = ['enum', 'oneOf', 'const'].some((keyword) => keyword in schema);
  if (isChoice) {
    const options = optionsOf(schema, 'oneOf');
    return options === undefined ? undefined : { type: 'select', options };
  }
  if (type === 'boolean') return { type: 'checkbox' };
  if (type !== 'string') {
    const bounds = boundsOf(schema, ['minimum', 'maximum']);
    return { type: 'number', ...bounds, ...(type === 'integer' ? { whole: true } : {}) };
  }
  const { format } = schema;
  const known = typeof format === 'string' && Object.hasOwn(FORMATS, format);
  if (format !== undefined && !known) return undefined;
  const kind = known ? FORMATS[format] : 'text';
  return { type: kind ?? 'text', ...boundsOf(schema, ['minLength', 'maxLength']) };
}

function listKind(schema: Schema): Kind | undefined {
  const { items } = schema;
  if (!isRecord(items) || !hasOnly(items, [...NOTES, 'type', 'enum', 'anyOf', 'oneOf']))
    return undefined;
  const options = optionsOf(items, 'anyOf') ?? optionsOf(items, 'oneOf');
  if (options === undefined) return undefined;
  return { type: 'multi-select', options, ...boundsOf(schema, ['minItems', 'maxItems']) };
}

function optionsOf(schema: Schema, titled: 'anyOf' | 'oneOf'): readonly Option[] | undefined {
  const { enumNames } = schema;
  const names: readonly unknown[] = Array.isArray(enumNames) ? enumNames : [];
  const entries: readonly unknown[] | undefined = Array.isArray(schema[titled])
    ? (schema[titled] as readonly unknown[])
    : constants(schema)?.map((value, index) => ({ const: value, title: names[index] }));
  const options = entries?.map((entry) => (isRecord(entry) ? optionOf(entry) : undefined));
  if (options === undefined || options.length === 0 || options.includes(undefined))
    return undefined;
  return options.filter((option) => option !== undefined);
}

function constants(schema: Schema): readonly unknown[] | undefined {
  if ('const' in schema) return [schema['const']];
  return Array.isArray(schema['enum']) ? schema['enum'] : undefined;
}

function optionOf(entry: Schema): Option | undefined {
  const { const: value, title } = entry;
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
    return undefined;
  return { value, title: typeof title === 'string' ? title : String(value) };
}

function boundsOf(
  schema: Schema,
  [least, most]: readonly [string, string],
): Pick<Field, 'min' | 'max'> {
  const [min, max] = [schema[least], schema[most]];
  // The ends of the safe integers are no rule that a person needs to read.
  const isBound = (value: unknown): value is number =>
    typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER;
  return { ...(isBound(min) ? { min } : {}), ...(isBound(max) ? { max } : {}) };
}

function notesOf(schema: Schema): { readonly title?: string; readonly help?: string } {
  const { title, description } = schema;
  return {
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof description === 'string' ? { help: description } : {}),
  };
}

function hasOnly(schema: Schema, keywords: readonly string[]): boolean {
  return Object.keys(schema).every((keyword) => keywords.includes(keyword));
}

/** Samples a value that a JSON Schema admits, for people to edit. Pure. */
import { isRecord } from '../../protocol/values/json.js';

const MAX_DEPTH = 8;

const OF_FORMAT: Readonly<Record<string, string>> = {
  'date-time': '2026-01-31T12:00:00Z',
  date: '2026-01-31',
  time: '12:00:00',
  email: 'somebody@example.com',
  uri: 'https://example.com',
  uuid: '00000000-0000-4000-8000-000000000000',
};

type Schema = Readonly<Record<string, unknown>>;

/** The simplest value for the common forms of schemas; rules beyond those may still refuse it. */
export function sampleValue(schema: unknown, otherwise: unknown): unknown {
  const value = valueIn(schema, schema, 0);
  return value === undefined ? otherwise : value;
}

/** Undefined where the schema does not determine a value. */
function valueIn(root: unknown, given: unknown, depth: number): unknown {
  if (!isRecord(given) || depth > MAX_DEPTH) return undefined;
  const schema = whole(root, given, depth);
  if ('const' in schema) return schema['const'];
  if ('default' in schema) return schema['default'];
  const choices = schema['enum'] ?? schema['examples'];
  if (Array.isArray(choices) && choices.length > 0) return choices[0];
  const below = (inner: unknown): unknown => valueIn(root, inner, depth + 1);
  const branches = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(branches)) return below(branches[0]);
  const type = Array.isArray(schema['type']) ? (schema['type'][0] as unknown) : schema['type'];
  switch (type) {
    case 'object':
      return objectFor(schema, below);
    case 'array':
      return arrayFor(schema, below);
    case 'string':
      return textFor(schema);
    case 'integer':
    case 'number':
      return numberFor(schema);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return undefined;
  }
}

/** The schema merged with its `$ref` and `allOf`. */
function whole(root: unknown, schema: Schema, depth: number): Schema {
  const { $ref, allOf } = schema;
  const parts: unknown[] = Array.isArray(allOf) ? allOf.slice() : [];
  if (typeof $ref === 'string') parts.push(resolved(root, $ref));
  if (parts.length === 0 || depth > MAX_DEPTH) return schema;
  const all = parts.filter(isRecord).map((part) => whole(root, part, depth + 1));
  all.push(schema);
  const merged = Object.assign({}, ...all) as Record<string, unknown>;
  merged['properties'] = Object.assign({}, ...all.map((part) => part['properties']));
  merged['required'] = all.flatMap((part) => part['required'] ?? []);
  return merged;
}

function resolved(root: unknown, ref: string): unknown {
  let at: unknown = root;
  for (const part of ref.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    at = typeof at === 'object' && at !== null ? (at as Schema)[name] : undefined;
  }
  return at;
}

/** An object with the required fields. */
function objectFor(schema: Schema, below: (inner: unknown) => unknown): object {
  const { properties, additionalProperties, required } = schema;
  const known = isRecord(properties) ? properties : {};
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.fromEntries(
    names
      .filter((name) => typeof name === 'string')
      .map((name) => [name, below(known[name] ?? additionalProperties) ?? null]),
  );
}

function arrayFor(schema: Schema, below: (inner: unknown) => unknown): readonly unknown[] {
  const { prefixItems, items, minItems } = schema;
  const first: readonly unknown[] = Array.isArray(prefixItems) ? prefixItems : [];
  const length = Math.max(first.length, Math.min(numberOf(minItems, 0), 100));
  return Array.from({ length }, (_, index) => below(first[index] ?? items) ?? null);
}

function textFor({ format, minLength, maxLength }: Schema): string {
  const text = OF_FORMAT[String(format)] ?? 'an answer';
  const least = Math.min(numberOf(minLength, 0), 1_000);
  return text.padEnd(least, '.').slice(0, numberOf(maxLength, 1_000));
}

function numberFor(schema: Schema): number {
  const step = numberOf(schema['multipleOf'], 1);
  const least = Math.max(
    numberOf(schema['minimum'], 0),
    numberOf(schema['exclusiveMinimum'], -step) + step,
  );
  const value = 'multipleOf' in schema ? Math.ceil(least / step) * step : least;
  const most = numberOf(schema['exclusiveMaximum'], value + step) - step;
  return Math.min(value, numberOf(schema['maximum'], value), most);
}

function numberOf(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

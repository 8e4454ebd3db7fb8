/**
 * Whether an answer that the workflow's schema check took must still pass the worker's. Walks zod definitions by what is
 * known to survive the conversion; everything else counts as not surviving, so a new zod feature is rechecked, never
 * trusted. Runs anywhere.
 */
import { isRecord } from '../protocol/json.js';
import { isRelaxed } from './answer-schema.js';
import { isZodSchema, type Schema } from './schema.js';

/**
 * True when the schema refuses or changes values that its relaxed JSON Schema takes as they are: refinements, transforms,
 * defaults, patterns, formats, and plain `z.object`s, which drop unknown keys - from a client, those could be anything.
 */
export function needsRecheck(schema: Schema): boolean {
  return isZodSchema(schema) ? !isCarried(schema, new Set()) : isRelaxed(schema.jsonSchema);
}

const CARRIED_CHECKS: readonly string[] = [
  'min_length',
  'max_length',
  'length_equals',
  'less_than',
  'greater_than',
  'number_format',
];
/** Formats that become `integer` with bounds. */
const CARRIED_NUMBER_FORMATS: readonly unknown[] = [undefined, 'safeint', 'int32', 'uint32'];

type Def = Readonly<Record<string, unknown>>;

function isCarried(schema: unknown, seen: Set<unknown>): boolean {
  if (seen.has(schema)) return true;
  seen.add(schema);
  const def = defOf(schema);
  if (def === undefined || def['coerce'] === true || !checksAreCarried(def['checks'])) return false;
  const inside = (inner: unknown): boolean => isCarried(inner, seen);
  switch (def['type']) {
    case 'boolean':
    case 'null':
    case 'any':
    case 'unknown':
    case 'never':
    case 'enum':
      return true;
    case 'string':
      return def['format'] === undefined && def['check'] === undefined;
    case 'number':
      return CARRIED_NUMBER_FORMATS.includes(def['format']);
    case 'literal':
      return listIn(def, 'values').every(
        (value) => value !== undefined && typeof value !== 'bigint',
      );
    case 'array':
      return inside(def['element']);
    case 'optional':
    case 'nullable':
    case 'readonly':
      return inside(def['innerType']);
    case 'union':
      return def['inclusive'] !== false && listIn(def, 'options').every(inside);
    case 'object':
      return objectIsCarried(def, inside);
    case 'record':
      return recordIsCarried(def, inside);
    case 'lazy':
      return typeof def['getter'] === 'function' && inside((def['getter'] as () => unknown)());
    default:
      return false;
  }
}

function objectIsCarried(def: Def, inside: (inner: unknown) => boolean): boolean {
  // No catchall means that unknown keys are dropped, which is a change of the value.
  if (def['catchall'] === undefined || !isRecord(def['shape'])) return false;
  return inside(def['catchall']) && Object.values(def['shape']).every(inside);
}

function recordIsCarried(def: Def, inside: (inner: unknown) => boolean): boolean {
  const key = defOf(def['keyType']);
  const anyKey =
    key?.['type'] === 'string' && key['format'] === undefined && key['checks'] === undefined;
  return anyKey && def['mode'] === undefined && inside(def['valueType']);
}

function checksAreCarried(checks: unknown): boolean {
  if (checks === undefined) return true;
  return (
    Array.isArray(checks) &&
    checks.every((check) => {
      const def = defOf(check);
      if (def === undefined || !CARRIED_CHECKS.includes(String(def['check']))) return false;
      return def['check'] !== 'number_format' || CARRIED_NUMBER_FORMATS.includes(def['format']);
    })
  );
}

function defOf(schema: unknown): Def | undefined {
  if (!isRecord(schema)) return undefined;
  const internals = schema['_zod'];
  return isRecord(internals) && isRecord(internals['def']) ? internals['def'] : undefined;
}

function listIn(def: Def, key: string): readonly unknown[] {
  const list = def[key];
  return Array.isArray(list) ? list : [undefined];
}

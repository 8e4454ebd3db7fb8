/**
 * Decides whether an answer that passed the workflow's schema check must also pass the worker's. Walks zod definitions
 * by the features known to survive the conversion; any other counts as not surviving, so that a new zod feature is
 * rechecked, never trusted. Runs anywhere.
 */
import type { z } from 'zod';
import { isLinear } from '../../json-schema/judge/patterns.schema.js';
import { isRelaxed } from '../../json-schema/relaxed.js';
import { isRecord } from '../../protocol/values/json.js';
import { isZodSchema, type Schema } from './schema.js';

/**
 * True when the schema refuses or changes values that its relaxed JSON Schema accepts unchanged: refinements,
 * transforms, defaults, patterns, formats, and plain `z.object`s, which drop unknown keys (a client may send any).
 */
export function needsRecheck(schema: Schema): boolean {
  return isZodSchema(schema)
    ? !isCarried(schema, { seen: new Set(), whole: false, mayBeClosed: false })
    : isRelaxed(schema.jsonSchema);
}

/** True when such a check could only drop keys that the schema does not know. */
export function dropsKeysOnly(schema: Schema): boolean {
  return (
    isZodSchema(schema) && isCarried(schema, { seen: new Set(), whole: false, mayBeClosed: true })
  );
}

/**
 * True when JSON Schema, patterns included, can express all checks of the schema, provided that plain objects refuse
 * unknown keys: then an answer can be judged without the schema itself.
 */
export function isSaidByJsonSchema(schema: z.core.$ZodType): boolean {
  return isCarried(schema, { seen: new Set(), whole: true, mayBeClosed: true });
}

interface Walk {
  readonly seen: Set<unknown>;
  /** Conversion into full JSON Schema, not the relaxed copy. */
  readonly whole: boolean;
  /** Plain objects count as converted although they drop unknown keys. */
  readonly mayBeClosed: boolean;
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

function isCarried(schema: unknown, walk: Walk): boolean {
  if (walk.seen.has(schema)) return true;
  walk.seen.add(schema);
  const def = defOf(schema);
  if (def === undefined || def['coerce'] === true) return false;
  if (!checksAreCarried(def['checks'], walk)) return false;
  const inside = (inner: unknown): boolean => isCarried(inner, walk);
  switch (def['type']) {
    case 'boolean':
    case 'null':
    case 'any':
    case 'unknown':
    case 'never':
    case 'enum':
      return true;
    case 'string':
      if (def['format'] === undefined && def['check'] === undefined) return true;
      return walk.whole && isPattern(def);
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
      return objectIsCarried(def, walk.mayBeClosed, inside);
    case 'record':
      return recordIsCarried(def, inside);
    case 'lazy':
      return typeof def['getter'] === 'function' && inside((def['getter'] as () => unknown)());
    default:
      return false;
  }
}

function objectIsCarried(
  { catchall, shape }: Def,
  mayBeClosed: boolean,
  inside: (inner: unknown) => boolean,
): boolean {
  if (!isRecord(shape)) return false;
  // Without a catchall unknown keys are dropped, which changes the value.
  if (catchall === undefined ? !mayBeClosed : !inside(catchall)) return false;
  return Object.values(shape).every(inside);
}

function recordIsCarried(def: Def, inside: (inner: unknown) => boolean): boolean {
  const key = defOf(def['keyType']);
  const anyKey =
    key?.['type'] === 'string' && key['format'] === undefined && key['checks'] === undefined;
  return anyKey && def['mode'] === undefined && inside(def['valueType']);
}

/** String formats that are expressed by their pattern alone; others (`url`, `base64`, ...) run code as well. */
const PATTERN_FORMATS: readonly unknown[] = [
  ...['regex', 'starts_with', 'ends_with', 'includes', 'lowercase', 'uppercase'],
  ...['email', 'uuid', 'guid', 'nanoid', 'cuid', 'cuid2', 'ulid', 'e164', 'ipv4'],
  ...['date', 'time', 'datetime', 'duration'],
];

function isPattern({ check, format, pattern }: Def): boolean {
  if (check !== 'string_format' || !PATTERN_FORMATS.includes(format)) return false;
  // JSON Schema patterns have no flags, and are read as Unicode. Answers are judged in linear time, which excludes some
  // patterns.
  if (!(pattern instanceof RegExp) || pattern.flags.replace('u', '') !== '') return false;
  return isLinear(pattern.source);
}

function checksAreCarried(checks: unknown, { whole }: Walk): boolean {
  if (checks === undefined) return true;
  return (
    Array.isArray(checks) &&
    checks.every((check) => {
      const def = defOf(check);
      if (whole && def !== undefined && isPattern(def)) return true;
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

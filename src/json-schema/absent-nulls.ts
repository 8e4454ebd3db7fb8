/**
 * Removes nulls that stand for absent fields. In strict mode a model has to write every field, and writes null for one
 * that it would leave out; other models do so on their own. Pure; runs anywhere.
 */

import { MAX_SCHEMA_STEPS } from '../protocol/limits/limits.js';
import { isRecord, type Json, type JsonSchema } from '../protocol/values/json.js';

/**
 * The value without the fields that are null, may be absent and may not be null, so that the schema sees them as left
 * out. The rest of the value stays as it is, including what the schema does not admit; the whole value does when the
 * search takes more than `MAX_SCHEMA_STEPS`. Never throws.
 */
export function withoutAbsentNulls(schema: JsonSchema, value: Json): Json {
  const walk: Walk = { root: schema, left: MAX_SCHEMA_STEPS };
  const found = without(schema, value, walk);
  return walk.left < 0 ? value : found;
}

/** A document, in which references are resolved, and the steps that are left. */
interface Walk {
  readonly root: JsonSchema;
  left: number;
}

function without(schema: JsonSchema, value: Json, walk: Walk): Json {
  if (typeof value !== 'object' || value === null || walk.left < 0) return value;
  // Where several branches fit, the first one counts.
  const branch = branchesOf(schema, walk).find((it) => fits(it, value, walk));
  return branch === undefined ? value : cleaned(branch, value, walk);
}

function cleaned(schema: JsonSchema, value: Json, walk: Walk): Json {
  if (Array.isArray(value)) {
    const { items } = schema;
    const list = value as readonly Json[];
    return isRecord(items) ? list.map((item) => without(items, item, walk)) : list;
  }
  const { properties } = schema;
  if (!isRecord(value) || !isRecord(properties)) return value;
  const required = requiredOf(schema, walk);
  const kept = Object.entries(value).flatMap(
    ([name, item]): readonly (readonly [string, Json])[] => {
      const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (!isRecord(field)) return [[name, item as Json]];
      const known = field;
      if (item === null && !required.has(name) && !mayBeNull(known, walk)) return [];
      return [[name, without(known, item ?? null, walk)]];
    },
  );
  return Object.fromEntries(kept);
}

/** Whether null itself is a value of the schema; true where this cannot be determined. */
export function admitsNull(schema: JsonSchema, root: JsonSchema): boolean {
  return mayBeNull(schema, { root, left: MAX_SCHEMA_STEPS });
}

function mayBeNull(schema: JsonSchema, walk: Walk): boolean {
  return branchesOf(schema, walk).some((branch) => {
    if (branch['const'] !== undefined) return branch['const'] === null;
    if (Array.isArray(branch['enum'])) return (branch['enum'] as readonly Json[]).includes(null);
    const { type } = branch;
    if (type === undefined) return !('$ref' in branch);
    return type === 'null' || (Array.isArray(type) && (type as readonly Json[]).includes('null'));
  });
}

/**
 * The branches of a schema, with references followed, each once; the schema itself where it has no branches. Fewer when
 * the steps are used up.
 */
function branchesOf(schema: JsonSchema, walk: Walk): readonly JsonSchema[] {
  const found: JsonSchema[] = [];
  const seen = new Set<JsonSchema>();
  // A stack: the branch to visit next is the last.
  const open = [schema];
  for (let next = open.pop(); next !== undefined && walk.left >= 0; next = open.pop()) {
    walk.left -= 1;
    if (seen.has(next)) continue;
    seen.add(next);
    const target = targetOf(next['$ref'], walk.root);
    const union = next['anyOf'] ?? next['oneOf'];
    if (target !== undefined) open.push(target);
    else if (Array.isArray(union)) {
      walk.left -= union.length;
      open.push(...(union as readonly JsonSchema[]).filter(isRecord).reverse());
    } else found.push(next);
  }
  return found;
}

function targetOf(ref: Json | undefined, root: JsonSchema): JsonSchema | undefined {
  if (typeof ref !== 'string') return undefined;
  if (ref === '#') return root;
  const parts = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(ref);
  if (parts === null) return undefined;
  const definitions = root[parts[1] ?? ''];
  const name = (parts[2] ?? '').replaceAll('~1', '/').replaceAll('~0', '~');
  const found =
    isRecord(definitions) && Object.hasOwn(definitions, name) ? definitions[name] : undefined;
  return isRecord(found) ? found : undefined;
}

/**
 * Distinguishes the branches of a choice without checking the values in full: by kind of value, keys, and fields with
 * fixed values.
 */
function fits(schema: JsonSchema, value: Json, walk: Walk): boolean {
  const { type, properties } = schema;
  const types = Array.isArray(type) ? (type as readonly Json[]) : [type];
  const kind = Array.isArray(value) ? 'array' : 'object';
  if (type !== undefined && !types.includes(kind)) return false;
  if (!isRecord(value)) return true;
  const fields = isRecord(properties) ? properties : {};
  const isClosed = schema['additionalProperties'] === false;
  for (const [name, item] of Object.entries(value)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (isClosed && field === undefined) return false;
    walk.left -= 1;
    if (walk.left < 0) return false;
    if (isRecord(field) && !mayHold(field, item as Json, walk)) return false;
  }
  return [...requiredOf(schema, walk)].every((name) => Object.hasOwn(value, name));
}

/** False where a field has fixed values and the item is not one of them. */
function mayHold(field: JsonSchema, item: Json, walk: Walk): boolean {
  return branchesOf(field, walk).some((branch) => {
    if (branch['const'] !== undefined) return branch['const'] === item || item === null;
    const { enum: values } = branch;
    if (Array.isArray(values)) walk.left -= Math.ceil(values.length / 16);
    return !Array.isArray(values) || item === null || (values as readonly Json[]).includes(item);
  });
}

function requiredOf({ required }: JsonSchema, walk: Walk): ReadonlySet<string> {
  const names = Array.isArray(required) ? (required as readonly string[]) : [];
  walk.left -= Math.ceil(names.length / 16);
  return new Set(names);
}

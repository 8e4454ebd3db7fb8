/**
 * Nulls that stand for nothing. In strict mode a model has to write every field, and writes null where it would leave one out;
 * other models do so by themselves. Pure; runs anywhere.
 */
import { isRecord, type Json, type JsonSchema } from './json.js';

/**
 * The value without the fields that are null, may be absent and may not be null: for the schema, it is then as if they had been
 * left out. Everything else stays as it is, also what the schema does not admit. Never throws.
 * @param root where references begin; the schema itself unless it is part of another
 */
export function withoutAbsentNulls(schema: JsonSchema, value: Json, root = schema): Json {
  if (typeof value !== 'object' || value === null) return value;
  // Where several could be meant, the first is.
  const branch = branchesOf(schema, root).find((it) => fits(it, value, root));
  return branch === undefined ? value : cleaned(branch, value, root);
}

function cleaned(schema: JsonSchema, value: Json, root: JsonSchema): Json {
  if (Array.isArray(value)) {
    const { items } = schema;
    const list = value as readonly Json[];
    return isRecord(items) ? list.map((item) => withoutAbsentNulls(items, item, root)) : list;
  }
  const { properties } = schema;
  if (!isRecord(value) || !isRecord(properties)) return value;
  const required = requiredOf(schema);
  const kept = Object.entries(value).flatMap(
    ([name, item]): readonly (readonly [string, Json])[] => {
      const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (!isRecord(field)) return [[name, item as Json]];
      const known = field;
      if (item === null && !required.includes(name) && !admitsNull(known, root)) return [];
      return [[name, withoutAbsentNulls(known, item ?? null, root)]];
    },
  );
  return Object.fromEntries(kept);
}

/** Whether null itself is a value of the schema. What cannot be told, may be. */
export function admitsNull(schema: JsonSchema, root: JsonSchema): boolean {
  return branchesOf(schema, root).some((branch) => {
    if (branch['const'] !== undefined) return branch['const'] === null;
    if (Array.isArray(branch['enum'])) return (branch['enum'] as readonly Json[]).includes(null);
    const { type } = branch;
    if (type === undefined) return !('$ref' in branch);
    return type === 'null' || (Array.isArray(type) && (type as readonly Json[]).includes('null'));
  });
}

/** What a schema is one of, with references followed, each once; itself where it is no choice. */
function branchesOf(schema: JsonSchema, root: JsonSchema): readonly JsonSchema[] {
  const found: JsonSchema[] = [];
  const seen = new Set<JsonSchema>();
  const open = [schema];
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    if (seen.has(next)) continue;
    seen.add(next);
    const target = targetOf(next['$ref'], root);
    const union = next['anyOf'] ?? next['oneOf'];
    if (target !== undefined) open.unshift(target);
    else if (Array.isArray(union))
      open.unshift(...(union as readonly JsonSchema[]).filter(isRecord));
    else found.push(next);
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

/** A look from outside that tells the branches of a choice apart: kind of value, keys, and fields with fixed values. */
function fits(schema: JsonSchema, value: Json, root: JsonSchema): boolean {
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
    if (isRecord(field) && !mayHold(field, item as Json, root)) return false;
  }
  return requiredOf(schema).every((name) => Object.hasOwn(value, name));
}

/** False where a field has fixed values and this is none of them. */
function mayHold(field: JsonSchema, item: Json, root: JsonSchema): boolean {
  return branchesOf(field, root).some((branch) => {
    if (branch['const'] !== undefined) return branch['const'] === item || item === null;
    const { enum: values } = branch;
    return !Array.isArray(values) || item === null || (values as readonly Json[]).includes(item);
  });
}

function requiredOf({ required }: JsonSchema): readonly string[] {
  return Array.isArray(required) ? (required as readonly string[]) : [];
}

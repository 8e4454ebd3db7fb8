/**
 * How much work a JSON Schema makes for a validator, before it is made: references let a small schema stand for an immense one,
 * and recursion lets a small answer be checked along very many ways. Pure; runs anywhere.
 */
import { isRecord, type JsonSchema } from './json.js';
import { MAX_SCHEMA_STEPS } from './limits.js';

/** Values, not schemas: a `$ref` in them is data. */
export const DATA_KEYWORDS: readonly string[] = ['const', 'enum', 'default', 'examples'];

/**
 * Objects in the schema once each reference is replaced by what it points to; what refers to itself counts once, for its
 * repetitions are bounded by the answer (`isTooMuchWork`). Infinity when it cannot be walked.
 */
export function expandedSize(root: JsonSchema): number {
  const sizes = new Map<unknown, number>();
  const sizeOf = (node: unknown): number => {
    if (Array.isArray(node))
      return node.reduce((sum: number, item: unknown) => sum + sizeOf(item), 0);
    if (!isRecord(node)) return 0;
    const known = sizes.get(node);
    if (known !== undefined) return known;
    // While it is under way, a reference back to it is a repetition.
    sizes.set(node, 1);
    const { $ref } = node;
    let size = 1 + (typeof $ref === 'string' ? sizeOf(targetOf(root, $ref)) : 0);
    for (const [key, value] of Object.entries(node))
      if (!DATA_KEYWORDS.includes(key)) size += sizeOf(value);
    sizes.set(node, size);
    return size;
  };
  try {
    return sizeOf(root);
  } catch {
    // Too deep to walk is too deep to check by.
    return Number.POSITIVE_INFINITY;
  }
}

/** What a reference into this document points to; undefined when it leads nowhere. */
function targetOf(root: JsonSchema, ref: string): unknown {
  if (!ref.startsWith('#')) return undefined;
  let node: unknown = root;
  for (const part of ref.slice(1).split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(node)) node = (node as readonly unknown[])[Number(key)];
    else node = isRecord(node) && Object.hasOwn(node, key) ? node[key] : undefined;
  }
  return node;
}

const IN_PLACE: readonly string[] = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'];

export const TOO_MUCH_WORK = `would take more than ${MAX_SCHEMA_STEPS} steps to check against its schema: it must be smaller, or nested less deeply`;

/**
 * True when checking the value against the schema would take more than `MAX_SCHEMA_STEPS`. Walks as a validator does that tries
 * every branch, and stops at the bound; circles that never reach into the value count as too much, too.
 */
export function isTooMuchWork(root: JsonSchema, value: unknown): boolean {
  let steps = 0;
  const walk = (schema: unknown, at: unknown): void => {
    if (Array.isArray(schema)) {
      for (const one of schema) walk(one, at);
      return;
    }
    if (!isRecord(schema) || steps > MAX_SCHEMA_STEPS) return;
    steps += 1;
    if (typeof schema['$ref'] === 'string') walk(targetOf(root, schema['$ref']), at);
    for (const keyword of IN_PLACE) if (schema[keyword] !== undefined) walk(schema[keyword], at);
    if (Array.isArray(at)) walkItems(schema, at, walk);
    else if (isRecord(at)) walkProperties(schema, at, walk);
  };
  try {
    walk(root, value);
  } catch {
    return true;
  }
  return steps > MAX_SCHEMA_STEPS;
}

type Walk = (schema: unknown, at: unknown) => void;
type Fields = Readonly<Record<string, unknown>>;

function walkItems(schema: Fields, items: readonly unknown[], walk: Walk): void {
  const { prefixItems, contains } = schema;
  const prefix: readonly unknown[] = Array.isArray(prefixItems) ? prefixItems : [];
  const rest = schema['items'] ?? schema['additionalItems'] ?? schema['unevaluatedItems'];
  for (const [index, item] of items.entries()) {
    if (index < prefix.length) walk(prefix[index], item);
    else if (!Array.isArray(rest)) walk(rest, item);
    else walk(rest[index], item);
    walk(contains, item);
  }
}

function walkProperties(schema: Fields, object: Fields, walk: Walk): void {
  const { properties, patternProperties, dependentSchemas, propertyNames } = schema;
  const named = isRecord(properties) ? properties : {};
  const patterns = isRecord(patternProperties) ? Object.values(patternProperties) : [];
  const rest = schema['additionalProperties'] ?? schema['unevaluatedProperties'];
  for (const [key, value] of Object.entries(object)) {
    walk(Object.hasOwn(named, key) ? named[key] : rest, value);
    walk(patterns, value);
    walk(propertyNames, key);
    if (isRecord(dependentSchemas) && Object.hasOwn(dependentSchemas, key))
      walk(dependentSchemas[key], object);
  }
}

/**
 * The relaxed copy of a schema, by which the workflow judges answers. The copy admits at least all values that the
 * original admits, and has no keyword that can be slow: one bad regular expression would stop every conversation of a
 * worker. An activity checks the keywords left out afterwards (`needsRecheck`). Runs anywhere.
 */

import { MAX_SCHEMA_OBJECTS } from '../protocol/limits/limits.js';
import { canonicalJson, isRecord, type Json, type JsonSchema } from '../protocol/values/json.js';
import { DATA_KEYWORDS, expandedSize } from './judge/cost.js';

/**
 * Keywords that the copy leaves out. Regular expressions run for as long as an attacker likes; comparing all items with
 * each other is quadratic.
 */
const DROPPED: readonly string[] = [
  'pattern',
  'format',
  'contentEncoding',
  'contentMediaType',
  'contentSchema',
  'uniqueItems',
  // The meaning of these depends on every other keyword, so they cannot be kept beside relaxed ones.
  'unevaluatedItems',
  'unevaluatedProperties',
  'dependencies',
  '$schema',
  '$id',
  '$comment',
];
const SCHEMA_MAPS: readonly string[] = ['properties', '$defs', 'definitions', 'dependentSchemas'];
const SCHEMA_LISTS: readonly string[] = ['allOf', 'anyOf', 'prefixItems'];
const SUBSCHEMAS: readonly string[] = [
  'items',
  'additionalProperties',
  'additionalItems',
  'propertyNames',
  'contains',
];

/** Each inner schema is asked for several times; without these caches, nesting would double the work at every level. */
const copies = new WeakMap<JsonSchema, JsonSchema>();
const verdicts = new WeakMap<JsonSchema, boolean>();

/** The relaxed copy. Keys of the values of `properties`, `enum`, `const` and the like are not taken for keywords. */
export function relaxedSchema(schema: JsonSchema): JsonSchema {
  const known = copies.get(schema);
  if (known !== undefined) return known;
  const relaxed = relaxedCopy(schema);
  copies.set(schema, relaxed);
  return relaxed;
}

function relaxedCopy(schema: JsonSchema): JsonSchema {
  const relaxed: Record<string, Json | undefined> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (DROPPED.includes(key) || value === undefined) continue;
    if (SCHEMA_MAPS.includes(key) && isRecord(value))
      relaxed[key] = Object.fromEntries(
        Object.entries(value).map(([name, item]) => [name, relaxedItem(item)]),
      );
    else if (SCHEMA_LISTS.includes(key) && Array.isArray(value))
      relaxed[key] = (value as readonly Json[]).map(relaxedItem);
    else if (SUBSCHEMAS.includes(key)) relaxed[key] = relaxedItem(value);
    else relaxed[key] = value;
  }
  relaxNegatives(schema, relaxed);
  relaxCounts(schema, relaxed);
  return relaxed;
}

/** True when the relaxed copy may admit values that the schema itself refuses. */
export function isRelaxed(schema: JsonSchema): boolean {
  const known = verdicts.get(schema);
  if (known !== undefined) return known;
  const verdict = canonicalJson(withoutLabels(schema)) !== canonicalJson(relaxedSchema(schema));
  verdicts.set(schema, verdict);
  return verdict;
}

function relaxedItem(item: Json | undefined): Json {
  if (Array.isArray(item)) return (item as readonly Json[]).map(relaxedItem);
  if (isRecord(item)) return relaxedSchema(item);
  return item ?? true;
}

function changes(value: unknown): boolean {
  return isRecord(value) && isRelaxed(value as JsonSchema);
}

/**
 * Removes negations and conditions whose inner schema is relaxed: with a relaxed inner schema they would be stricter.
 */
function relaxNegatives(schema: JsonSchema, relaxed: Record<string, Json | undefined>): void {
  if (changes(schema['not'])) delete relaxed['not'];
  if (schema['if'] === undefined || changes(schema['if'])) {
    delete relaxed['if'];
    delete relaxed['then'];
    delete relaxed['else'];
  } else {
    if (relaxed['then'] !== undefined) relaxed['then'] = relaxedItem(relaxed['then']);
    if (relaxed['else'] !== undefined) relaxed['else'] = relaxedItem(relaxed['else']);
  }
}

/** Relaxes keywords that count or exclude matches, which become stricter when more values match. */
function relaxCounts(schema: JsonSchema, relaxed: Record<string, Json | undefined>): void {
  const { oneOf, contains, patternProperties } = schema;
  if (Array.isArray(oneOf)) {
    const branches = oneOf as readonly Json[];
    delete relaxed['oneOf'];
    if (!branches.some(changes)) relaxed['oneOf'] = branches;
    else if (relaxed['anyOf'] === undefined) relaxed['anyOf'] = branches.map(relaxedItem);
    else relaxed['allOf'] = [...listOf(relaxed['allOf']), { anyOf: branches.map(relaxedItem) }];
  }
  if (changes(contains)) delete relaxed['maxContains'];
  if (patternProperties !== undefined) {
    // The keys of `patternProperties` are regular expressions; without it, the properties that it covered must not
    // count as additional.
    delete relaxed['patternProperties'];
    delete relaxed['additionalProperties'];
  }
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

function withoutLabels(schema: JsonSchema): JsonSchema {
  const { $schema: _dialect, $id: _id, $comment: _comment, ...rest } = schema;
  return rest;
}

const UNSUPPORTED: readonly string[] = [
  '$anchor',
  '$dynamicRef',
  '$dynamicAnchor',
  '$recursiveRef',
];

/**
 * Faults of a raw JSON Schema that validators would find only at run time, when it is too late: references that lead
 * nowhere or outside the document, or that multiply its size.
 */
export function jsonSchemaProblems(root: JsonSchema): readonly { path: string; rule: string }[] {
  const problems: { path: string; rule: string }[] = [];
  const visit = (node: unknown, path: string): void => {
    if (Array.isArray(node)) {
      node.forEach((item, index) => {
        visit(item, `${path}/${index}`);
      });
      return;
    }
    if (!isRecord(node)) return;
    const ref = node['$ref'];
    if (typeof ref === 'string' && !resolves(root, ref))
      problems.push({
        path,
        rule: `$ref "${ref}" must point into this schema, such as "#/$defs/name"`,
      });
    if (path !== '' && typeof node['$id'] === 'string')
      problems.push({ path, rule: '$id is not supported below the top' });
    for (const keyword of UNSUPPORTED)
      if (typeof node[keyword] === 'string')
        problems.push({ path, rule: `${keyword} is not supported` });
    for (const [key, value] of Object.entries(node)) {
      if (!DATA_KEYWORDS.includes(key)) visit(value, `${path}/${key}`);
    }
  };
  visit(root, '');
  if (expandedSize(root) > MAX_SCHEMA_OBJECTS)
    problems.push({
      path: '',
      rule: `with its $refs written out, the schema would have more than ${MAX_SCHEMA_OBJECTS} parts`,
    });
  return problems;
}

/** Whether a reference leads to a schema, along keywords that the relaxed copy keeps. */
function resolves(root: JsonSchema, ref: string): boolean {
  if (ref === '#') return true;
  if (!ref.startsWith('#/')) return false;
  const parts = ref
    .slice(2)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  let node: unknown = root;
  for (let index = 0; index < parts.length; index += 1) {
    const keyword = parts[index] ?? '';
    node = isRecord(node) ? node[keyword] : undefined;
    if (SCHEMA_MAPS.includes(keyword)) {
      index += 1;
      node = isRecord(node) ? node[parts[index] ?? ''] : undefined;
    } else if (SCHEMA_LISTS.includes(keyword)) {
      index += 1;
      node = Array.isArray(node) ? (node as readonly unknown[])[Number(parts[index])] : undefined;
    } else if (!SUBSCHEMAS.includes(keyword)) return false;
  }
  return isRecord(node) || typeof node === 'boolean';
}

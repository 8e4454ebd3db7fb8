/** The keywords of JSON Schema that a provider's strict mode supports. Pure; runs anywhere. */
import type { JsonSchema } from '../protocol/values/json.js';

const FORMATS: readonly string[] = [
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'],
];
/** Keywords that are kept as they are, by type. */
const RULES: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  boolean: [],
  null: [],
  array: ['minItems', 'maxItems'],
  object: [],
};
/** Keywords without effect on values. The description includes the default and the examples. */
const ANNOTATIONS: readonly string[] = [
  ...['$schema', '$id', '$comment', 'title', 'description', 'default', 'examples', 'deprecated'],
  ...['readOnly', 'writeOnly', 'id'],
];
/** Keywords that the converter itself handles. */
const STRUCTURE: readonly string[] = [
  ...['type', 'enum', 'const', 'anyOf', 'oneOf', '$ref', '$defs', 'definitions'],
  ...['properties', 'required', 'additionalProperties', 'propertyNames', 'items'],
];

export function isStrictType(type: string): boolean {
  return Object.hasOwn(RULES, type);
}

/** Whether a keyword has no effect on values. */
export function isAnnotation(keyword: string): boolean {
  return ANNOTATIONS.includes(keyword);
}

/** Whether a keyword holds schemas for references. */
export function isDefinitions(key: string): boolean {
  return key === '$defs' || key === 'definitions';
}

/** A keyword of the schema that strict mode does not support for these types; undefined where there is none. */
export function unknownKeyword(given: JsonSchema): string | undefined {
  const { type } = given;
  const types = (Array.isArray(type) ? type : [type]).map(String);
  return Object.keys(given).find(
    (keyword) =>
      given[keyword] !== undefined &&
      !ANNOTATIONS.includes(keyword) &&
      !STRUCTURE.includes(keyword) &&
      !types.some((it) => isStrictType(it) && RULES[it]?.includes(keyword) === true),
  );
}

/** The rules for values of a type. The worker checks formats and patterns that the provider does not support. */
export function rulesOf(given: JsonSchema, type: string): JsonSchema {
  const kept = (RULES[type] ?? []).flatMap((keyword) => {
    const value = given[keyword];
    if (value === undefined) return [];
    if (keyword === 'format' && (typeof value !== 'string' || !FORMATS.includes(value))) return [];
    if (keyword === 'pattern' && (typeof value !== 'string' || !isPlainPattern(value))) return [];
    return [[keyword, value] as const];
  });
  return Object.fromEntries(kept);
}

/**
 * Whether a pattern has no look-around, back-reference or Unicode property: the provider's grammars do not support
 * them.
 */
function isPlainPattern(pattern: string): boolean {
  return !/\(\?[=!<]|\\[1-9k]|\\[pP]\{/.test(pattern);
}

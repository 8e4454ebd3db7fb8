/** The keywords of JSON Schema that a provider's strict mode has. Pure; runs anywhere. */
import type { JsonSchema } from '../protocol/values/json.js';

const FORMATS: readonly string[] = [
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'],
];
/** Kept as they are, by type. */
const RULES: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  boolean: [],
  null: [],
  array: ['minItems', 'maxItems'],
  object: [],
};
/** Say nothing about values. A default and examples are told in the description. */
const ANNOTATIONS: readonly string[] = [
  ...['$schema', '$id', '$comment', 'title', 'description', 'default', 'examples', 'deprecated'],
  ...['readOnly', 'writeOnly', 'id'],
];
/** Taken apart by the converter itself. */
const STRUCTURE: readonly string[] = [
  ...['type', 'enum', 'const', 'anyOf', 'oneOf', '$ref', '$defs', 'definitions'],
  ...['properties', 'required', 'additionalProperties', 'propertyNames', 'items'],
];

export function isStrictType(type: string): boolean {
  return Object.hasOwn(RULES, type);
}

/** It says nothing about values. */
export function isAnnotation(keyword: string): boolean {
  return ANNOTATIONS.includes(keyword);
}

/** It names schemas for others to refer to. */
export function isDefinitions(key: string): boolean {
  return key === '$defs' || key === 'definitions';
}

/** A keyword that strict mode does not have, of a schema of these types; undefined where there is none. */
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

/** The rules of values of a type. Formats and patterns that the provider does not know are left to the worker. */
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

/** Without looking around and back: a grammar cannot. */
function isPlainPattern(pattern: string): boolean {
  return !/\(\?[=!<]|\\[1-9k]|\\[pP]\{/.test(pattern);
}

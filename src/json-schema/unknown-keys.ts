/** Keys of a value that its schema does not name: those that may exist, and those that surely do. Pure. */
import { isRecord, type Json } from '../protocol/values/json.js';

/** Keywords beside `type` that do not affect which keys are known. */
const SILENT: readonly string[] = [
  ...[
    'type',
    'properties',
    'required',
    'additionalProperties',
    'propertyNames',
    'items',
    'enum',
    'const',
    'default',
  ],
  ...['title', 'description', 'examples', 'minLength', 'maxLength', 'minItems', 'maxItems'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
];

/** Keywords that may name keys beside `properties`, or admit keys without a name on purpose. */
const NAMING: readonly string[] = [
  ...['additionalProperties', 'patternProperties', 'propertyNames', 'unevaluatedProperties'],
  ...['$ref', '$dynamicRef', 'allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas', 'dependencies'],
];

/**
 * Whether a value may hold keys that its schema does not know. May return true when there are none: every schema beyond
 * plain objects with named properties, lists and single values counts as "may".
 *
 * @param schema the relaxed JSON Schema by which the value was accepted
 */
export function mayHaveUnknownKeys(schema: unknown, value: Json): boolean {
  if (value === null || typeof value !== 'object') return false;
  if (!isRecord(schema) || Object.keys(schema).some((key) => !SILENT.includes(key))) return true;
  if (Array.isArray(value))
    return schema['items'] === undefined
      ? value.length > 0
      : (value as readonly Json[]).some((item) => mayHaveUnknownKeys(schema['items'], item));
  const { properties, additionalProperties } = schema;
  const named = isRecord(properties) ? properties : {};
  return Object.entries(value).some(([key, inner]) => {
    if (Object.hasOwn(named, key)) return mayHaveUnknownKeys(named[key], inner as Json);
    return (
      !isRecord(additionalProperties) || mayHaveUnknownKeys(additionalProperties, inner as Json)
    );
  });
}

/**
 * Paths of keys that the schema surely does not name, although it leaves its objects open: it lists properties, and has
 * no other keyword by which it could mean these. Empty where it might.
 */
export function unnamedKeys(schema: unknown, value: unknown, path = ''): readonly string[] {
  if (!isRecord(schema)) return [];
  if (Array.isArray(value))
    return value.flatMap((item, index) => unnamedKeys(schema['items'], item, `${path}/${index}`));
  const { properties } = schema;
  if (!isRecord(value) || !isRecord(properties)) return [];
  const isClear = NAMING.every((keyword) => schema[keyword] === undefined);
  return Object.entries(value).flatMap(([key, inner]) => {
    if (Object.hasOwn(properties, key))
      return unnamedKeys(properties[key], inner, `${path}/${key}`);
    return isClear ? [`${path}/${key}`] : [];
  });
}

/**
 * Checks at every level whether a value is a JSON Schema (draft 2020-12): a keyword with a wrong value would be refused
 * by providers, or admit no answer, turns later. Does not check references and size; see `relaxed.ts`. Runs anywhere.
 */
import { isRecord } from '../protocol/values/json.js';

const TYPES: readonly unknown[] = [
  ...['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'],
];
const isSchema = (value: unknown): boolean => isRecord(value) || typeof value === 'boolean';
const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number';
const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0;
const isFlag = (value: unknown): boolean => typeof value === 'boolean';
const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

interface Rule {
  readonly keywords: readonly string[];
  readonly admits: (value: unknown) => boolean;
  readonly rule: string;
}

const MAPS = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const SINGLE = [
  ...['items', 'additionalProperties', 'additionalItems', 'unevaluatedItems'],
  ...['unevaluatedProperties', 'propertyNames', 'contains', 'not', 'if', 'then', 'else'],
];

const RULES: readonly Rule[] = [
  {
    keywords: ['type'],
    admits: (value) =>
      TYPES.includes(value) ||
      (isList(value) && value.length > 0 && value.every((type) => TYPES.includes(type))),
    rule: `must be ${TYPES.map((type) => `"${String(type)}"`).join(', ')}, or a list of these`,
  },
  { keywords: MAPS, admits: isRecord, rule: 'must be an object of schemas' },
  {
    keywords: LISTS,
    admits: (value) => isList(value) && value.length > 0,
    rule: 'must be a list of schemas, with one at least',
  },
  {
    keywords: SINGLE,
    // Tuples of older drafts are lists of schemas.
    admits: (value) => isSchema(value) || isList(value),
    rule: 'must be a schema: an object, true or false',
  },
  {
    keywords: ['required'],
    admits: (value) => isList(value) && value.every(isText),
    rule: 'must be a list of names',
  },
  {
    keywords: ['enum'],
    admits: (value) => isList(value) && value.length > 0,
    rule: 'must be a list of values, with one at least',
  },
  {
    keywords: [
      ...['minLength', 'maxLength', 'minItems', 'maxItems'],
      ...['minProperties', 'maxProperties', 'minContains', 'maxContains'],
    ],
    admits: isCount,
    rule: 'must be a whole number from 0',
  },
  {
    keywords: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
    admits: isNumber,
    rule: 'must be a number',
  },
  {
    keywords: ['pattern', 'format', 'title', 'description', '$ref'],
    admits: isText,
    rule: 'must be a text',
  },
  { keywords: ['uniqueItems'], admits: isFlag, rule: 'must be true or false' },
];

/**
 * Every fault, with the place of its keyword as a path such as `/properties/n/type`. The schema must be JSON of bounded
 * depth. Never throws.
 */
export function schemaFormProblems(
  schema: unknown,
  path = '',
): readonly { readonly path: string; readonly rule: string }[] {
  if (typeof schema === 'boolean') return [];
  if (!isRecord(schema)) return [{ path, rule: 'must be a schema: an object, true or false' }];
  const own = RULES.flatMap(({ keywords, admits, rule }) =>
    keywords
      .filter((keyword) => schema[keyword] !== undefined && !admits(schema[keyword]))
      .map((keyword) => ({ path: `${path}/${keyword}`, rule })),
  );
  const inner = [...MAPS, ...LISTS, ...SINGLE].flatMap((keyword) => {
    const value = schema[keyword];
    const at = `${path}/${keyword}`;
    if (isList(value))
      return value.flatMap((item, index) => schemaFormProblems(item, `${at}/${index}`));
    if (!isRecord(value)) return [];
    if (!MAPS.includes(keyword)) return schemaFormProblems(value, at);
    return Object.entries(value).flatMap(([name, item]) =>
      schemaFormProblems(item, `${at}/${name}`),
    );
  });
  return [...own, ...inner];
}

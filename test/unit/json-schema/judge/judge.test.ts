/** Checks by JSON Schema: the verdicts of another implementation, and bounded work for any schema and value. */
import { Validator } from '@cfworker/json-schema';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { schemaProblems, TOO_MUCH_WORK } from '../../../../src/json-schema/judge/judge.js';
import { LINEAR_TEXTS } from '../../../../src/json-schema/judge/patterns.schema.js';
import type { Json, JsonSchema } from '../../../../src/protocol/values/json.js';
import { promise } from '../../../support/promise.js';

const NAMES = ['a', 'b', 'c'] as const;
const PATTERNS = ['^a', 'b$', '^[a-c]+$', 'x|y', '^.{2}$'] as const;

/**
 * Values and schemas of few names and numbers, so that they often meet; of three keywords each, so that they are
 * seldom all refused.
 */
const { value, schema } = fc.letrec<{ value: Json; schema: JsonSchema | boolean }>((tie) => {
  const name = fc.constantFrom(...NAMES);
  const inner = tie('schema');
  const some = fc.array(inner, { minLength: 1, maxLength: 2 });
  const mapOf = <Value>(key: fc.Arbitrary<string>, item: fc.Arbitrary<Value>) =>
    fc.dictionary(key, item, { maxKeys: 2 });
  const keywords: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
    type: fc.oneof(typeName(), fc.array(typeName(), { minLength: 1, maxLength: 2 })),
    enum: fc.array(tie('value'), { minLength: 1, maxLength: 4 }),
    const: tie('value'),
    ...{ minimum: fc.constantFrom(0, 1, 2), exclusiveMaximum: fc.constantFrom(1, 2, 3) },
    ...{ multipleOf: fc.constantFrom(0.5, 1, 2), pattern: fc.constantFrom(...PATTERNS) },
    ...{ minLength: fc.nat(3), maxLength: fc.nat(3), minItems: fc.nat(3), maxItems: fc.nat(3) },
    ...{ required: fc.subarray([...NAMES]), minProperties: fc.nat(2), maxProperties: fc.nat(3) },
    properties: mapOf(name, inner),
    patternProperties: mapOf(fc.constantFrom(...PATTERNS), inner),
    ...{ additionalProperties: inner, unevaluatedProperties: inner, propertyNames: inner },
    dependentRequired: mapOf(name, fc.subarray([...NAMES])),
    dependentSchemas: mapOf(name, inner),
    ...{ prefixItems: some, items: inner, unevaluatedItems: inner, contains: inner },
    ...{ minContains: fc.nat(2), maxContains: fc.nat(2), uniqueItems: fc.boolean() },
    ...{ allOf: some, anyOf: some, oneOf: some, not: inner, if: inner, then: inner, else: inner },
    $ref: fc.constantFrom('#/$defs/x', '#/$defs/y'),
  };
  const keyword = fc.oneof(
    ...Object.entries(keywords).map(([key, item]) => fc.tuple(fc.constant(key), item)),
  );
  return {
    value: fc.oneof(
      { maxDepth: 2 },
      fc.constantFrom<Json>(null, true, 0, 1, 1.5, 2, 3, '', 'a', 'ab', 'xyz', '🚲'),
      fc.array(tie('value'), { maxLength: 4 }),
      mapOf(fc.constantFrom(...NAMES, 'ab'), tie('value')),
    ),
    schema: fc.oneof(
      { maxDepth: 2 },
      fc.boolean(),
      fc
        .array(keyword, { minLength: 1, maxLength: 3 })
        .map((entries) => Object.fromEntries(entries) as JsonSchema),
    ),
  };
});

function typeName(): fc.Arbitrary<string> {
  return fc.constantFrom('object', 'array', 'string', 'number', 'integer', 'boolean', 'null');
}

/**
 * Whether the other implementation may be wrong: where a schema has a `$ref` and schemas beside it, it counts items and
 * properties that the `$ref` has judged as evaluated for these, too.
 */
function isMisjudged(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  const { $ref, ...beside } = schema as { readonly $ref?: unknown };
  const asks = Object.values(beside).some((one) => JSON.stringify(one).includes('"unevaluated'));
  return ($ref !== undefined && asks) || Object.values(beside).some(isMisjudged);
}

describe('a check by a JSON Schema', () => {
  it('returns the verdict of another implementation', promise('G275'), () => {
    const document = fc
      .tuple(schema, schema, schema)
      .map(([root, x, y]): JsonSchema => ({ allOf: [root], $defs: { x: leaf(x), y: leaf(y) } }));
    fc.assert(
      fc.property(document, value, (root, given) => {
        fc.pre(!isMisjudged(root));
        const { valid } = new Validator(structuredClone(root), '2020-12', false).validate(given);
        expect(schemaProblems(root, given, LINEAR_TEXTS).length === 0).toBe(valid);
      }),
      { numRuns: 3_000 },
    );
  });

  it(
    'does not count items as evaluated that a schema beside it has judged',
    promise('G275'),
    () => {
      const judged = { $ref: '#/$defs/y' };
      const beside = { anyOf: [{ unevaluatedItems: false }], ...judged };
      const within = { unevaluatedItems: false, ...judged };
      const $defs = { y: { contains: true } };
      const problem = { path: '/0', message: 'is not allowed here' };
      expect(schemaProblems({ ...beside, $defs }, [1], LINEAR_TEXTS)).toEqual([problem]);
      expect(schemaProblems({ ...within, $defs }, [1], LINEAR_TEXTS)).toEqual([]);
    },
  );

  it.each<[string, JsonSchema, Json, string, string]>([
    ['a type', { type: ['string', 'null'] }, 1, '', 'must be of type string or null, got number'],
    ['a field', { properties: { a: { minimum: 2 } } }, { a: 1 }, '/a', 'must be at least 2, got 1'],
    ['a lack', { required: ['city'] }, {}, '', 'must have the required property "city"'],
    ['an item', { items: { const: 1 } }, [1, 2], '/1', 'must be 1'],
    ['a choice', { enum: ['a', 'b'] }, 'c', '', 'must be one of "a", "b"'],
    [
      'an unknown key',
      { additionalProperties: false },
      { 'x/y~': 1 },
      '/x~1y~0',
      'is not allowed here',
    ],
    ['a pattern', { pattern: '^a' }, 'b', '', 'must match the pattern ^a'],
    ['a format', { format: 'date' }, '2026-02-30', '', 'must have the format "date"'],
    [
      'a repeat',
      { uniqueItems: true },
      [1, { a: 1 }, 2, { a: 1 }],
      '',
      'must have no item twice, but 1 and 3 are equal',
    ],
    [
      'the branch that came closest',
      { anyOf: [{ type: 'string' }, { properties: { a: { type: 'string' } } }] },
      { a: 1 },
      '/a',
      'must be of type string, got number',
    ],
    [
      'a reference that leads nowhere',
      { $ref: '#/$defs/none' },
      1,
      '',
      'cannot be checked by its schema: $ref "#/$defs/none" leads nowhere',
    ],
    [
      'a pattern that cannot be judged in linear time',
      { pattern: '(a)\\1' },
      'aa',
      '',
      expect.stringMatching(/the pattern \(a\)\\1 cannot be matched in linear time/) as string,
    ],
  ])('names %s', (_what, root, given, path, message) => {
    expect(schemaProblems(root, given, LINEAR_TEXTS)).toEqual([{ path, message }]);
  });

  it('judges no texts where it has no rules for them, as in the workflow', () => {
    const root: JsonSchema = {
      properties: { a: { pattern: '^(a+)+$', format: 'date' } },
      patternProperties: { '^(x+)+$': { type: 'string' } },
      additionalProperties: false,
    };
    expect(schemaProblems(root, { a: `${'a'.repeat(50)}!`, xxx: 1 })).toEqual([]);
  });

  it('reports twenty problems of a thousand, and cuts long keys and values', () => {
    const given = Array.from({ length: 1_000 }, () => 1);
    expect(schemaProblems({ items: { type: 'string' } }, given)).toHaveLength(20);
    const long = { ['k'.repeat(100_000)]: 1 };
    const [problem] = schemaProblems({ additionalProperties: { type: 'string' } }, long);
    expect(problem?.path.length).toBeLessThan(400);
  });
});

/** The target schemas have no references: a circle has no verdict. */
function leaf(node: JsonSchema | boolean): JsonSchema | boolean {
  return JSON.parse(JSON.stringify(node), (key, item: unknown) =>
    key === '$ref' ? undefined : item,
  ) as JsonSchema | boolean;
}

describe('work that would block the process', () => {
  const many = (count: number, of: (index: number) => Json): Json[] =>
    Array.from({ length: count }, (_, index) => of(index));
  const texts = (count: number): Json[] => many(count, (index) => `text ${index}`);

  it.each<[string, JsonSchema, Json]>([
    ['a long list of values, for each item', { items: { enum: texts(2_000) } }, texts(20_000)],
    [
      'large values, for each item',
      { items: { enum: many(500, (n) => [...texts(10), n]) } },
      many(5_000, () => [...texts(10), -1]),
    ],
    [
      'many schemas of a long text',
      { allOf: many(2_000, () => ({ maxLength: 5 })) },
      'x'.repeat(100_000),
    ],
    [
      'many schemas of many keys',
      { allOf: many(2_000, () => ({ maxProperties: 5 })) },
      Object.fromEntries(many(10_000, (n) => n).map((n) => [n, 1])),
    ],
    [
      'required names, for each item',
      { items: { required: texts(1_000) as string[] } },
      many(20_000, () => ({})),
    ],
    [
      'patterns of a long text',
      { allOf: many(500, () => ({ pattern: 'a.*b' })) },
      'a'.repeat(100_000),
    ],
    ['a pattern that is large written out', { pattern: '^[^a]{1,900}$' }, 'x'.repeat(50_000)],
    ['a circle', { $ref: '#' }, 1],
    ['a circle through a choice', { anyOf: [{ $ref: '#' }, { $ref: '#' }] }, 1],
    ['references that multiply', { $defs: fan(25), $ref: '#/$defs/d0' }, 1],
    [
      'what no keyword has looked at, at each level',
      unevaluated(200),
      Object.fromEntries(many(5_000, (n) => n).map((n) => [n, 1])),
    ],
  ])('is refused: %s', promise('G275'), (_what, root, given) => {
    const startedAt = performance.now();
    expect(schemaProblems(root, given, LINEAR_TEXTS)).toEqual([
      { path: '', message: TOO_MUCH_WORK },
    ]);
    // Some 200 ms on an idle machine; without the bound, minutes, or the end of the memory.
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  it.each<[string, JsonSchema, Json]>([
    ['ten thousand items that must differ', { uniqueItems: true }, texts(10_000)],
    [
      'a choice of two hundred, for each of a thousand items',
      { items: { enum: texts(200) } },
      many(1_000, (n) => `text ${n % 200}`),
    ],
    ['a text of 200 KB by a pattern', { pattern: '^[^<>]*$' }, 'x'.repeat(200_000)],
    [
      'five hundred addresses by a pattern',
      { items: { pattern: '^[a-z.]{1,64}@[a-z.]{1,253}$' } },
      many(500, (n) => `name@host${'.a'.repeat(n % 9)}`),
    ],
  ])('is not %s', promise('G275'), (_what, root, given) => {
    expect(schemaProblems(root, given, LINEAR_TEXTS)).toEqual([]);
  });
});

function fan(levels: number): Record<string, Json> {
  const $defs: Record<string, Json> = { [`d${levels}`]: { type: 'number' } };
  for (let level = 0; level < levels; level += 1) {
    const next = { $ref: `#/$defs/d${level + 1}` };
    $defs[`d${level}`] = { allOf: [next, { ...next }] };
  }
  return $defs;
}

function unevaluated(levels: number): JsonSchema {
  const inner: JsonSchema = { additionalProperties: true };
  return { allOf: Array.from({ length: levels }, () => inner), unevaluatedProperties: false };
}

/** From zod to JSON Schema: the model's form, the workflow's form, and the answers that a worker checks again. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { needsRecheck } from '../../../../src/define/schemas/recheck.js';
import { inputJsonSchema, jsonSchema } from '../../../../src/define/schemas/schema.js';
import { jsonSchemaProblems, relaxedSchema } from '../../../../src/json-schema/relaxed.js';
import { promise } from '../../../support/promise.js';

describe('the schema that the model gets', () => {
  it('is the input side, with descriptions and defaults', {
    ...promise('H7', 'C5', 'C12', 'C13', 'N11'),
  }, () => {
    const schema = z.object({
      query: z.string().describe('What to look for'),
      limit: z.int().default(10),
      size: z.string().transform((text) => text.length),
    });
    const { jsonSchema: document, problems } = inputJsonSchema(schema);
    expect(problems).toEqual([]);
    expect(document).toMatchObject({
      type: 'object',
      properties: {
        query: { type: 'string', description: 'What to look for' },
        limit: { type: 'integer', default: 10 },
        size: { type: 'string' },
      },
      required: ['query', 'size'],
    });
    expect(document).not.toHaveProperty('$schema');
  });

  it('is raw JSON Schema verbatim', promise('A21', 'H7'), () => {
    const raw = { type: 'object', $schema: 'https://json-schema.org/draft/2020-12/schema' };
    expect(inputJsonSchema(jsonSchema(raw)).jsonSchema).toBe(raw);
  });

  it('names every place that JSON cannot express', () => {
    const { problems } = inputJsonSchema(
      z.object({
        when: z.date(),
        items: z.array(z.object({ amount: z.bigint() })),
        either: z.union([z.string(), z.map(z.string(), z.string())]),
        file: z.file(),
      }),
    );
    expect(problems.map(({ path }) => path)).toEqual([
      'when',
      'items[].amount',
      'either.anyOf[1]',
      'file',
    ]);
  });

  it('may be recursive', () => {
    const node = z.object({
      name: z.string(),
      get children() {
        return z.array(node);
      },
    });
    expect(inputJsonSchema(node)).toMatchObject({
      problems: [],
      jsonSchema: { properties: { children: { items: { $ref: '#' } } } },
    });
    expect(needsRecheck(z.array(node))).toBe(true);
  });
});

describe('the schema that the workflow judges by', () => {
  it('has no regular expressions, at any place', () => {
    const { jsonSchema: document } = inputJsonSchema(
      z.object({
        email: z.email(),
        code: z
          .string()
          .regex(/^(a+)+$/)
          .min(2),
        list: z.array(z.union([z.iso.date(), z.number()])),
        byKey: z.record(z.string().regex(/x/), z.number()),
        template: z.templateLiteral(['id-', z.string()]),
      }),
    );
    const relaxed = JSON.stringify(relaxedSchema(document));
    expect(relaxed).not.toMatch(/"(pattern|format|patternProperties)":/);
    expect(relaxed).toContain('"minLength":2');
  });

  it('keeps fields and values that are named like keywords', () => {
    const schema = {
      type: 'object',
      properties: { pattern: { type: 'string', pattern: 'a' }, format: { const: { format: 'b' } } },
      required: ['pattern', 'format'],
    };
    expect(relaxedSchema(schema)).toEqual({
      type: 'object',
      properties: { pattern: { type: 'string' }, format: { const: { format: 'b' } } },
      required: ['pattern', 'format'],
    });
  });

  it.each([
    ['a negation', { not: { pattern: 'a' } }, {}],
    ['a negation that stays as it is', { not: { type: 'null' } }, { not: { type: 'null' } }],
    ['a condition', { if: { pattern: 'a' }, then: { minLength: 2 } }, {}],
    [
      'a condition that stays as it is',
      { if: { type: 'string' }, then: { pattern: 'a' } },
      { if: { type: 'string' }, then: {} },
    ],
    [
      'a choice of exactly one',
      { oneOf: [{ pattern: 'a' }, { type: 'null' }] },
      { anyOf: [{}, { type: 'null' }] },
    ],
    [
      'a choice of exactly one beside another choice',
      { oneOf: [{ pattern: 'a' }], anyOf: [true] },
      { anyOf: [true], allOf: [{ anyOf: [{}] }] },
    ],
    ['keys by pattern', { patternProperties: { a: {} }, additionalProperties: false }, {}],
    ['unique items', { uniqueItems: true, items: { format: 'uri' } }, { items: {} }],
    ['bounded matches', { contains: { pattern: 'a' }, maxContains: 1 }, { contains: {} }],
  ])('never refuses a value that the original accepts: %s', (_title, schema, relaxed) => {
    expect(relaxedSchema(schema)).toEqual(relaxed);
  });

  it('may come from documents whose references have a target', () => {
    const good = {
      $ref: '#/$defs/a',
      $defs: { a: { items: { $ref: '#' } }, b: { $ref: '#/$defs/a/items' } },
    };
    expect(jsonSchemaProblems(good)).toEqual([]);
    for (const $ref of ['#/$defs/c', 'https://example.org/s', '#name', '#/x/a'])
      expect(jsonSchemaProblems({ items: { $ref }, x: { a: {} } })).toMatchObject([
        { path: '/items' },
      ]);
    expect(jsonSchemaProblems({ const: { $ref: 'data' }, items: { $anchor: 'x' } })).toHaveLength(
      1,
    );
  });
});

describe('an answer is checked again by the worker', () => {
  it.each([
    ['text', z.string().min(1).max(10)],
    ['numbers', z.number().min(0).lt(5)],
    ['integers', z.int()],
    ['a choice', z.enum(['a', 'b'])],
    ['literals', z.literal(['a', 1, null])],
    [
      'a form that takes no other keys',
      z.strictObject({ ok: z.boolean(), why: z.string().optional() }),
    ],
    ['an object with any other keys', z.looseObject({ ok: z.boolean() })],
    ['lists', z.array(z.nullable(z.string())).max(3)],
    ['records', z.record(z.string(), z.number())],
    ['unions', z.union([z.string(), z.strictObject({ a: z.number() })])],
    ['anything', z.unknown()],
    ['recursive JSON Schema', jsonSchema({ items: { $ref: '#' }, $schema: 'x' })],
  ])('not when JSON Schema expresses the whole schema: %s', (_title, schema) => {
    expect(needsRecheck(schema)).toBe(false);
  });

  it.each([
    ['an object that drops unknown keys', z.object({ ok: z.boolean() })],
    ['a refinement', z.string().refine((text) => text !== 'no')],
    ['a transform', z.string().transform(Number)],
    ['a default', z.strictObject({ a: z.string().default('x') })],
    ['a pattern', z.string().regex(/a/)],
    ['a format', z.email()],
    ['trimming', z.string().trim()],
    ['coercion', z.coerce.number()],
    ['catching', z.string().catch('x')],
    ['a pipe', z.string().pipe(z.string())],
    ['a codec', z.codec(z.string(), z.number(), { decode: Number, encode: String })],
    ['an exclusive choice', z.xor([z.string(), z.number()])],
    ['an intersection', z.intersection(z.string(), z.string())],
    ['a tuple', z.tuple([z.string()])],
    ['a record with special keys', z.record(z.enum(['a']), z.number())],
    ['steps', z.number().multipleOf(0.1)],
    ['a refinement deep inside', z.array(z.strictObject({ a: z.nullable(z.url()) }))],
    ['a pattern in JSON Schema', jsonSchema({ items: { pattern: 'a' } })],
  ])('when the schema does more than JSON Schema expresses: %s', (_title, schema) => {
    expect(needsRecheck(schema)).toBe(true);
  });
});

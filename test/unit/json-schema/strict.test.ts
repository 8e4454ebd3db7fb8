/** Schemas in the form of strict mode, and the way back from a model's answer. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { inputJsonSchema } from '../../../src/define/schemas/schema.js';
import { defineTool, jsonSchema } from '../../../src/index.js';
import { withoutAbsentNulls } from '../../../src/json-schema/absent-nulls.js';
import { isStrict, strictSchema } from '../../../src/json-schema/strict.js';
import type { Json, JsonSchema } from '../../../src/protocol/values/json.js';
import { promise } from '../../support/promise.js';

const schemaOf = (type: z.ZodType): JsonSchema => inputJsonSchema(type).jsonSchema;

function strictOf(type: z.ZodType): JsonSchema {
  const made = strictSchema(schemaOf(type));
  if (!made.ok) throw new Error(made.problem);
  return made.schema;
}

function problemOf(type: z.ZodType): string {
  const made = strictSchema(schemaOf(type));
  return made.ok ? 'strict' : made.problem;
}

describe('a schema in the form of strict mode', () => {
  it('has every field required, no other, and null where one may be omitted', {
    ...promise('N10'),
  }, () => {
    const type = z.object({
      id: z.string().min(1).describe('the id'),
      note: z.string().optional().describe('a note'),
      size: z.enum(['s', 'm']).optional(),
      page: z.int().default(3).describe('the page'),
      sure: z.boolean().nullish(),
      lines: z.array(z.object({ sku: z.string(), count: z.number().optional() })).optional(),
    });
    expect(strictOf(type)).toEqual({
      type: 'object',
      properties: {
        id: { type: 'string', minLength: 1, description: 'the id' },
        note: { type: ['string', 'null'], description: 'a note' },
        size: { type: ['string', 'null'], enum: ['s', 'm', null] },
        page: {
          type: ['integer', 'null'],
          minimum: Number.MIN_SAFE_INTEGER,
          maximum: Number.MAX_SAFE_INTEGER,
          description: 'the page Default: 3.',
        },
        sure: { type: ['boolean', 'null'] },
        lines: {
          anyOf: [
            {
              type: 'array',
              items: {
                type: 'object',
                properties: { sku: { type: 'string' }, count: { type: ['number', 'null'] } },
                required: ['sku', 'count'],
                additionalProperties: false,
              },
            },
            { type: 'null' },
          ],
        },
      },
      required: ['id', 'note', 'size', 'page', 'sure', 'lines'],
      additionalProperties: false,
    });
  });

  it('keeps choices and schemas that contain themselves', () => {
    const shape = z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('circle'), radius: z.number() }),
      z.object({ kind: z.literal('square'), side: z.number().optional() }),
    ]);
    const { properties } = strictOf(z.object({ shape, other: shape.optional() }));
    const { shape: made, other } = properties as unknown as Record<string, { anyOf: unknown[] }>;
    expect(made?.anyOf).toHaveLength(2);
    expect(other?.anyOf).toEqual([...(made?.anyOf ?? []), { type: 'null' }]);
    interface Node {
      name: string;
      children: Node[];
    }
    const node: z.ZodType<Node> = z.object({
      name: z.string(),
      get children() {
        return z.array(node);
      },
    });
    expect(problemOf(z.object({ root: node }))).toBe('strict');
  });

  it('leaves to the worker the rules that only it can check: unknown formats, patterns that look around', () => {
    const type = z.object({
      mail: z.email(),
      page: z.url(),
      code: z.string().regex(/^[A-Z]{3}$/),
      none: z.string().regex(/^(?!x)/),
    });
    expect(strictOf(type)['properties']).toEqual({
      mail: { type: 'string', format: 'email', pattern: expect.any(String) as string },
      none: { type: 'string' },
      page: { type: 'string' },
      code: { type: 'string', pattern: '^[A-Z]{3}$' },
    });
  });

  it.each([
    ['a record', z.object({ tags: z.record(z.string(), z.string()) }), '"tags" '],
    ['a tuple', z.object({ pair: z.tuple([z.string(), z.number()]) }), '"pair" uses "prefixItems"'],
    ['a loose object', z.object({ deep: z.looseObject({ a: z.string() }) }), '"deep" takes keys'],
    ['a catch-all', z.object({ a: z.object({}).catchall(z.string()) }), '"a" takes keys'],
    ['anything', z.object({ a: z.array(z.unknown()) }), '"a[]" takes anything'],
    ['nothing', z.object({ a: z.never() }), '"a" uses "not"'],
    ['a choice at the top', z.union([z.object({ a: z.string() }), z.object({})]), 'it is a choice'],
    [
      'very many values',
      z.object({ a: z.enum(Array.from({ length: 1_001 }, (_, index) => `v${index}`)) }),
      'it has 1001 enum values',
    ],
    [
      'very deep nesting',
      z.object({
        a: Array.from({ length: 12 }).reduce<z.ZodType>(
          (inner) => z.object({ a: inner }),
          z.string(),
        ),
      }),
      'is nested deeper than 10',
    ],
  ])('cannot be made of %s, and says why', (_what, type, problem) => {
    expect(problemOf(type)).toContain(problem);
  });
});

describe('a JSON Schema with keywords that strict mode does not have', () => {
  it.each(['allOf', 'not', 'if', 'dependentRequired', 'patternProperties', 'uniqueItems'])(
    'such as %s is not strict',
    (keyword) => {
      const schema: JsonSchema = { type: 'object', properties: { a: { [keyword]: [] } } };
      const made = strictSchema(schema);
      expect(made.ok ? 'strict' : made.problem).toBe(
        `"a" uses "${keyword}", which strict mode does not have`,
      );
    },
  );
});

describe('a tool', () => {
  const base = { name: 'x.y', description: 'Does x.', executor: 'internal' } as const;

  it('of zod is strict where its input can be', promise('N10'), () => {
    const tool = defineTool({ ...base, input: z.object({ a: z.string().optional() }) });
    expect(tool.strictInput).toMatchObject({ required: ['a'], additionalProperties: false });
    const loose = defineTool({ ...base, input: z.object({ a: z.record(z.string(), z.int()) }) });
    expect(loose.strictInput).toBeUndefined();
    expect(loose.notStrict).toContain('"a" takes keys');
  });

  it('of JSON Schema is given to the letter, and is strict only where it is so as it stands', () => {
    const strict: JsonSchema = {
      type: 'object',
      properties: { a: { type: ['string', 'null'], description: 'A.' } },
      required: ['a'],
      additionalProperties: false,
    };
    expect(isStrict(strict)).toBe(true);
    expect(defineTool({ ...base, input: jsonSchema(strict) }).strictInput).toEqual(strict);
    for (const schema of [
      { ...strict, required: [] },
      { ...strict, additionalProperties: true },
      { ...strict, properties: { a: { type: 'string', default: 'x' } } },
    ])
      expect(defineTool({ ...base, input: jsonSchema(schema) }).strictInput).toBeUndefined();
  });
});

describe('a null in place of a field', () => {
  const schema = schemaOf(
    z.object({ a: z.string().optional(), b: z.string().nullish(), c: z.string(), d: z.unknown() }),
  );

  it('is removed where the field may be absent and not null, and nowhere else', {
    ...promise('G166', 'N10'),
  }, () => {
    expect(withoutAbsentNulls(schema, { a: null, b: null, c: null, d: null, e: null })).toEqual({
      b: null,
      c: null,
      d: null,
      e: null,
    });
    for (const value of [null, 'text', [null], 7])
      expect(withoutAbsentNulls(schema, value)).toEqual(value);
  });

  it('leaves keys with a meaning in JavaScript as they are', () => {
    const text = '{"__proto__":{"a":null},"constructor":null,"c":"x"}';
    expect(JSON.stringify(withoutAbsentNulls(schema, JSON.parse(text) as Json))).toBe(text);
  });

  it('ends for schemas that go in circles', () => {
    const circle: JsonSchema = { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } };
    expect(withoutAbsentNulls(circle, { a: null })).toEqual({ a: null });
    const wide: JsonSchema = {
      $ref: '#/$defs/a',
      $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }] } },
    };
    expect(withoutAbsentNulls(wide, { a: null })).toEqual({ a: null });
  });

  it('is left where finding it would take too long', () => {
    const branch = (index: number): JsonSchema => ({
      type: 'object',
      properties: { kind: { const: index }, note: { type: 'string' } },
      required: ['kind'],
    });
    const rows: JsonSchema = {
      type: 'array',
      items: { anyOf: Array.from({ length: 300 }, (_, index) => branch(index)) },
    };
    const row = { kind: 299, note: null };
    expect(withoutAbsentNulls(rows, [row])).toEqual([{ kind: 299 }]);
    const many = Array.from({ length: 20_000 }, () => row);
    expect(withoutAbsentNulls(rows, many)).toBe(many);
  });
});

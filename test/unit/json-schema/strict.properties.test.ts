/** Strict mode over any zod types: the rules are kept, and a model's answer is read as it was meant. */
import { Validator } from '@cfworker/json-schema';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { inputJsonSchema } from '../../../src/define/schemas/schema.js';
import { withoutAbsentNulls } from '../../../src/json-schema/absent-nulls.js';
import { strictSchema } from '../../../src/json-schema/strict.js';
import { isRecord, type Json, type JsonSchema } from '../../../src/protocol/values/json.js';
import { promise } from '../../support/promise.js';

/** A zod type with values that it accepts, as a caller without strict mode would write them. */
interface Sample {
  readonly type: z.ZodType;
  readonly value: fc.Arbitrary<Json>;
}

const plain = fc.constantFrom<Sample>(
  { type: z.string(), value: fc.string() },
  { type: z.int().min(-5), value: fc.integer({ min: -5, max: 1_000 }) },
  {
    type: z.number().nullable(),
    value: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
  },
  { type: z.boolean(), value: fc.boolean() },
  { type: z.enum(['a', 'b']), value: fc.constantFrom('a', 'b') },
  { type: z.literal(7), value: fc.constant(7) },
  { type: z.null(), value: fc.constant(null) },
  { type: z.iso.date(), value: fc.constant('2026-02-03') },
  { type: z.string().trim().default('x'), value: fc.string() },
  { type: z.union([z.string(), z.int()]), value: fc.oneof(fc.string(), fc.integer()) },
);

const { sample } = fc.letrec<{ sample: Sample; object: Sample }>((tie) => ({
  sample: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    plain,
    tie('object'),
    tie('sample').map(({ type, value }) => ({
      type: z.array(type),
      value: fc.array(value, { maxLength: 3 }),
    })),
    fc.tuple(tie('object'), tie('object')).map(([left, right]) => ({
      type: z.discriminatedUnion('kind', [
        (left.type as z.ZodObject).extend({ kind: z.literal('l') }),
        (right.type as z.ZodObject).extend({ kind: z.literal('r') }),
      ]),
      value: fc.oneof(
        left.value.map((it) => ({ ...(it as object), kind: 'l' })),
        right.value.map((it) => ({ ...(it as object), kind: 'r' })),
      ),
    })),
  ),
  object: fc
    .dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.tuple(tie('sample'), fc.boolean()), {
      maxKeys: 3,
    })
    .map((fields) => {
      const entries = Object.entries(fields);
      return {
        type: z.object(
          Object.fromEntries(
            entries.map(([name, [it, isOptional]]) => [
              name,
              isOptional ? it.type.optional() : it.type,
            ]),
          ),
        ),
        value: fc.record(Object.fromEntries(entries.map(([name, [it]]) => [name, it.value])), {
          requiredKeys: entries.filter(([, [, optional]]) => !optional).map(([name]) => name),
        }),
      };
    }),
}));
const objects = fc.tuple(sample, fc.boolean()).map(([it, isOptional]) => ({
  type: z.object({ top: isOptional ? it.type.optional() : it.type }),
  value: fc.record({ top: it.value }, { requiredKeys: isOptional ? [] : ['top'] }),
}));

/** The value as a model in strict mode writes it: null for every field that it omits. */
function written(schema: JsonSchema, value: Json): Json {
  const union = schema['anyOf'];
  if (Array.isArray(union)) {
    const branch = (union as JsonSchema[]).find((it) => {
      const made = written(it, value);
      return new Validator(structuredClone(it), '2020-12').validate(made).valid;
    });
    return branch === undefined ? value : written(branch, value);
  }
  const { properties, items } = schema;
  if (Array.isArray(value) && isRecord(items))
    return (value as Json[]).map((it) => written(items, it));
  if (!isRecord(value) || !isRecord(properties)) return value;
  return Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [
      name,
      Object.hasOwn(value, name) ? written(field as JsonSchema, value[name] as Json) : null,
    ]),
  );
}

/** The provider's rules, written down a second time. */
function brokenRules(schema: unknown, path = '$'): readonly string[] {
  if (!isRecord(schema)) return [`${path} is no schema`];
  const inner = ['anyOf', '$defs'].flatMap((key) => Object.values(schema[key] ?? {}) as unknown[]);
  const own: string[] = [];
  if (schema['type'] === 'object') {
    const names = Object.keys(schema['properties'] ?? {});
    if (schema['additionalProperties'] !== false) own.push(`${path} is open`);
    if (JSON.stringify(schema['required']) !== JSON.stringify(names)) own.push(`${path} required`);
  } else if (!('type' in schema) && !('anyOf' in schema) && !('$ref' in schema))
    own.push(`${path} has no type`);
  for (const word of [
    'oneOf',
    'allOf',
    'not',
    'default',
    'prefixItems',
    'propertyNames',
    'examples',
  ])
    if (word in schema) own.push(`${path} has ${word}`);
  if (schema['items'] !== undefined) inner.push(schema['items']);
  inner.push(...(Object.values(schema['properties'] ?? {}) as unknown[]));
  return [...own, ...inner.flatMap((it, index) => brokenRules(it, `${path}.${index}`))];
}

/** Where a field may be null and may be absent, a model in strict mode has one way to write both. */
function plainly(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainly);
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).filter(([, item]) => item !== null && item !== undefined);
  return Object.fromEntries(kept.map(([name, item]) => [name, plainly(item)]));
}

describe('for any zod type', () => {
  it("its strict schema keeps the rules, and a model's answer by it is read as it was meant", {
    ...promise('G166'),
  }, () => {
    fc.assert(
      fc.property(
        objects.chain((it) => fc.tuple(fc.constant(it.type), it.value)),
        ([type, value]) => {
          const schema = inputJsonSchema(type).jsonSchema;
          const made = strictSchema(schema);
          if (!made.ok) return;
          expect(brokenRules(made.schema)).toEqual([]);
          const text = written(made.schema, value);
          const { valid, errors } = new Validator(structuredClone(made.schema), '2020-12').validate(
            text,
          );
          expect(valid ? [] : errors).toEqual([]);
          const read = type.safeParse(withoutAbsentNulls(schema, text));
          expect(read.success ? plainly(read.data) : read.error.issues).toEqual(
            plainly(type.parse(value)),
          );
        },
      ),
      { numRuns: 300 },
    );
  });
});

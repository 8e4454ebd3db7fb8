/** Answers that lose no keys by parsing are not checked a second time. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../../src/define/define-tool.js';
import { mayHaveUnknownKeys, unnamedKeys } from '../../../../src/json-schema/unknown-keys.js';
import type { Json } from '../../../../src/protocol/values/json.js';
import { answer, modelCalls, plannedCall } from '../../../support/builders/core-builders.js';
import { aMachineWith, type MachineUnderTest } from '../../../support/schedules/core-driver.js';

function answerRule(output: z.ZodType) {
  const { answer: rule } = defineTool({
    name: 'ask',
    description: 'Asks.',
    executor: 'human',
    input: z.object({}),
    output,
  });
  if (rule?.schema === undefined) throw new Error('the tool takes no answer');
  return { ...rule, schema: rule.schema };
}

const order = z.object({
  id: z.string(),
  lines: z.array(z.object({ sku: z.string(), count: z.number().optional() })),
  notes: z.record(z.string(), z.object({ text: z.string() })).optional(),
});
const whole = { id: 'o1', lines: [{ sku: 'tea' }], notes: { a: { text: 'x' } } };

describe('the keys that a JSON Schema surely does not name', () => {
  const line = { type: 'object', properties: { sku: {} } };
  const lines = { type: 'object', properties: { id: {}, lines: { items: line } } };
  const given = { id: 1, lines: [{ sku: 'tea' }, { sku: 'pot', colour: 'red' }], note: 'x' };

  it.each<[string, unknown, readonly string[]]>([
    ['are found at every depth', lines, ['/lines/1/colour', '/note']],
    ['are none where it lists no properties', { type: 'object' }, []],
    [
      'are none where it admits others',
      { ...lines, additionalProperties: {} },
      ['/lines/1/colour'],
    ],
    [
      'are none where it admits them by pattern',
      { ...lines, patternProperties: {} },
      ['/lines/1/colour'],
    ],
    ['are none where it is composed of others', { ...lines, allOf: [{}] }, ['/lines/1/colour']],
    ['are none where it refers to another', { $ref: '#/$defs/it', $defs: { it: line } }, []],
    ['are none where it is no object', true, []],
  ])('%s', (_what, schema, expected) => {
    expect(unnamedKeys(schema, given)).toEqual(expected);
  });

  it('include the name of a prototype', () => {
    const value: unknown = JSON.parse('{"__proto__":{},"constructor":1}');
    expect(unnamedKeys(lines, value)).toEqual(['/__proto__', '/constructor']);
  });
});

describe('a plain object, which drops unknown keys,', () => {
  it.each<[string, z.ZodType, Json, boolean]>([
    ['with the keys of its schema', order, whole, false],
    ['with one key more', order, { ...whole, extra: 1 }, true],
    ['with one key more in a list', order, { ...whole, lines: [{ sku: 'tea', x: 1 }] }, true],
    ['with one key more in a record', order, { ...whole, notes: { a: { text: 'x', y: 1 } } }, true],
    ['with a key by an evil name', order, JSON.parse('{"id":"o1","__proto__":{}}') as Json, true],
    ['that may be null, and is not', order.nullable(), whole, true],
    ['or another one', z.union([order, z.object({ other: z.string() })]), whole, true],
    ['or null, which it is', order.nullable(), null, false],
    ['with anything in it', z.object({ any: z.unknown() }), { any: { a: 1 } }, true],
  ])('%s', (_name, schema, value, expected) => {
    expect(mayHaveUnknownKeys(answerRule(schema).schema, value)).toBe(expected);
  });

  it('is accepted without a check only where the schema itself would not change it', () => {
    const values = fc.object({
      key: fc.constantFrom('id', 'lines', 'notes', 'sku', 'text', 'other'),
      values: [fc.string(), fc.constant(null), fc.integer()],
      maxDepth: 4,
    });
    const lines = fc.array(
      fc.record({ sku: fc.string(), other: fc.string() }, { requiredKeys: [] }),
    );
    const orders = fc.record({ id: fc.string(), lines }, { requiredKeys: ['id', 'lines'] });
    const { schema } = answerRule(order);
    fc.assert(
      fc.property(fc.oneof(values, orders), (value) => {
        const parsed = order.safeParse(value);
        if (parsed.success && !mayHaveUnknownKeys(schema, value as Json))
          expect(parsed.data).toEqual(value);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a definition', () => {
  it('says when a check could only drop keys', () => {
    expect(answerRule(order)).toMatchObject({ recheck: true, recheckOnly: 'unknown_keys' });
    for (const schema of [
      z.object({ id: z.string().regex(/^o/u) }),
      z.object({ id: z.string().default('o1') }),
      order.refine(() => true),
    ])
      expect(answerRule(schema)).not.toHaveProperty('recheckOnly');
    expect(answerRule(z.strictObject({ id: z.string() }))).toMatchObject({ recheck: false });
  });
});

describe('an answer to a plain object', () => {
  const { schema } = answerRule(z.object({ id: z.string() }));
  const question = (): MachineUnderTest =>
    aMachineWith(
      modelCalls([
        plannedCall('q', {
          executor: 'human',
          recheckAnswer: true,
          recheckOnly: 'unknown_keys',
          answerSchema: schema,
        }),
      ]),
    );

  it('is the result at once when no key of it would be dropped', () => {
    const m = question();
    m.resolve('q', answer({ id: 'o1' }));
    expect(m.last('tool_result').result.envelope).toEqual({ ok: true, result: { id: 'o1' } });
  });

  it('is checked by a worker when it has more keys', () => {
    const m = question();
    m.resolve('q', answer({ id: 'o1', admin: true }), { requestId: 'r1' });
    expect(m.effects()).toEqual([{ type: 'check_answer', toolCallId: 'q', requestId: 'r1' }]);
  });
});

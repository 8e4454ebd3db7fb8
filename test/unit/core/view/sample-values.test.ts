/** Sample values of JSON Schemas, as operators get them to edit. */
import { expect, it } from 'vitest';
import { sampleValue } from '../../../../src/core/view/sample-value.js';

const sample = (schema: unknown): unknown => sampleValue(schema, 'none');
/** Properties below each other. */
const nested = (levels: number): object =>
  levels === 0
    ? { type: 'boolean' }
    : { type: 'object', properties: { a: nested(levels - 1) }, required: ['a'] };

it.each<[string, unknown, unknown]>([
  ['no schema', undefined, 'none'],
  ['a flag as schema', true, 'none'],
  ['no type', {}, 'none'],
  ['an unknown type', { type: 'colour' }, 'none'],
  ['a constant', { const: null, default: 1 }, null],
  ['a default', { type: 'string', default: 'x', enum: ['y'] }, 'x'],
  ['a choice', { enum: ['a', 'b'], examples: ['c'] }, 'a'],
  ['an example', { type: 'number', examples: [7] }, 7],
  ['no choice', { type: 'number', enum: [] }, 0],
  ['the first of several', { anyOf: [{ type: 'null' }, { type: 'string' }] }, null],
  ['one of several', { oneOf: [{ type: 'boolean' }] }, true],
  ['several types', { type: ['boolean', 'null'] }, true],
  ['nothing', { type: 'null' }, null],
  ['a text', { type: 'string' }, 'an answer'],
  ['a date', { type: 'string', format: 'date' }, '2026-01-31'],
  ['a time', { type: 'string', format: 'time' }, '12:00:00'],
  ['an instant', { type: 'string', format: 'date-time' }, '2026-01-31T12:00:00Z'],
  ['an address', { type: 'string', format: 'uri' }, 'https://example.com'],
  ['mail', { type: 'string', format: 'email' }, 'somebody@example.com'],
  ['an id', { type: 'string', format: 'uuid' }, '00000000-0000-4000-8000-000000000000'],
  ['a format of its own', { type: 'string', format: 'order' }, 'an answer'],
  ['a longer text', { type: 'string', minLength: 11 }, 'an answer..'],
  ['a shorter text', { type: 'string', maxLength: 2 }, 'an'],
  ['a number', { type: 'number' }, 0],
  ['the least', { type: 'integer', minimum: 3 }, 3],
  ['more than', { type: 'integer', exclusiveMinimum: 3 }, 4],
  ['the most', { type: 'integer', maximum: -5 }, -5],
  ['less than', { type: 'integer', exclusiveMaximum: -5 }, -6],
  ['a multiple', { type: 'integer', minimum: 7, multipleOf: 5 }, 10],
  ['a multiple behind', { type: 'integer', exclusiveMinimum: 10, multipleOf: 5 }, 15],
  ['the stricter of two', { type: 'integer', minimum: 9, exclusiveMinimum: 3 }, 9],
  ['a list', { type: 'array', items: { type: 'null' } }, []],
  ['a list of two', { type: 'array', items: { type: 'boolean' }, minItems: 2 }, [true, true]],
  ['a tuple', { type: 'array', prefixItems: [{ type: 'boolean' }, {}] }, [true, null]],
  [
    'a tuple with more',
    { type: 'array', prefixItems: [{ const: 1 }], items: { const: 2 }, minItems: 3 },
    [1, 2, 2],
  ],
  ['a list without a form', { type: 'array', minItems: 1 }, [null]],
  ['an object', { type: 'object', properties: { a: { const: 1 } } }, {}],
  [
    'its required fields',
    { type: 'object', properties: { a: { const: 1 }, b: {} }, required: ['a', 'c', 7, 'b'] },
    { a: 1, c: null, b: null },
  ],
  [
    'named fields',
    { type: 'object', additionalProperties: { const: 1 }, required: ['a'] },
    { a: 1 },
  ],
  ['an object of no fields', { type: 'object', properties: 1, required: 'a' }, {}],
])('%s', (_title, schema, value) => {
  expect(sample(schema)).toEqual(value);
});

it.each<[string, unknown, unknown]>([
  ['a name', { $ref: '#/$defs/a', $defs: { a: { const: 1 } } }, 1],
  ['a name with a slash', { $ref: '#/$defs/a~1b~0c', $defs: { 'a/b~c': { const: 1 } } }, 1],
  ['a name that is none', { $ref: '#/$defs/b', $defs: { a: 1 } }, 'none'],
  ['a way through a text', { $ref: '#/a/b/c', a: 'x' }, 'none'],
  ['its own fields first', { $ref: '#/$defs/a', default: 2, $defs: { a: { default: 1 } } }, 2],
  [
    'parts',
    {
      allOf: [
        { type: 'object', properties: { a: { const: 1 } }, required: ['a'] },
        { properties: { b: { const: 2 } }, required: ['b'] },
        'none',
      ],
      properties: { c: { const: 3 } },
      required: ['c'],
    },
    { a: 1, b: 2, c: 3 },
  ],
  ['itself', { $ref: '#' }, 'none'],
])('follows %s', (_title, schema, value) => {
  expect(sample(schema)).toEqual(value);
});

it('ends at a depth of eight, also below a name that has itself', () => {
  const text = (levels: number): string => JSON.stringify(sample(nested(levels)));
  expect(text(8)).toContain('true');
  expect(text(9)).toContain('null');
  const own = { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] };
  expect(JSON.stringify(sample(own)).length).toBeLessThan(200);
});

it('has bounds of lengths', () => {
  const length = (schema: object): number => (sample(schema) as string).length;
  expect(length({ type: 'string', minLength: 5_000 })).toBe(1_000);
  expect(length({ type: 'array', minItems: 5_000 })).toBe(100);
});

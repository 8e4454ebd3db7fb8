/** Arguments that a person edits: the fields, what was entered, and what it changes. */
import type { Json } from 'colloquy/browser';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changesOf, editedInput, editFields, enteredOf } from '../../../src/react/words/edit.js';
import { promise } from '../../support/promise.js';

const SCHEMA = {
  type: 'object',
  required: ['to', 'cents'],
  properties: {
    to: { type: 'string', minLength: 2 },
    cents: { type: 'integer', minimum: 1, maximum: 500 },
    express: { type: 'boolean' },
    size: { type: 'integer', enum: [1, 2] },
    at: { type: 'string', format: 'date-time' },
    lines: { type: 'array', items: { type: 'object' } },
  },
};
const INPUT: Json = {
  ...{ to: 'Ann', cents: 125, at: '2030-01-01T00:00:00+02:00', lines: [{ sku: 'a' }], extra: null },
};
const fields = editFields(SCHEMA, INPUT);
const edit = (entered: object) =>
  editedInput(fields, INPUT, { ...enteredOf(fields, INPUT), ...entered });

describe('the form', () => {
  it('has a field for each of the schema, and JSON for the rest', () => {
    const types = fields.map(({ name, field }) => `${name} ${field?.type ?? 'json'}`);
    expect(types).toEqual([
      ...['to text', 'cents number', 'express checkbox', 'size select', 'at datetime-local'],
      ...['lines json', 'extra json'],
    ]);
  });

  it('knows bounds that are left out, and leaves other rules to the API', () => {
    const schema = {
      properties: {
        n: { type: 'integer', exclusiveMinimum: 0, maximum: 9_007_199_254_740_991 },
        m: { type: 'number', exclusiveMaximum: 2.5, multipleOf: 0.5 },
        id: { type: 'string', format: 'uuid' },
      },
    };
    expect(editFields(schema, {}).map(({ field }) => field)).toMatchObject([
      { type: 'number', min: 1, whole: true },
      { type: 'number', max: 2.5 },
      { type: 'text' },
    ]);
  });

  it('has JSON for a value that its field cannot show, and for one without a schema', () => {
    const [field] = editFields(SCHEMA, { to: { name: 'Ann' } });
    expect(field).toEqual({ name: 'to' });
    expect(editFields(null, { a: 1 })).toEqual([{ name: 'a' }]);
    expect(editFields(SCHEMA, [1])).toEqual([{ name: '' }]);
  });
});

describe('an edit', () => {
  it('changes what was entered, and leaves the rest to the letter', () => {
    expect(edit({ cents: '100', size: '2', express: true })).toEqual({
      ok: true,
      input: { ...(INPUT as object), cents: 100, size: 2, express: true },
      changes: [
        { name: 'cents', before: 125, after: 100 },
        { name: 'express', before: undefined, after: true },
        { name: 'size', before: undefined, after: 2 },
      ],
    });
  });

  it('of nested values is JSON, and an empty text takes a field away', () => {
    expect(edit({ lines: '[{"sku":"b"}]', extra: '' })).toMatchObject({
      changes: [
        { name: 'lines', before: [{ sku: 'a' }], after: [{ sku: 'b' }] },
        { name: 'extra', before: null, after: undefined },
      ],
    });
  });

  it('names the fields that break a rule', () => {
    expect(edit({ to: 'A', cents: '600', lines: '[' })).toEqual({
      ok: false,
      errors: {
        to: 'must have at least 2 characters',
        cents: 'must be at most 500',
        lines: 'is not JSON',
      },
    });
    expect(edit({ to: '' })).toEqual({ ok: false, errors: { to: 'is required' } });
  });

  it('of a value without fields is the value', () => {
    const whole = editFields(null, [1]);
    expect(editedInput(whole, [1], { '': '[2]' })).toEqual({
      ok: true,
      input: [2],
      changes: [{ name: '', before: [1], after: [2] }],
    });
  });

  it('that enters nothing changes nothing, for every input (property)', promise('G376'), () => {
    const input = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
    fc.assert(
      fc.property(input, fc.constantFrom(SCHEMA, null), (value, schema) => {
        const own = editFields(schema, value);
        const edited = editedInput(own, value, enteredOf(own, value));
        expect(edited).toEqual({ ok: true, input: value, changes: [] });
      }),
    );
  });
});

it('changes name each field once, of either side', () => {
  expect(changesOf({ a: 1, b: [1] }, { b: [1], c: 2 })).toEqual([
    { name: 'a', before: 1, after: undefined },
    { name: 'c', before: undefined, after: 2 },
  ]);
});

/** Forms from the schemas of answers, and the answers that entered values make. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { checkForm, errorsByField, type Form, formOf } from '../../../src/browser/index.js';
import type { JsonSchema } from '../../../src/protocol/values/json.js';

const object = (properties: object, more: object = {}): JsonSchema =>
  ({ type: 'object', properties, ...more }) as JsonSchema;

function fieldOf(schema: object): unknown {
  const form = formOf(object({ value: schema }));
  return form.type === 'fields' ? form.fields[0] : 'json';
}

const COLOURS = [
  { value: 'r', title: 'Red' },
  { value: 'g', title: 'Green' },
];

describe('the form of an answer', () => {
  it.each<[string, object, object]>([
    ['a text', { type: 'string' }, { type: 'text', title: 'value' }],
    [
      'a titled text with help',
      { type: 'string', title: 'Name', description: 'Yours' },
      { title: 'Name', help: 'Yours' },
    ],
    [
      'a bounded text',
      { type: 'string', minLength: 2, maxLength: 9, pattern: '^a' },
      { type: 'text', min: 2, max: 9 },
    ],
    ['an e-mail', { type: 'string', format: 'email' }, { type: 'email' }],
    ['an address', { type: 'string', format: 'uri' }, { type: 'url' }],
    ['a day', { type: 'string', format: 'date' }, { type: 'date' }],
    ['a time', { type: 'string', format: 'date-time' }, { type: 'datetime-local' }],
    [
      'a number',
      { type: 'number', minimum: 0.5, maximum: 2 },
      { type: 'number', min: 0.5, max: 2 },
    ],
    ['a whole number', { type: 'integer' }, { type: 'number', whole: true }],
    ['a yes or no', { type: 'boolean', default: true }, { type: 'checkbox', default: true }],
    [
      'a choice',
      { type: 'string', enum: ['r', 'g'] },
      {
        type: 'select',
        options: [
          { value: 'r', title: 'r' },
          { value: 'g', title: 'g' },
        ],
      },
    ],
    [
      'a choice with old names',
      { type: 'string', enum: ['r', 'g'], enumNames: ['Red', 'Green'] },
      { options: COLOURS },
    ],
    [
      'a choice with titles',
      {
        type: 'string',
        oneOf: [
          { const: 'r', title: 'Red' },
          { const: 'g', title: 'Green' },
        ],
      },
      { type: 'select', options: COLOURS },
    ],
    [
      'a choice of numbers',
      { type: 'number', enum: [1, 2] },
      {
        options: [
          { value: 1, title: '1' },
          { value: 2, title: '2' },
        ],
      },
    ],
    [
      'some of many',
      { type: 'array', items: { type: 'string', enum: ['r'] }, minItems: 1, maxItems: 2 },
      { type: 'multi-select', min: 1, max: 2 },
    ],
    [
      'some of many with titles',
      {
        type: 'array',
        items: {
          anyOf: [
            { const: 'r', title: 'Red' },
            { const: 'g', title: 'Green' },
          ],
        },
      },
      { type: 'multi-select', options: COLOURS },
    ],
  ])('has %s', (_what, schema, field) => {
    expect(fieldOf(schema)).toMatchObject({ name: 'value', required: false, ...field });
  });

  it('is that of zod types, too', () => {
    const schema = z.toJSONSchema(
      z.object({
        day: z.iso.date().describe('Which day?'),
        hour: z.int().min(8),
        note: z.string().optional(),
      }),
    ) as JsonSchema;
    expect(formOf(schema)).toMatchObject({
      type: 'fields',
      fields: [
        { name: 'day', type: 'date', help: 'Which day?', required: true },
        { name: 'hour', type: 'number', whole: true, min: 8, required: true },
        { name: 'note', type: 'text', required: false },
      ],
    });
    const [, hour] = (formOf(schema) as Extract<Form, { type: 'fields' }>).fields;
    expect(hour).not.toHaveProperty('max');
  });

  it.each<[string, JsonSchema]>([
    ['a nested object', object({ at: { type: 'object', properties: {} } })],
    ['a list of any texts', object({ tags: { type: 'array', items: { type: 'string' } } })],
    ['a choice of types', object({ value: { anyOf: [{ type: 'string' }, { type: 'null' }] } })],
    ['a rule between fields', object({ a: { type: 'string' } }, { dependentRequired: {} })],
    ['other fields of a type', object({}, { additionalProperties: { type: 'string' } })],
    ['a required field that it does not describe', object({}, { required: ['a'] })],
    ['an unknown format', object({ a: { type: 'string', format: 'ipv4' } })],
    ['no object', { type: 'string' }],
    ['an empty schema', {}],
  ])('is JSON for %s', (_what, schema) => {
    expect(formOf(schema)).toEqual({ type: 'json', schema });
  });

  it('never throws, for any JSON (property)', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (schema, entered) => {
        const form = formOf(object({ a: schema as object }));
        checkForm(form, { a: entered });
        formOf((typeof schema === 'object' && schema !== null ? schema : {}) as JsonSchema);
      }),
    );
  });
});

const FORM = formOf(
  object(
    {
      name: { type: 'string', minLength: 2 },
      mail: { type: 'string', format: 'email' },
      page: { type: 'string', format: 'uri' },
      day: { type: 'string', format: 'date' },
      time: { type: 'string', format: 'date-time' },
      age: { type: 'integer', minimum: 18 },
      agreed: { type: 'boolean' },
      size: { type: 'number', enum: [1, 2] },
      tags: { type: 'array', items: { enum: ['a', 'b'] }, maxItems: 1 },
    },
    { required: ['name'] },
  ),
);

describe('entered values', () => {
  it('make the answer: texts become numbers, empty fields are left out, a box that is not ticked is false', () => {
    expect(checkForm(FORM, { name: 'Ann', age: '20', size: '2', mail: '', tags: 'a' })).toEqual({
      ok: true,
      value: { name: 'Ann', age: 20, agreed: false, size: 2, tags: ['a'] },
    });
    expect(checkForm(FORM, { name: 'Ann', agreed: 'on', time: '2030-01-31T10:00Z' })).toMatchObject(
      {
        value: { agreed: true, time: '2030-01-31T10:00:00.000Z' },
      },
    );
  });

  it.each<[string, unknown, string]>([
    ['name', ' ', 'is required'],
    ['name', 'x', 'must have at least 2 characters'],
    ['mail', 'ann', 'must be an e-mail address'],
    ['page', 'nowhere', 'must be an address such as https://…'],
    ['day', '2030-02-30', 'must be a date such as 2030-01-31'],
    ['day', '2030', 'must be a date such as 2030-01-31'],
    ['time', 'noon', 'must be a date and a time'],
    ['age', '17', 'must be at least 18'],
    ['age', '18.5', 'must be a whole number'],
    ['age', 'old', 'must be a number'],
    ['size', '3', 'must be one of the options'],
    ['tags', ['a', 'c'], 'must be among the options'],
    ['tags', ['a', 'b'], 'must have at most 1 of the options'],
  ])('that break a rule have an error at their field: %s %j', (name, value, error) => {
    const checked = checkForm(FORM, { name: 'Ann', [name]: value });
    expect(checked).toEqual({ ok: false, errors: { [name]: error } });
  });

  it('of a form without fields are JSON', () => {
    const form: Form = { type: 'json', schema: {} };
    expect(checkForm(form, '{"a":[1]}')).toEqual({ ok: true, value: { a: [1] } });
    expect(checkForm(form, '{')).toEqual({ ok: false, errors: { '': 'is not JSON' } });
  });

  it('that the API refuses have its problems by field', () => {
    const problems = [
      { path: '/resolution/value/hour', message: 'must be at most 17' },
      { path: '/resolution/value/a~1b/0', message: 'must be a text' },
      { path: '/resolution/value', message: 'must be an object' },
    ];
    expect(errorsByField(problems)).toEqual({
      hour: 'must be at most 17',
      'a/b': 'must be a text',
      '': 'must be an object',
    });
  });
});

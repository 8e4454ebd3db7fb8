/** JSON Schemas of callers: a keyword with an impossible value is named, at every level. */
import { describe, expect, it } from 'vitest';
import { checkMessage } from '../../../src/client/api/checks.js';
import { ConversationError } from '../../../src/client/api/errors.js';
import { schemaFormProblems } from '../../../src/json-schema/shape.js';
import type { SendMessageInput } from '../../../src/protocol/conversation/conversation.js';
import { actor } from '../../support/builders/core-builders.js';
import { promise } from '../../support/promise.js';
import { toolFaults } from '../define/tool/faults.js';

const inObject = (field: unknown) => ({ type: 'object', properties: { field } });

const FAULTS: readonly (readonly [schema: unknown, path: string])[] = [
  ['text', ''],
  [inObject({ type: 'strang' }), '/properties/field/type'],
  [inObject({ type: ['string', 'nil'] }), '/properties/field/type'],
  [inObject({ type: [] }), '/properties/field/type'],
  [inObject(5), '/properties/field'],
  [{ type: 'object', properties: [] }, '/properties'],
  [inObject({ type: 'array', items: 'string' }), '/properties/field/items'],
  [inObject({ items: [{ type: 'x' }] }), '/properties/field/items/0/type'],
  [inObject({ anyOf: [{ type: 'x' }] }), '/properties/field/anyOf/0/type'],
  [inObject({ anyOf: [] }), '/properties/field/anyOf'],
  [inObject({ oneOf: {} }), '/properties/field/oneOf'],
  [{ $defs: { a: { not: { type: 'x' } } } }, '/$defs/a/not/type'],
  [{ required: 'field' }, '/required'],
  [{ required: [1] }, '/required'],
  [inObject({ enum: 'a' }), '/properties/field/enum'],
  [inObject({ enum: [] }), '/properties/field/enum'],
  [inObject({ minLength: -1 }), '/properties/field/minLength'],
  [inObject({ maxItems: '3' }), '/properties/field/maxItems'],
  [inObject({ exclusiveMinimum: true }), '/properties/field/exclusiveMinimum'],
  [inObject({ pattern: 1 }), '/properties/field/pattern'],
  [inObject({ uniqueItems: 1 }), '/properties/field/uniqueItems'],
  [inObject({ $ref: {} }), '/properties/field/$ref'],
];

const SOUND: readonly unknown[] = [
  true,
  {},
  inObject(true),
  inObject({ type: ['string', 'null'], enum: ['a', null], minLength: 0, pattern: '^a' }),
  // Values, not schemas.
  inObject({ const: { type: 'strang' }, default: { required: 1 }, examples: [{ items: 5 }] }),
  { type: 'object', properties: { type: { type: 'string' }, required: { type: 'boolean' } } },
  { $defs: { n: { type: 'integer', minimum: 1.5 } }, ...inObject({ $ref: '#/$defs/n' }) },
  { type: 'object', 'x-own': { type: 7 }, additionalProperties: { anyOf: [{}, false] } },
];

describe('the form of a JSON Schema', () => {
  it.each(FAULTS)('%j has a fault at "%s"', (schema, path) => {
    expect(schemaFormProblems(schema).map((problem) => problem.path)).toEqual([path]);
  });

  it.each(SOUND)('%j is sound', (schema) => {
    expect(schemaFormProblems(schema)).toEqual([]);
  });

  it('is checked before a message with an output is sent', promise('G38'), () => {
    const message = (output: unknown) =>
      ({ text: 'Hi', requestId: 'r', actor: actor('ann'), output }) as SendMessageInput;
    const refused = () => {
      checkMessage(message(inObject({ type: 'strang' })));
    };
    expect(refused).toThrow(ConversationError);
    expect(refused).toThrow('/properties/field/type: must be "object"');
    expect(() => {
      checkMessage(message(inObject({ type: 'string' })));
    }).not.toThrow();
  });

  it('is checked where a tool is defined', promise('G38'), () => {
    const input = { jsonSchema: inObject({ type: 'strang' }) };
    const faults = toolFaults({ name: 'a', description: 'A.', input, run: () => null });
    expect(JSON.stringify(faults)).toContain('/properties/field/type');
  });
});

/** Small schemas that stand for immense ones, and answers that would be checked along very many ways. */
import { describe, expect, it } from 'vitest';
import { answerProblems } from '../../../src/core/input/answer.js';
import { questionProblem } from '../../../src/core/input/question.js';
import { initColloquy } from '../../../src/define/init.js';
import { validate } from '../../../src/define/schemas/validate.js';
import { expandedSize } from '../../../src/json-schema/judge/cost.js';
import { schemaProblems, TOO_MUCH_WORK } from '../../../src/json-schema/judge/judge.js';
import { jsonSchemaProblems } from '../../../src/json-schema/relaxed.js';
import { MAX_SCHEMA_OBJECTS } from '../../../src/protocol/limits/limits.js';
import type { Json, JsonSchema } from '../../../src/protocol/values/json.js';
import { promise } from '../../support/promise.js';

/** Each of the definitions refers to the next twice: 2^levels in all. */
function fan(levels: number): JsonSchema {
  const $defs: Record<string, Json> = { [`d${levels}`]: { type: 'string' } };
  for (let level = 0; level < levels; level += 1) {
    const next = { $ref: `#/$defs/d${level + 1}` };
    $defs[`d${level}`] = { allOf: [next, { ...next }] };
  }
  return { $defs, $ref: '#/$defs/d0' };
}

/** Every variant has the same field, which holds any variant again: an answer of depth n is checked in 20^n ways. */
const UNION: JsonSchema = {
  anyOf: Array.from({ length: 20 }, (_, index) => ({
    type: 'object',
    properties: { kind: { const: `k${index}` }, inner: { $ref: '#' } },
    required: ['kind'],
  })),
};

function nested(depth: number, value: Json = { kind: 'k1' }): Json {
  return depth === 0 ? value : nested(depth - 1, { kind: 'k1', inner: value });
}

const TOO_LARGE = { path: '', rule: expect.stringContaining('$refs written out') as string };

describe('a schema whose references multiply', () => {
  it('is refused where a question asks with it, with the name of the rule, and fast', {
    ...promise('G39'),
  }, () => {
    const problem = questionProblem({ form: fan(40) });
    expect(problem).toContain(`more than ${MAX_SCHEMA_OBJECTS} parts`);
    expect(questionProblem({ form: fan(5) })).toBeUndefined();
  });

  it('is refused where a tool is defined with it', promise('G39'), () => {
    const { defineTool } = initColloquy();
    const define = () =>
      defineTool({
        name: 'crm.update',
        description: 'Updates.',
        input: { jsonSchema: fan(40) },
        run: () => null,
      });
    expect(define).toThrow('$refs written out');
  });

  it('counts a reference to itself once, and data not at all', () => {
    expect(jsonSchemaProblems(UNION)).toEqual([]);
    expect(expandedSize({ const: { $ref: '#' }, items: { $ref: '#' } })).toBe(3);
    expect(expandedSize({ $ref: '#/$defs/none' })).toBe(1);
    expect(jsonSchemaProblems(fan(40))).toEqual([TOO_LARGE]);
    expect(jsonSchemaProblems(fan(2_000))).toEqual([TOO_LARGE]);
  });
});

describe('an answer that would be checked along very many ways', () => {
  const BOMB = nested(12);

  it('is refused with a problem that names its field, not checked', promise('G39'), () => {
    expect(answerProblems(nested(2), UNION)).toEqual([]);
    expect(answerProblems(BOMB, UNION)).toMatchObject([
      {
        path: '/resolution/value',
        message: expect.stringContaining('nested less deeply') as string,
      },
    ]);
  });

  it('is refused by workers, too', async () => {
    expect(await validate({ jsonSchema: UNION }, nested(2))).toMatchObject({ ok: true });
    expect(await validate({ jsonSchema: UNION }, BOMB)).toMatchObject({
      ok: false,
      problems: [{ message: expect.stringContaining('nested less deeply') as string }],
    });
  });

  it('is no long list, no deep tree, and no part without a schema', () => {
    const list: JsonSchema = { type: 'array', items: { type: 'object', properties: { a: {} } } };
    const items = Array.from({ length: 10_000 }, () => ({ a: 1 }));
    expect(schemaProblems(list, items)).toEqual([]);
    const tree: JsonSchema = {
      properties: { left: { $ref: '#' }, right: { $ref: '#' } },
      additionalProperties: { $ref: '#' },
    };
    const grown = (depth: number): Json =>
      depth === 0 ? {} : { left: grown(depth - 1), right: {}, other: {} };
    expect(schemaProblems(tree, grown(60))).toEqual([]);
    expect(schemaProblems({}, BOMB)).toEqual([]);
  });

  it('is any answer to a schema that goes round in a circle', () => {
    const circle: JsonSchema = { $defs: { a: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' };
    expect(schemaProblems(circle, 1)).toEqual([{ path: '', message: TOO_MUCH_WORK }]);
    expect(answerProblems(1, circle)).toHaveLength(1);
  });
});

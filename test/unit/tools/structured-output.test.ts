/** Final answers that must have a form: an agent's, or a message's own. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  DefinitionError,
  defineAgent,
  defineTool,
  jsonSchema,
  outputOf,
} from '../../../src/index.js';
import { calls, says, script } from '../../../src/model/scripted/scripted.js';
import type { ScriptedAnswer } from '../../../src/model/scripted/types.js';
import { textOf } from '../../../src/protocol/conversation/messages.js';
import type { JsonSchema } from '../../../src/protocol/values/json.js';
import { testConversation } from '../../../src/testing/test-conversation.js';
import { promise } from '../../support/promise.js';

const Verdict = z.object({
  spam: z.boolean().describe('whether it is'),
  score: z.number().min(0).max(1),
  why: z.string().trim().optional(),
  tags: z.array(z.string()).default([]),
});
const look = defineTool({
  name: 'mail.look',
  description: 'Looks at a mail.',
  input: z.object({}),
  run: () => 'Buy now',
});

function talk(...answers: readonly ScriptedAnswer[]) {
  const model = script(...answers);
  const agent = defineAgent({
    name: 'spam.judge',
    model,
    instructions: 'Judge.',
    tools: [look],
    output: Verdict,
  });
  return { t: testConversation(agent), model, agent };
}

const says2 = (text: string): ScriptedAnswer => ({
  type: 'answer',
  text,
  usage: { inputTokens: 7, outputTokens: 3, cachedInputTokens: 2 },
});

describe('an agent whose answers have a form', () => {
  it('gives the answer parsed, with defaults and transforms, beside its text', async () => {
    const text = '{"spam":true,"score":0.5,"why":" offers ","tags":null}';
    const { t, model } = talk(says(text));
    await t.send('Judge it');
    expect(t.output).toEqual({ spam: true, score: 0.5, why: 'offers', tags: [] });
    expect(t.text).toBe(text);
    expect(t.eventsOf('assistant_message')).toMatchObject([{ output: t.output }]);
    expect(t.eventsOf('turn_ended')).toMatchObject([{ status: 'completed', output: t.output }]);
    expect(model.requests[0]?.output).toEqual({
      name: 'spam__judge_output',
      strict: true,
      schema: {
        type: 'object',
        properties: {
          spam: { type: 'boolean', description: 'whether it is' },
          score: { type: 'number', minimum: 0, maximum: 1 },
          why: { type: ['string', 'null'] },
          tags: {
            anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }],
            description: 'Default: [].',
          },
        },
        required: ['spam', 'score', 'why', 'tags'],
        additionalProperties: false,
      },
    });
  });

  it('lets it call tools first: its text beside them need not have the form', async () => {
    const asks = { ...(calls('mail.look', {}) as object), text: 'Let me look.' } as ScriptedAnswer;
    const { t } = talk(asks, says('{"spam":false,"score":0}'));
    await t.send('Judge it');
    expect(t.output).toEqual({ spam: false, score: 0, tags: [] });
  });

  it('asks once more, with the faults; neither enters the transcript, and both are counted', {
    ...promise('G165'),
  }, async () => {
    const { t, model } = talk(
      says2('I think it is spam.'),
      says2('```json\n{"spam":true,"score":1}\n```'),
      says('{"spam":false,"score":0}'),
    );
    await t.send('Judge it');
    expect(t.output).toEqual({ spam: true, score: 1, tags: [] });
    expect(
      model.requests[1]?.messages.slice(-2).map(({ role, parts }) => [role, textOf(parts)]),
    ).toEqual([
      ['assistant', 'I think it is spam.'],
      [
        'user',
        '[Your answer could not be used: it is not JSON. Answer again with nothing but JSON in the form that was asked for.]',
      ],
    ]);
    const usage = { inputTokens: 14, outputTokens: 6, cachedInputTokens: 4 };
    expect(t.eventsOf('model_call')).toMatchObject([{ step: 1, usage }]);
    expect(t.eventsOf('turn_ended')).toMatchObject([{ usage }]);
    await t.send('And this?');
    const read = model.requests[2]?.messages.map(({ role }) => role);
    expect(read).toEqual(['user', 'assistant', 'user']);
  });

  it('fails the turn when the second answer does not fit either, and the next turn continues', {
    ...promise('G165'),
  }, async () => {
    const { t } = talk(
      says2('{"spam":"yes","score":1}'),
      says2('{"spam":true,"score":2}'),
      says('{"spam":true,"score":1}'),
    );
    await t.send('Judge it');
    const [ended] = t.eventsOf('turn_ended');
    expect(ended).toMatchObject({
      status: 'failed',
      reason: 'model_failed',
      error: { code: 'model_invalid_output' },
      text: '{"spam":true,"score":2}',
      usage: { inputTokens: 14, outputTokens: 6 },
    });
    expect(ended?.error?.message).toContain('/score: ');
    expect(ended).not.toHaveProperty('output');
    expect(t.snapshot.usage).toMatchObject({ inputTokens: 14, outputTokens: 6 });
    await t.send('Again');
    expect(t.output).toEqual({ spam: true, score: 1, tags: [] });
  });

  it("does not ask again when the model declines, and the turn's failure says why", async () => {
    const declines: ScriptedAnswer = {
      type: 'answer',
      text: 'I will not.',
      finishReason: 'refusal',
    };
    const { t, model } = talk(declines);
    await t.send('Judge it');
    expect(t.eventsOf('turn_ended')[0]?.error?.message).toContain('it declined: I will not.');
    expect(model.requests).toHaveLength(1);
  });

  it('has no output where a limit ended the turn', async () => {
    const model = script(calls('mail.look', {}));
    const agent = defineAgent({
      name: 'judge',
      model,
      instructions: 'Judge.',
      tools: [look],
      output: Verdict,
      settings: { maxSteps: 1 },
    });
    const t = testConversation(agent);
    await t.send('Judge it');
    expect(t.eventsOf('turn_ended')).toMatchObject([{ status: 'completed', reason: 'max_steps' }]);
    expect(t.output).toBeUndefined();
  });

  it('gives its type to results', () => {
    const { agent } = talk();
    const result = {
      status: 'completed',
      turnId: 't',
      text: '',
      usage: { inputTokens: 0, outputTokens: 0 },
      seq: 1,
      output: { spam: true, score: 1, tags: ['a'] },
    } as const;
    const output = outputOf(agent, result);
    // Typed: `tags` is a list of texts.
    expect(output?.tags.map((tag) => tag.toUpperCase())).toEqual(['A']);
    expect(outputOf(agent, { status: 'timeout', turnId: 't' })).toBeUndefined();
  });

  it('may be requested by a message in zod: the model gets its JSON Schema, and the result is parsed by the type', {
    ...promise('G163'),
  }, async () => {
    const Sum = z.object({
      total: z.int().describe('In cents'),
      unit: z.string().default('EUR'),
      at: z.string().transform((text) => text.toUpperCase()),
    });
    const model = script(says('{"total":12,"at":"now"}'));
    const t = testConversation(defineAgent({ name: 'adder', model, instructions: 'Add.' }));
    await t.send('Add', { output: Sum });
    expect(model.requests[0]?.output?.schema).toEqual({
      type: 'object',
      properties: {
        total: expect.objectContaining({ type: 'integer', description: 'In cents' }) as unknown,
        unit: { type: 'string', default: 'EUR' },
        at: { type: 'string' },
      },
      required: ['total', 'at'],
    });
    // History contains data; the caller has the refinements, defaults and transforms.
    expect(t.output).toEqual({ total: 12, at: 'now' });
    const result = {
      ...({ status: 'completed', turnId: 't', text: '', seq: 1 } as const),
      usage: { inputTokens: 0, outputTokens: 0 },
    };
    const output = outputOf(Sum, { ...result, output: { total: 12, at: 'now' } });
    expect(output?.unit.toLowerCase()).toBe('eur');
    expect(output).toEqual({ total: 12, unit: 'EUR', at: 'NOW' });
    expect(() => outputOf(Sum, { ...result, output: { total: 'x' } })).toThrow(z.ZodError);
    expect(outputOf(Sum, result)).toBeUndefined();
    const declared = jsonSchema<{ readonly total: number }>({ type: 'object' });
    expect(outputOf(declared, { ...result, output: { total: 3 } })?.total.toFixed(1)).toBe('3.0');
  });

  it('may be requested by a message in a declared JSON Schema, and switched off for a turn', {
    ...promise('G163'),
  }, async () => {
    const model = script(
      says('{"ok":true}'),
      says('In words.'),
      says('{"spam":true,"score":1,"tags":[]}'),
    );
    const agent = defineAgent({ name: 'judge', model, instructions: 'Judge.', output: Verdict });
    const t = testConversation(agent);
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } } };
    await t.send('Judge it', { output: jsonSchema(schema) });
    expect(model.requests[0]?.output?.schema).toEqual(schema);
    expect(t.output).toEqual({ ok: true });
    await t.send('Why?', { output: false });
    expect(model.requests[1]).not.toHaveProperty('output');
    expect(t.eventsOf('user_message').at(-1)).toMatchObject({ output: false });
    expect(t.eventsOf('turn_ended').at(-1)).toMatchObject({
      status: 'completed',
      text: 'In words.',
    });
    expect(t.output).toBeUndefined();
    await t.send('And this?');
    expect(t.output).toMatchObject({ spam: true });
  });

  it.each([
    ['no schema', 'text', 'must be a zod type'],
    ['a text', z.string(), 'must be of type "object" at the top'],
    ['a date', z.object({ at: z.date() }), 'output.at'],
    ['a schema that is none', jsonSchema({ type: 'objekt' }), 'output'],
  ])('cannot be defined with %s', (_what, output, rule) => {
    const define = () =>
      defineAgent({ name: 'a', model: script(), instructions: 'X.', output: output as never });
    expect(define).toThrow(DefinitionError);
    expect(define).toThrow(rule);
  });
});

describe('a message that asks for a form', () => {
  const output: JsonSchema = {
    type: 'object',
    properties: { city: { type: 'string', minLength: 2 }, zip: { type: 'string' } },
    required: ['city'],
  };
  const plain = (...answers: readonly ScriptedAnswer[]) => {
    const model = script(...answers);
    const agent = defineAgent({ name: 'plain', model, instructions: 'Help.', tools: [look] });
    return { t: testConversation(agent), model };
  };

  it('has its answer in that form, to the letter of its JSON Schema; the next message asks for none', async () => {
    const { t, model } = plain(says('{"city":"Rome","zip":null}'), says('You are welcome.'));
    await t.send('Where?', { output });
    expect(t.output).toEqual({ city: 'Rome' });
    expect(model.requests[0]?.output).toEqual({
      name: 'plain_output',
      schema: output,
      strict: false,
    });
    expect(t.eventsOf('user_message')).toMatchObject([{ output }]);
    await t.send('Thanks');
    expect([t.text, t.output]).toEqual(['You are welcome.', undefined]);
    expect(model.requests[1]).not.toHaveProperty('output');
  });

  it('takes the place of the form of its agent', async () => {
    const { t } = talk(says('{"city":"Rome"}'));
    await t.send('Where?', { output });
    expect(t.output).toEqual({ city: 'Rome' });
  });

  it('is judged at every step of its turn, over calls', async () => {
    const { t, model } = plain(calls('mail.look', {}), says('{"city":"x"}'), says('{"city":"xy"}'));
    await t.send('Where?', { output });
    expect(t.output).toEqual({ city: 'xy' });
    expect(model.requests.map((request) => request.output?.name)).toEqual(
      Array.from({ length: 3 }, () => 'plain_output'),
    );
  });

  it('belongs to its request id: another form under it is another message', async () => {
    const { t } = plain(says('{"city":"Rome"}'));
    const first = await t.send('Where?', { output, requestId: 'r' });
    expect(await t.send('Where?', { output: { ...output }, requestId: 'r' })).toEqual(first);
    const other = { ...output, required: [] };
    await expect(t.send('Where?', { output: other, requestId: 'r' })).rejects.toThrow();
    await expect(t.send('Where?', { requestId: 'r' })).rejects.toThrow();
  });

  it.each<[string, unknown, string]>([
    ['no schema', 'object', 'must be a JSON Schema'],
    ['a list', [], 'must be a JSON Schema'],
    ['a text', { type: 'string' }, 'must be of type "object" at the top'],
    [
      'a faulty schema',
      { type: 'object', properties: { a: { $ref: '#/a' } } },
      '/properties/a: $ref',
    ],
    [
      'too much of it',
      { type: 'object', description: 'x'.repeat(20_000) },
      'bytes as JSON Schema; at most 16384',
    ],
  ])('is refused at once with %s', async (_what, given, rule) => {
    const { t } = plain();
    await expect(t.send('Where?', { output: given as never })).rejects.toThrow();
    const { parseMessage } = await import('../../../src/core/judge/messages.js');
    const parsed = parseMessage({ text: 'Where?', output: given });
    const { problems = [] } = 'refusal' in parsed ? parsed.refusal : {};
    expect(problems).toMatchObject([{ path: '/output' }]);
    expect(problems[0]?.message).toContain(rule);
  });
});

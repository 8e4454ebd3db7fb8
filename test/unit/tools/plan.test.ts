/**
 * Plans of calls: their pinned fields, and the calls that are an error result from the start. Scenarios S32 and S33.
 */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type AnyAgent, defineAgent } from '../../../src/define/define-agent.js';
import { defineTool, jsonSchema } from '../../../src/index.js';
import type { PlannedCall } from '../../../src/protocol/calls/plan.js';
import { planCalls } from '../../../src/tools/plan/plan.js';
import { promise } from '../../support/promise.js';
import { policyMeans as deps } from '../../support/schedules/policy-deps.js';

const model = { name: 'none', generate: () => Promise.reject(new Error('never')) };
const search = defineTool({
  name: 'notes.search',
  description: 'Searches notes.',
  input: z.object({
    query: z.string().min(2),
    limit: z.int().default(10),
    tags: z.array(z.string()).optional(),
    since: z
      .string()
      .transform((text) => new Date(text))
      .optional(),
  }),
  run: () => [],
});
const refund = defineTool({
  name: 'refund',
  description: 'Refunds.',
  input: z.object({ cents: z.int() }),
  approval: { ask: { reason: 'Money leaves' } },
  effects: 'once',
  taskQueue: 'payments',
  timeouts: { approval: '2 days', run: '30s' },
  run: () => null,
});
const ask = defineTool({
  name: 'ask',
  description: 'Asks.',
  executor: 'human',
  input: z.object({ question: z.string() }),
  output: z.strictObject({ code: z.string().regex(/^\d+$/) }),
});
const cart = defineTool({
  name: 'cart',
  description: 'Reads.',
  executor: 'client',
  input: z.object({}),
});
const weather = defineTool({
  name: 'weather',
  description: 'Weather.',
  input: jsonSchema({
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer', maximum: 7 } },
    required: ['city'],
    additionalProperties: false,
  }),
  run: () => null,
});
const agent = defineAgent({
  name: 'a',
  model,
  instructions: 'Help.',
  tools: [search, refund, ask, cart, weather],
});

async function plan(name: string, args: unknown, from: AnyAgent = agent): Promise<PlannedCall> {
  const argumentsJson = typeof args === 'string' ? args : JSON.stringify(args);
  const calls = [{ id: 'call_1', name, argumentsJson }];
  const [call] = await planCalls({ agent: from, calls, deps });
  expect(call?.argumentsJson).toBe(argumentsJson);
  return call!.plan;
}

describe('a call that the model asked for', () => {
  it('gets defaults and transforms of the schema, once, in a form that history holds', {
    ...promise('S33', 'C9', 'C14'),
  }, async () => {
    const call = await plan('notes.search', { query: 'tea', since: '2020-01-01', extra: true });
    expect(call.input).toEqual({ query: 'tea', limit: 10, since: '2020-01-01T00:00:00.000Z' });
    expect(call).not.toHaveProperty('error');
  });

  it('is pinned with every field that decides its fate', async () => {
    expect(await plan('refund', { cents: 5 })).toEqual({
      toolCallId: 'call_1',
      name: 'refund',
      executor: 'server',
      mode: 'await',
      input: { cents: 5 },
      argsDigest: `sha256:${createHash('sha256').update('{"cents":5}').digest('hex')}`,
      definition: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string,
      approval: { needed: true, reason: 'Money leaves' },
      timeouts: { approvalMs: 172_800_000, answerMs: 86_400_000, runMs: 30_000 },
      effects: 'once',
      maxAttempts: 1,
      lateResult: 'reject',
      taskQueue: 'payments',
    });
    expect(await plan('notes.search', { query: 'tea' })).toMatchObject({ maxAttempts: 3 });
  });

  it('has the same digest in any order of its arguments', async () => {
    const [left, right] = await Promise.all([
      plan('weather', '{"city":"Rome","days":2}'),
      plan('weather', '{ "days": 2, "city": "Rome" }'),
    ]);
    expect(left.argsDigest).toBe(right.argsDigest);
  });

  it('carries the form of its answer, patterns and all, and whether the worker checks again', async () => {
    const question = await plan('ask', { question: 'Code?' });
    expect(question).toMatchObject({
      executor: 'human',
      recheckAnswer: true,
      answerSchema: {
        type: 'object',
        properties: { code: { type: 'string', pattern: '^\\d+$' } },
        required: ['code'],
      },
    });
    const client = await plan('cart', {});
    expect(client).not.toHaveProperty('answerSchema');
    expect(client).not.toHaveProperty('recheckAnswer');
  });

  it('may come without any arguments text', async () => {
    expect(await plan('cart', '')).toMatchObject({ input: {} });
  });
});

describe('a call that cannot run gets an error result at once:', () => {
  it('a tool that does not exist, with the names of those that do', promise('X25'), async () => {
    const call = await plan('notes.find', {});
    expect(call).toMatchObject({ name: 'notes.find', approval: { needed: false } });
    expect(call.error).toEqual({
      code: 'unknown_tool',
      message:
        'Tool "notes.find" not found. Available tools: notes.search, refund, ask, cart, weather',
    });
    expect((await plan('x'.repeat(5_000), {})).name).toHaveLength(128);
  });

  it('an agent without tools', async () => {
    const bare = defineAgent({ name: 'b', model, instructions: 'Help.' });
    expect((await plan('x', {}, bare)).error?.message).toContain('Available tools: (none)');
  });

  it('arguments that are no JSON', promise('C14'), async () => {
    const { error, input } = await plan('refund', '{"cents": 5');
    expect(error).toMatchObject({ code: 'invalid_json' });
    expect(error?.message).toMatch(/^Invalid JSON in arguments for tool "refund": /);
    expect(input).toBeUndefined();
  });

  it('arguments that break the schema, each with its path', promise('C14'), async () => {
    const { error } = await plan('notes.search', { query: 'x', tags: ['a', 1] });
    expect(error?.code).toBe('invalid_input');
    expect(error?.message).toMatch(
      /^Invalid arguments for tool "notes.search": .*\/query: .*; \/tags\/1: /,
    );
  });

  it('arguments that break a JSON Schema, each with its path', async () => {
    const { error } = await plan('weather', { days: 9, town: 'Rome' });
    expect(error?.code).toBe('invalid_input');
    expect(error?.message).toContain('required property "city"');
    expect(error?.message).toContain('/days: must be at most 7, got 9');
    expect(error?.message).toContain('/town: is not allowed here');
  });

  it('arguments that are not an object', async () => {
    expect((await plan('refund', '[5]')).error?.code).toBe('invalid_input');
    expect((await plan('refund', 'null')).error?.code).toBe('invalid_input');
  });

  it('arguments nested without end', async () => {
    const { error } = await plan('refund', `${'['.repeat(50_000)}${']'.repeat(50_000)}`);
    expect(error).toMatchObject({ code: 'invalid_input' });
    expect(error?.message).toContain('nested deeper than 64');
  });

  it('a schema whose own code throws', async () => {
    const broken = defineTool({
      name: 'broken',
      description: 'Breaks.',
      input: z.object({
        a: z.string().transform(() => {
          throw new Error('bug');
        }),
      }),
      run: () => null,
    });
    const bad = defineAgent({ name: 'b', model, instructions: 'Help.', tools: [broken] });
    expect((await plan('broken', { a: '' }, bad)).error?.message).toContain(
      'the check itself failed: bug',
    );
  });

  it('calls beyond the limit of one step, while the first ones are kept', async () => {
    const calls = Array.from({ length: 70 }, (_call, index) => ({
      id: `call_${index}`,
      name: 'cart',
      argumentsJson: '{}',
    }));
    const planned = await planCalls({ agent, calls, deps });
    expect(planned.map(({ plan: { toolCallId } }) => toolCallId)).toEqual(
      calls.map(({ id }) => id),
    );
    expect(planned.filter(({ plan: { error } }) => error === undefined)).toHaveLength(64);
    expect(planned[64]?.plan.error).toMatchObject({ code: 'too_many_calls' });
  });
});

import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { type ModelServer, startModelServer } from '../../../../examples/demo/model-server.js';
import { DEMO_SCRIPT } from '../../../../examples/demo/script.js';
import { openaiModel } from '../../../../src/model/openai/adapter.js';
import type { ToolResultEnvelope } from '../../../../src/protocol/calls/results.js';
import type { Message } from '../../../../src/protocol/conversation/messages.js';
import type { ModelRequest, ModelResponse } from '../../../../src/protocol/model/model.js';

const TOOLS = ['weather.lookup', 'payments.refund', 'customer.ask', 'cart.read'].map((name) => ({
  name,
  description: name,
  inputSchema: { type: 'object' },
}));

const servers: ModelServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function demoServer(): Promise<ModelServer> {
  const server = await startModelServer({ script: DEMO_SCRIPT });
  servers.push(server);
  return server;
}

function clientOf(server: ModelServer): OpenAI {
  return new OpenAI({ baseURL: server.url, apiKey: 'any', maxRetries: 0 });
}

function user(turnId: string, text: string): Message {
  return { role: 'user', id: `${turnId}u`, turnId, parts: [{ type: 'text', text }] };
}

async function ask(
  server: ModelServer,
  messages: readonly Message[],
  tools: ModelRequest['tools'] = TOOLS,
): Promise<ModelResponse> {
  const model = openaiModel('scripted', { baseURL: server.url });
  const { signal } = new AbortController();
  return model.generate({ system: 'x', messages, tools }, { signal, onEvent: () => undefined });
}

function stepOf(response: ModelResponse, envelopes: readonly ToolResultEnvelope[]): Message[] {
  const at = { turnId: 't1', step: 1 };
  const named = response.calls.map((call, index) => ({
    toolCallId: call.id,
    name: call.name,
    argumentsJson: call.argumentsJson,
    envelope: envelopes[index] ?? { ok: true as const, result: null },
  }));
  return [
    {
      role: 'assistant',
      id: 'a',
      ...at,
      parts: named.map(({ toolCallId, name, argumentsJson }) => ({
        type: 'tool_call',
        toolCallId,
        name,
        argumentsJson,
      })),
    },
    {
      role: 'tool',
      id: 'r',
      ...at,
      parts: named.map(({ toolCallId, name, envelope }) => ({
        type: 'tool_result',
        toolCallId,
        name,
        envelope,
      })),
    },
  ];
}

function textIn({ parts }: ModelResponse): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

const GOOD: readonly ToolResultEnvelope[] = [
  { ok: true, result: { city: 'Berlin', celsius: 18 } },
  { ok: true, result: { refundId: 're_p_1' } },
  { ok: true, result: { answer: 'Size 42, please' } },
  { ok: true, result: { items: ['red shoes', 'laces'] } },
];

describe('the scripted model of the demo', () => {
  it('asks for four kinds of calls in one step, after announcing them', async () => {
    const first = await ask(await demoServer(), [user('t1', 'Refund p_1')]);
    expect(textIn(first)).not.toBe('');
    expect(first.calls.map(({ name }) => name)).toEqual(TOOLS.map(({ name }) => name));
  });

  it('uses the results in its final answer, also after a restart', async () => {
    const question = user('t1', 'Refund p_1');
    const first = await ask(await demoServer(), [question]);
    const final = await ask(await demoServer(), [question, ...stepOf(first, GOOD)]);
    expect(final.calls).toEqual([]);
    for (const fact of ['re_p_1', 'Size 42, please', '2 items', '18'])
      expect(textIn(final)).toContain(fact);
  });

  it('names the calls that were refused', async () => {
    const server = await demoServer();
    const question = user('t1', 'Refund p_1');
    const first = await ask(server, [question]);
    const denied = GOOD.with(1, {
      ok: false,
      error: { code: 'denied', message: 'Too much money' },
    });
    const final = await ask(server, [question, ...stepOf(first, denied)]);
    expect(textIn(final)).toContain('Too much money');
  });

  it('replies briefly to any other message, and asks for no tool that is not offered', async () => {
    const server = await demoServer();
    const first = await ask(server, [user('t1', 'Refund p_1')]);
    const history = [user('t1', 'Refund p_1'), ...stepOf(first, GOOD), user('t2', 'Thanks')];
    expect(textIn(await ask(server, history))).toContain('Thanks');
    expect((await ask(server, [user('t1', 'Hello')], [])).calls).toEqual([]);
    expect((await ask(server, [user('t1', 'Hello')], TOOLS.slice(3))).calls).toHaveLength(1);
  });
});

describe('the scripted model server', () => {
  it("answers the provider's own client without streaming, with the same content", async () => {
    const client = clientOf(await demoServer());
    const { choices, usage } = await client.chat.completions.create({
      model: 'scripted',
      messages: [{ role: 'user', content: 'Hello' }],
    });
    expect(choices[0]).toMatchObject({ finish_reason: 'stop', message: { role: 'assistant' } });
    expect(choices[0]?.message.content).toContain('Hello');
    expect(usage?.total_tokens).toBeGreaterThan(0);
  });

  it('lists its model, whose name says that it is scripted', async () => {
    const models = await clientOf(await demoServer()).models.list();
    expect(models.data.map(({ id }) => id)).toEqual(['scripted']);
  });

  it("refuses unknown paths and bad requests in the provider's shape", async () => {
    const server = await demoServer();
    await expect(clientOf(server).files.list()).rejects.toMatchObject({
      status: 404,
      type: 'invalid_request_error',
    });
    const request = (messages: readonly object[], tools?: readonly object[]): Promise<unknown> =>
      clientOf(server).post('/chat/completions', { body: { model: 'm', messages, tools } });
    const dotted = { type: 'function', function: { name: 'a.b' } };
    await expect(request([], [dotted])).rejects.toThrow("Invalid name 'a.b'");
    const tool_calls = [{ id: 'c', type: 'function', function: { name: 'a', arguments: '{}' } }];
    const asked = { role: 'assistant', tool_calls };
    await expect(request([asked, { role: 'user', content: 'Hi' }])).rejects.toThrow('Missing: c');
    await expect(clientOf(server).post('/chat/completions', { body: 'x' })).rejects.toThrow('400');
  });
});

/** Both of OpenAI's APIs, as a mock server of another project speaks them. */
import { type FixtureOpts, LLMock } from '@copilotkit/aimock';
import { afterEach, describe, expect, it } from 'vitest';
import { openaiModel } from '../../../../src/model/openai/adapter.js';
import type { Message } from '../../../../src/protocol/conversation/messages.js';
import { textOf } from '../../../../src/protocol/conversation/messages.js';
import type {
  Model,
  ModelRequest,
  ModelResponse,
  ModelStreamEvent,
  ModelTool,
} from '../../../../src/protocol/model/model.js';
import { toWireName } from '../../../../src/protocol/values/tool-names.js';
import type { PlannedAnswer } from '../../../../src/testing/describe-model.js';
import { describeModel } from '../../../support/conformance/model.js';
import { until } from '../../../support/until.js';

const TEXT = 'The weather in Berlin is fine, and it will stay so until the end of the week.';
const TOOLS: readonly ModelTool[] = [
  {
    name: 'weather.lookup',
    description: 'Looks up',
    inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
  },
];
/** The server counts no tokens itself for Responses. */
const USAGE = { prompt_tokens: 12, completion_tokens: 7, input_tokens: 12, output_tokens: 7 };
const QUESTION: Message = {
  role: 'user',
  id: 'u',
  turnId: 't1',
  parts: [{ type: 'text', text: 'How is the weather?' }],
};

const mocks: LLMock[] = [];
afterEach(async () => {
  await Promise.all(mocks.splice(0).map((mock) => mock.stop()));
});

type Given = Parameters<LLMock['onMessage']>[1];

async function mocking(response: Given, options: FixtureOpts = {}): Promise<LLMock> {
  const mock = new LLMock({ port: 0, chunkSize: 5 });
  mock.onMessage(/.*/, response, options);
  await mock.start();
  mocks.push(mock);
  return mock;
}

function modelAt(mock: LLMock, api: 'chat' | 'responses'): Model {
  return openaiModel('gpt-5.1', { baseURL: `${mock.url}/v1`, apiKey: 'sk-mock-1234567', api });
}

async function ask(
  model: Model,
  messages: readonly Message[] = [QUESTION],
  signal = new AbortController().signal,
): Promise<{ readonly response: ModelResponse; readonly events: readonly ModelStreamEvent[] }> {
  const events: ModelStreamEvent[] = [];
  const request: ModelRequest = { system: 'Be brief.', messages, tools: TOOLS };
  const onEvent = (event: ModelStreamEvent): void => void events.push(event);
  return { response: await model.generate(request, { signal, onEvent }), events };
}

function streamed(events: readonly ModelStreamEvent[], type: 'text' | 'reasoning'): string {
  return events.map((event) => (event.type === type ? event.text : '')).join('');
}

describe.each(['chat', 'responses'] as const)('a mock of OpenAI, asked through %s', (api) => {
  it('streams its thoughts and its text', async () => {
    const mock = await mocking({ content: TEXT, reasoning: 'Let me think.', usage: USAGE });
    const { response, events } = await ask(modelAt(mock, api));
    expect(streamed(events, 'text')).toBe(TEXT);
    expect(streamed(events, 'reasoning')).toBe('Let me think.');
    expect(textOf(response.parts)).toBe(TEXT);
    expect(response.finishReason).toBe('stop');
    expect(response.usage.outputTokens).toBeGreaterThan(0);
  });

  it('has its parallel calls answered in the next request', async () => {
    const name = toWireName('weather.lookup');
    const toolCalls = ['Berlin', 'Rom'].map((city, index) => ({
      name,
      arguments: JSON.stringify({ city }),
      id: `call_${index + 1}`,
    }));
    const mock = new LLMock({ port: 0, chunkSize: 5 });
    mock.on({ hasToolResult: false }, { toolCalls });
    mock.on({ hasToolResult: true }, { content: TEXT });
    await mock.start();
    mocks.push(mock);
    const model = modelAt(mock, api);
    const { response } = await ask(model);
    expect(response.calls).toEqual(
      toolCalls.map((call) => ({
        id: call.id,
        name: 'weather.lookup',
        argumentsJson: call.arguments,
      })),
    );
    const at = { turnId: 't1', step: 1 };
    const calls = response.calls.map(({ id, ...call }) => ({
      type: 'tool_call' as const,
      toolCallId: id,
      ...call,
    }));
    const results = calls.map(({ toolCallId, name: called }) => ({
      type: 'tool_result' as const,
      toolCallId,
      name: called,
      envelope: { ok: true as const, result: 'fine' },
    }));
    const again = await ask(model, [
      QUESTION,
      { role: 'assistant', id: 'a', ...at, parts: [...response.parts, ...calls] },
      { role: 'tool', id: 'r', ...at, parts: results },
    ]);
    expect(textOf(again.response.parts)).toBe(TEXT);
  });

  it('limits the rate, and says for how long', async () => {
    const error = { message: 'Slow down', type: 'rate_limit_error', code: 'rate_limit_exceeded' };
    const mock = await mocking({ error, status: 429, retryAfter: 3 });
    await expect(ask(modelAt(mock, api))).rejects.toMatchObject({
      code: 'model_rate_limited',
      retryable: true,
      retryAfterMs: 3_000,
    });
    expect(mock.getRequests()).toHaveLength(1);
  });

  it('gets a closed connection when the call is stopped', async () => {
    const slow = await mocking({ content: TEXT }, { streamingProfile: { ttft: 40, tps: 200 } });
    const stop = new AbortController();
    const asked = ask(modelAt(slow, api), [QUESTION], stop.signal);
    await until('a request', () => slow.getRequests().length === 1);
    stop.abort(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
  });
});

for (const api of ['chat', 'responses'] as const)
  describeModel(`openaiModel (${api}) at a mock of OpenAI`, async (plan) => {
    const { first, afterResults = first, pieceDelayMs = 0 } = plan;
    const mock = new LLMock({ port: 0, chunkSize: 5, latency: pieceDelayMs });
    mock.on({ hasToolResult: false }, given(first));
    mock.on({ hasToolResult: true }, given(afterResults));
    await mock.start();
    return { model: modelAt(mock, api), close: () => mock.stop() };
  });

function given({ text, calls = [] }: PlannedAnswer): Given {
  const toolCalls = calls.map(({ name, input }) => ({
    name: toWireName(name),
    arguments: JSON.stringify(input),
  }));
  if (toolCalls.length === 0) return { content: text ?? '', usage: USAGE };
  return text === undefined ? { toolCalls } : { content: text, toolCalls };
}

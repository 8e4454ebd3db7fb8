/** `aiSdkModel` over real connections, with the packages of providers and a server of another project. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { aiSdkModel } from '../../../../src/model/ai-sdk/adapter.js';
import type { Message, ProviderPart } from '../../../../src/protocol/conversation/messages.js';
import type {
  Model,
  ModelResponse,
  ModelStreamEvent,
} from '../../../../src/protocol/model/model.js';
import { failure } from '../../../support/fakes/language-models.js';
import { mockFor } from '../../../support/fakes/model-mock.js';
import { promise } from '../../../support/promise.js';
import { until } from '../../../support/until.js';

const KEY = 'test-0123456789';
const WEATHER = { name: 'weather.lookup', description: 'Weather', inputSchema: { type: 'object' } };
const QUESTION: Message = {
  role: 'user',
  id: 'u1',
  turnId: 't1',
  parts: [{ type: 'text', text: 'How is the weather?' }],
};

/**
 * Bodies of the requests of the test, oldest first, as they were sent: the server reports only its own reading of
 * them.
 */
const bodies: string[] = [];
beforeEach(() => {
  bodies.length = 0;
});

const recording: typeof fetch = (input, init) => {
  if (typeof init?.body === 'string') bodies.push(init.body);
  return fetch(input, init);
};

function claude(url: string, thinking = false): Model {
  const anthropic = createAnthropic({ baseURL: `${url}/v1`, apiKey: KEY, fetch: recording });
  return aiSdkModel(anthropic('claude-test'), {
    settings: thinking
      ? { providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 1_024 } } } }
      : {},
  });
}

function gpt(url: string): Model {
  const openai = createOpenAI({ baseURL: `${url}/v1`, apiKey: KEY, fetch: recording });
  return aiSdkModel(openai.responses('gpt-test'));
}

async function ask(
  model: Model,
  messages: readonly Message[] = [QUESTION],
  tools: Parameters<Model['generate']>[0]['tools'] = [WEATHER],
): Promise<ModelResponse & { readonly events: readonly ModelStreamEvent[] }> {
  const events: ModelStreamEvent[] = [];
  const response = await model.generate(
    { system: 'Be brief.', messages, tools },
    { signal: new AbortController().signal, onEvent: (event) => events.push(event) },
  );
  return { ...response, events };
}

/** The message that the engine makes of a step. */
function stepOf({ parts, calls }: ModelResponse): readonly Message[] {
  const at = { turnId: 't1', step: 1 };
  const asked = calls.map(({ id, name, argumentsJson }) => ({
    type: 'tool_call' as const,
    toolCallId: id,
    name,
    argumentsJson,
  }));
  const results = calls.map(({ id, name }) => ({
    type: 'tool_result' as const,
    toolCallId: id,
    name,
    envelope: { ok: true as const, result: { celsius: 18 } },
  }));
  return [
    { role: 'assistant', id: 'a1', ...at, parts: [...parts, ...asked] },
    { role: 'tool', id: 'r1', ...at, parts: results },
  ];
}

function itemsOf({ parts }: ModelResponse): readonly ProviderPart[] {
  return parts.filter((part) => part.type === 'provider_item');
}

describe('thoughts of Anthropic', () => {
  const CALL = { toolCalls: [{ name: 'weather__lookup', arguments: '{"city":"Oslo"}' }] };

  it('go back with their signatures in the next step, or the provider would refuse it', {
    ...promise('G108'),
  }, async () => {
    const mock = await mockFor(({ hasResults }) =>
      hasResults
        ? { content: 'It is 18 degrees.' }
        : { ...CALL, reasoning: 'I should look it up.', reasoningSignature: 'sig-of-this-thought' },
    );
    const model = claude(mock.url, true);
    const first = await ask(model);
    expect(first.parts[0]).toEqual({ type: 'reasoning', text: 'I should look it up.' });
    const streamed = first.events.map((event) => (event.type === 'reasoning' ? event.text : ''));
    expect(streamed.join('')).toBe('I should look it up.');
    const second = await ask(model, [QUESTION, ...stepOf(first)]);
    expect(second.parts).toEqual([{ type: 'text', text: 'It is 18 degrees.' }]);
    // The server checks the rule; these are the items that it got.
    expect(bodies.at(-1)).toContain('sig-of-this-thought');
    // Without the items that were kept, the server refuses the request.
    const stripped = { ...first, parts: first.parts.filter(({ type }) => type === 'text') };
    expect(await failure(ask(model, [QUESTION, ...stepOf(stripped)]))).toMatchObject({
      code: 'model_bad_request',
      retryable: false,
    });
  });

  it('that the provider hides go back as they came', async () => {
    const mock = await mockFor(({ hasResults }) =>
      hasResults
        ? { content: 'It is 18 degrees.' }
        : { ...CALL, redactedThinking: ['opaque-data-of-the-provider'] },
    );
    const model = claude(mock.url, true);
    const first = await ask(model);
    expect(first.parts.filter(({ type }) => type === 'reasoning')).toEqual([]);
    await ask(model, [QUESTION, ...stepOf(first)]);
    expect(bodies.at(-1)).toContain('opaque-data-of-the-provider');
  });

  it('are not sent to another provider, which gets the text alone', promise('G108'), async () => {
    const anthropic = await mockFor({
      content: 'Hello from here.',
      reasoning: 'A private thought.',
      reasoningSignature: 'sig-of-this-thought',
    });
    const first = await ask(claude(anthropic.url, true));
    const openai = await mockFor({ content: 'Hello from there.' });
    await ask(gpt(openai.url), [QUESTION, ...stepOf(first).slice(0, 1), QUESTION]);
    expect(bodies.at(-1)).toContain('Hello from here.');
    expect(bodies.at(-1)).not.toMatch(/sig-of|private thought/);
  });
});

describe('tools of the provider', () => {
  it('are offered, shown as calls of the provider, and go back as its own items', {
    ...promise('A8'),
  }, async () => {
    const mock = await mockFor({ content: 'It is sunny.', webSearches: ['weather in Oslo'] });
    const model = gpt(mock.url);
    const search = { name: 'web.search', provider: { type: 'openai.web_search' } };
    expect(model.providerToolProblem?.(search.provider)).toBeUndefined();
    const first = await ask(model, [QUESTION], [search]);
    expect(first.providerCalls).toMatchObject([
      { name: 'web.search', outcome: { output: { action: { query: 'weather in Oslo' } } } },
    ]);
    expect(first.calls).toEqual([]);
    const [begun] = first.events;
    expect(begun).toMatchObject({ type: 'provider_call', name: 'web.search' });
    expect(itemsOf(first).length).toBeGreaterThan(1);
    await ask(model, [QUESTION, ...stepOf(first).slice(0, 1), QUESTION], [search]);
    expect(JSON.parse(bodies.at(-1) ?? '')).toMatchObject({ tools: [{ type: 'web_search' }] });
  });
});

describe('a model call that fails', () => {
  it.each([
    [400, 'invalid_request_error', 'model_bad_request', false],
    [401, 'authentication_error', 'model_unauthorized', false],
    [403, 'permission_error', 'model_unauthorized', false],
    [404, 'not_found_error', 'model_not_found', false],
    [413, 'request_too_large', 'model_context_too_long', false],
    [429, 'rate_limit_error', 'model_rate_limited', true],
    [500, 'api_error', 'model_unavailable', true],
    [529, 'overloaded_error', 'model_unavailable', true],
  ])(
    'with %i is the failure of the table, after one request',
    async (status, type, code, retryable) => {
      const mock = await mockFor({ error: { type, message: `A text of ${type}` }, status });
      expect(await failure(ask(claude(mock.url)))).toMatchObject({ code, retryable });
      expect(mock.getRequests()).toHaveLength(1);
    },
  );

  it('with a prompt that is too long says so, with any status', async () => {
    const message = 'prompt is too long: 215000 tokens > 200000 maximum';
    const mock = await mockFor({ error: { type: 'invalid_request_error', message }, status: 400 });
    expect(await failure(ask(claude(mock.url)))).toMatchObject({ code: 'model_context_too_long' });
  });

  it('with a pause of the provider is tried again after it', async () => {
    const mock = await mockFor({ error: { message: 'Slow down' }, status: 429, retryAfter: 7 });
    expect(await failure(ask(gpt(mock.url)))).toMatchObject({
      code: 'model_rate_limited',
      retryable: true,
      retryAfterMs: 7_000,
    });
  });

  it('never shows the key that its provider quotes', async () => {
    const message = `The key sk-${KEY}-secret is of no use, Bearer ${KEY}`;
    for (const status of [400, 401]) {
      const mock = await mockFor({ error: { message }, status });
      expect((await failure(ask(gpt(mock.url)))).message).not.toContain(KEY);
    }
  });

  it('never shows the headers of its settings, in any quotation', async () => {
    const headers = {
      'x-gateway-key': 'abcd1234efgh',
      'x-unset': undefined,
      'x-own': 'ijkl5678mnop',
    };
    const message = 'No team for abcd1234efgh, rotated ijkl5678mnop';
    for (const status of [400, 401, 503]) {
      const mock = await mockFor({ error: { type: 'abcd1234efgh', message }, status });
      const openai = createOpenAI({ baseURL: `${mock.url}/v1`, apiKey: KEY });
      const model = aiSdkModel(openai.responses('gpt-test'), {
        settings: { headers },
        headers: () => ({ 'x-own': 'ijkl5678mnop' }),
      });
      const shown = (await failure(ask(model))).message;
      expect(shown).not.toContain('abcd1234efgh');
      expect(shown).not.toContain('ijkl5678mnop');
    }
  });

  it('in the middle of its stream is tried again', async () => {
    for (const model of [claude, gpt]) {
      const mock = await mockFor({ content: 'A text that is cut.' }, { truncateAfterChunks: 4 });
      expect(await failure(ask(model(mock.url)))).toMatchObject({
        code: 'model_stream_broken',
        retryable: true,
      });
    }
  });

  it('because no process listens is tried again', async () => {
    const mock = await mockFor({ content: '' });
    const { url } = mock;
    await mock.stop();
    const refused = await failure(ask(claude(url)));
    expect(refused).toMatchObject({ code: 'model_unavailable', retryable: true });
    expect(refused.message).toContain('ECONNREFUSED');
  });

  it('for lack of a key names the variable', async () => {
    const model = aiSdkModel(createAnthropic({ baseURL: 'http://127.0.0.1:9/v1' })('claude-test'));
    const unset = await failure(ask(model));
    expect(unset).toMatchObject({ code: 'model_unauthorized', retryable: false });
    expect(unset.message).toContain('ANTHROPIC_API_KEY');
  });
});

describe('a model call that is stopped', () => {
  it('hangs up on the provider, which then stops generating', async () => {
    let closed = 0;
    const server = createServer((request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(
        'event: message_start\ndata: {"type":"message_start","message":{"id":"m","model":"claude-test","role":"assistant","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}\n\n',
      );
      response.once('close', () => {
        closed += 1;
      });
      request.resume();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const stop = new AbortController();
    const answer = claude(`http://127.0.0.1:${port}`).generate(
      { system: '', messages: [QUESTION], tools: [] },
      { signal: stop.signal, onEvent: () => undefined },
    );
    answer.catch(() => undefined);
    const connections = (): Promise<number> =>
      new Promise((resolve) => server.getConnections((_, count) => resolve(count)));
    await until('a connection', connections, { holds: (count) => count === 1 });
    stop.abort(new Error('stopped by the user'));
    await expect(answer).rejects.toThrow('stopped by the user');
    await until('the server sees the end', () => closed === 1);
  });
});

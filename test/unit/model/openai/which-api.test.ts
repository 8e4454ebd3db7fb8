/** The choice between OpenAI's two APIs for a model. */
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type OpenAIModelOptions, openaiModel } from '../../../../src/model/openai/adapter.js';
import { startWireServer } from '../../../support/networks/wire-server.js';
import { promise } from '../../../support/promise.js';
import { chatEvents, responsesEvents } from '../../../support/samples/wire-events.js';

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Only Responses runs tools of the provider. */
function apiOf(options: OpenAIModelOptions, baseURL?: string): 'responses' | 'chat' {
  vi.stubEnv('OPENAI_BASE_URL', baseURL);
  const problem = openaiModel('gpt-5', options).providerToolProblem?.({ type: 'web_search' });
  return problem === undefined ? 'responses' : 'chat';
}

describe('a model is called through', () => {
  it('Responses at OpenAI itself and in its regions, by any source of the address', () => {
    expect(apiOf({})).toBe('responses');
    expect(apiOf({}, '')).toBe('responses');
    expect(apiOf({}, 'https://api.openai.com/v1')).toBe('responses');
    expect(apiOf({ baseURL: 'https://eu.api.openai.com/v1' })).toBe('responses');
    expect(apiOf({ baseURL: 'https://api.openai.com/v1' }, 'http://localhost:8080/v1')).toBe(
      'responses',
    );
  });

  it('Chat Completions at any other server, also one with a similar name', () => {
    expect(apiOf({}, 'http://localhost:8080/v1')).toBe('chat');
    expect(apiOf({ baseURL: 'https://api.openai.com.example.com/v1' })).toBe('chat');
    expect(apiOf({ baseURL: 'https://example.com/api.openai.com/v1' })).toBe('chat');
    expect(apiOf({ baseURL: 'no address' })).toBe('chat');
  });

  it('the one that its options name, wherever it is', async () => {
    expect(apiOf({ api: 'chat' })).toBe('chat');
    expect(apiOf({ api: 'responses', baseURL: 'http://localhost/v1' })).toBe('responses');
    const server = await startWireServer(({ path }) => ({
      events: path.endsWith('/responses')
        ? responsesEvents({ text: 'Hi' })
        : chatEvents({ text: 'Hi' }),
    }));
    const { signal } = new AbortController();
    const request = { system: '', messages: [], tools: [] };
    for (const api of ['responses', 'chat', undefined] as const) {
      const model = openaiModel('m', {
        baseURL: server.url,
        apiKey: 'sk-test-0123456789',
        ...(api === undefined ? {} : { api }),
      });
      await model.generate(request, { signal, onEvent: () => undefined });
    }
    await server.close();
    expect(server.requests.map(({ path }) => path)).toEqual([
      ...['/v1/responses', '/v1/chat/completions', '/v1/chat/completions'],
    ]);
  });

  it('OpenAI itself with the key of its prompt cache, which other servers may not know', {
    ...promise('G173'),
  }, async () => {
    const sent: unknown[] = [];
    vi.stubGlobal('fetch', (_url: unknown, init?: RequestInit) => {
      sent.push(JSON.parse(typeof init?.body === 'string' ? init.body : '{}'));
      return Promise.resolve(new Response('{}', { status: 400 }));
    });
    onTestFinished(() => {
      vi.unstubAllGlobals();
    });
    const { signal } = new AbortController();
    const request = { system: '', messages: [], tools: [], cacheKey: 'a-digest' };
    for (const options of [
      { baseURL: 'https://api.openai.com/v1' },
      { baseURL: 'https://api.openai.com/v1', api: 'chat' },
      { baseURL: 'http://localhost:8080/v1' },
      { baseURL: 'http://localhost:8080/v1', api: 'responses' },
    ] as const)
      await openaiModel('m', { apiKey: 'sk-test-0123456789', ...options })
        .generate(request, { signal, onEvent: () => undefined })
        .catch(() => undefined);
    expect(sent).toEqual([
      expect.objectContaining({ prompt_cache_key: 'a-digest' }),
      expect.objectContaining({ prompt_cache_key: 'a-digest' }),
      expect.not.objectContaining({ prompt_cache_key: 'a-digest' }),
      expect.not.objectContaining({ prompt_cache_key: 'a-digest' }),
    ]);
  });

  it('no third one: the definition is refused, naming the option', () => {
    expect(() => openaiModel('m', { api: 'assistants' as never })).toThrow(
      '`api` must be "responses" or "chat"',
    );
  });
});

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  type ModelServer,
  type ServerAnswer,
  startModelServer,
} from '../../../../examples/demo/model-server.js';
import { type OpenAIModelOptions, openaiModel } from '../../../../src/model/openai/adapter.js';
import { ModelFailure } from '../../../../src/model/shared/failure.js';
import type { ModelRequest, ModelResponse } from '../../../../src/protocol/model/model.js';
import { until } from '../../../support/until.js';

const KEY = 'sk-test-0123456789';
const TEXT = 'An answer that is long enough to be cut somewhere in the middle.';
const REQUEST: ModelRequest = {
  system: '',
  messages: [{ role: 'user', id: 'u', turnId: 't', parts: [{ type: 'text', text: 'Hi' }] }],
  tools: [],
};

const servers: ModelServer[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serving(answer: ServerAnswer | (() => ServerAnswer)): Promise<ModelServer> {
  const server = await startModelServer({
    script: typeof answer === 'function' ? answer : () => answer,
  });
  servers.push(server);
  return server;
}

function ask(
  server: Pick<ModelServer, 'url'>,
  options: OpenAIModelOptions = {},
  signal = new AbortController().signal,
): Promise<ModelResponse> {
  const model = openaiModel('gpt-test', { baseURL: server.url, apiKey: KEY, ...options });
  return model.generate(REQUEST, { signal, onEvent: () => undefined });
}

async function failure(answer: Promise<ModelResponse>): Promise<ModelFailure> {
  const error = await answer.then(
    () => new Error('it was answered'),
    (reason: unknown) => reason,
  );
  if (error instanceof ModelFailure) return error;
  throw error;
}

describe('a model call over HTTP', () => {
  it('is made once, for every answer: retries belong to Temporal', async () => {
    for (const status of [408, 409, 429, 500, 503]) {
      const server = await serving({ failure: { status } });
      expect(await failure(ask(server))).toMatchObject({ retryable: true });
      expect(server.requests).toHaveLength(1);
    }
  });

  it('fails as rate limited with the pause of the provider', async () => {
    const server = await serving({ failure: { status: 429, headers: { 'retry-after': '7' } } });
    expect(await failure(ask(server))).toMatchObject({
      code: 'model_rate_limited',
      retryAfterMs: 7_000,
    });
  });

  it('fails for good when the provider refuses the request, and says why', async () => {
    const message = 'messages[0] is odd';
    const server = await serving({ failure: { status: 400, message } });
    const refused = await failure(ask(server));
    expect(refused).toMatchObject({ code: 'model_bad_request', retryable: false });
    expect(refused.message).toContain(message);
  });

  it('fails for good when the path of the base URL is wrong', async () => {
    const server = await serving({ text: TEXT });
    const url = server.url.replace('/v1', '/v2');
    expect(await failure(ask({ url }))).toMatchObject({
      code: 'model_not_found',
      retryable: false,
    });
    expect(await failure(ask({ url: 'not a url' }))).toMatchObject({
      code: 'model_bad_request',
      retryable: false,
    });
  });

  it('is retried when no process listens', async () => {
    const server = await serving({ text: TEXT });
    await server.close();
    const refused = await failure(ask(server));
    expect(refused).toMatchObject({ code: 'model_unavailable', retryable: true });
    expect(refused.message).toContain('ECONNREFUSED');
  });

  it("is retried when the answer is not a model's", async () => {
    const page = createServer((_, response) => response.end('<html>Welcome!</html>'));
    await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve));
    const { port } = page.address() as AddressInfo;
    const odd = await failure(ask({ url: `http://127.0.0.1:${port}/v1` }));
    page.close();
    expect(odd).toMatchObject({ code: 'model_stream_broken', retryable: true });
    expect(odd.message).toContain('base URL');
  });
});

describe('a stream that breaks off', () => {
  it.each(['cut', 'malformed', 'end', 'error'] as const)('by %s is retried', async (how) => {
    const server = await serving({ text: TEXT, breakOff: { afterChunks: 5, how } });
    expect(await failure(ask(server))).toMatchObject({
      code: 'model_stream_broken',
      retryable: true,
    });
  });

  it('before its first chunk is retried, too', async () => {
    const server = await serving({ text: TEXT, breakOff: { afterChunks: 0, how: 'cut' } });
    expect(await failure(ask(server))).toMatchObject({ retryable: true });
  });

  it('by silence is retried after the longest silence that is allowed', async () => {
    const server = await serving({ text: TEXT, breakOff: { afterChunks: 5, how: 'stall' } });
    const silent = await failure(ask(server, { requestTimeoutMs: 100 }));
    expect(silent).toMatchObject({ code: 'model_stream_broken', retryable: true });
    expect(silent.message).toContain('100 ms');
    await until('the server sees the end', () => server.requests[0]?.outcome === 'closed');
  });

  it('does not count as silent while pieces come, for any total time', async () => {
    const server = await serving({ text: TEXT, chunkDelayMs: 20 });
    const answer = await ask(server, { requestTimeoutMs: 200 });
    expect(answer.parts).toEqual([{ type: 'text', text: TEXT }]);
  });

  it('in the middle of the arguments of a call, by the length limit, is an answer', async () => {
    const server = await serving({
      calls: [{ name: 'go', input: '{"half":' }],
      finishReason: 'length',
    });
    expect(await ask(server)).toMatchObject({
      finishReason: 'length',
      calls: [{ name: 'go', argumentsJson: '{"half":' }],
    });
  });
});

describe('stopping a model call', () => {
  it('hangs up on the provider, which then stops generating', async () => {
    const server = await serving({ text: TEXT, breakOff: { afterChunks: 5, how: 'stall' } });
    const stop = new AbortController();
    const answer = ask(server, {}, stop.signal);
    await until('a request', () => server.requests.length === 1);
    stop.abort(new Error('stopped by the user'));
    await expect(answer).rejects.toThrow('stopped by the user');
    await until('the server sees the end', () => server.requests[0]?.outcome === 'closed');
  });

  it('leaves nothing behind on a signal that lives longer than the call', async () => {
    const server = await serving({ text: TEXT });
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, 'addEventListener');
    const removed = vi.spyOn(signal, 'removeEventListener');
    await ask(server, {}, signal);
    expect(added).toHaveBeenCalledTimes(1);
    expect(removed.mock.calls).toEqual(added.mock.calls);
  });
});

describe('the API key', () => {
  it('is read before every call, so that a rotated key is used', async () => {
    const server = await serving({ text: TEXT });
    const keys = ['sk-first-1', 'sk-second-2\n'];
    const apiKey = async (): Promise<string> => keys.shift() ?? '';
    await ask(server, { apiKey });
    await ask(server, { apiKey });
    expect(server.requests.map(({ authorization }) => authorization)).toEqual([
      'Bearer sk-first-1',
      'Bearer sk-second-2',
    ]);
  });

  it('and the base URL come from the environment when the agent names none', async () => {
    const server = await serving({ text: TEXT });
    vi.stubEnv('OPENAI_BASE_URL', server.url);
    vi.stubEnv('OPENAI_API_KEY', 'sk-of-the-environment');
    const { signal } = new AbortController();
    await openaiModel('gpt-test').generate(REQUEST, { signal, onEvent: () => undefined });
    expect(server.requests[0]?.authorization).toBe('Bearer sk-of-the-environment');
  });

  it('is requested by a clear error when there is none, except for a server of your own', async () => {
    vi.stubEnv('OPENAI_BASE_URL', undefined);
    vi.stubEnv('OPENAI_API_KEY', undefined);
    const { signal } = new AbortController();
    const missing = await failure(
      openaiModel('gpt-test').generate(REQUEST, { signal, onEvent: () => undefined }),
    );
    expect(missing).toMatchObject({ code: 'model_unauthorized', retryable: false });
    expect(missing.message).toContain('OPENAI_API_KEY');
    const server = await serving({ text: TEXT });
    const own = openaiModel('gpt-test', { baseURL: server.url });
    await own.generate(REQUEST, { signal, onEvent: () => undefined });
  });

  it('never appears in a failure, nor in the log', async () => {
    const written = [
      vi.spyOn(console, 'error'),
      vi.spyOn(console, 'warn'),
      vi.spyOn(console, 'log'),
    ];
    vi.stubEnv('OPENAI_LOG', 'debug');
    const quote = `Incorrect API key provided: ${KEY}`;
    const refusing = await serving({ failure: { status: 401, message: quote } });
    const odd = await serving({ failure: { status: 400, message: quote } });
    const garbled = await serving({ text: TEXT, breakOff: { afterChunks: 3, how: 'malformed' } });
    const secret = `${KEY} with a blank`;
    const failures = [
      await failure(ask(refusing)),
      await failure(ask(odd)),
      await failure(ask(garbled)),
      await failure(ask(refusing, { apiKey: secret })),
      await failure(ask(refusing, { apiKey: () => Promise.reject(new Error(`vault: ${KEY}`)) })),
    ];
    for (const error of failures) {
      expect(`${error.message} ${JSON.stringify(error)}`).not.toContain(KEY);
      expect(error.cause).toBeUndefined();
    }
    for (const write of written) {
      expect(write).not.toHaveBeenCalled();
      write.mockRestore();
    }
    expect(failures.map(({ code, retryable }) => `${code} ${retryable}`)).toEqual([
      'model_unauthorized false',
      'model_bad_request false',
      'model_stream_broken true',
      'model_unauthorized false',
      'model_unauthorized true',
    ]);
  });
});

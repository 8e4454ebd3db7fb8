/** Failures of a model call, and its possible outcomes, through both of OpenAI's APIs, over real HTTP. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type OpenAIApi,
  type OpenAIModelOptions,
  openaiModel,
} from '../../../../src/model/openai/adapter.js';
import { ModelFailure } from '../../../../src/model/shared/failure.js';
import type {
  ModelReport,
  ModelRequest,
  ModelResponse,
  ModelStreamEvent,
} from '../../../../src/protocol/model/model.js';
import {
  startWireServer,
  type WireAnswer,
  type WireServer,
} from '../../../support/networks/wire-server.js';
import { promise } from '../../../support/promise.js';
import {
  chatEvents,
  type PlainAnswer,
  responsesEvents,
} from '../../../support/samples/wire-events.js';
import { until } from '../../../support/until.js';

const KEY = 'sk-test-0123456789';
const TEXT = 'An answer that is long enough to be cut somewhere in the middle.';
const REQUEST: ModelRequest = {
  system: 'Be brief.',
  messages: [{ role: 'user', id: 'u', turnId: 't', parts: [{ type: 'text', text: 'Hi' }] }],
  tools: [{ name: 'notes.add', description: 'Adds', inputSchema: { type: 'object' } }],
};

const servers: WireServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serving(answer: WireAnswer): Promise<WireServer> {
  const server = await startWireServer(() => answer);
  servers.push(server);
  return server;
}

function modelAt(url: string, api: OpenAIApi, options: OpenAIModelOptions = {}) {
  return openaiModel('gpt-test', { baseURL: url, api, apiKey: KEY, ...options });
}

interface Asked {
  readonly server: WireServer;
  readonly answer: Promise<ModelResponse>;
  readonly events: readonly ModelStreamEvent[];
  readonly reports: readonly ModelReport[];
}

async function ask(
  api: OpenAIApi,
  answer: WireAnswer,
  options: OpenAIModelOptions & { readonly signal?: AbortSignal } = {},
): Promise<Asked> {
  const { signal = new AbortController().signal, ...rest } = options;
  const server = await serving(answer);
  const events: ModelStreamEvent[] = [];
  const onEvent = (event: ModelStreamEvent): void => void events.push(event);
  const reports: ModelReport[] = [];
  const onReport = (report: ModelReport): void => void reports.push(report);
  const response = modelAt(server.url, api, rest).generate(REQUEST, { signal, onEvent, onReport });
  response.catch(() => undefined);
  return { server, answer: response, events, reports };
}

async function failure(answer: Promise<ModelResponse>): Promise<ModelFailure> {
  const error = await answer.then(
    () => new Error('it was answered'),
    (reason: unknown) => reason,
  );
  if (error instanceof ModelFailure) return error;
  throw error;
}

type Row = readonly [
  what: string,
  answer: WireAnswer | ((api: OpenAIApi) => WireAnswer),
  code: string,
  retried: boolean,
];

const streamed = (answer: PlainAnswer) => (api: OpenAIApi) => ({
  events: api === 'chat' ? chatEvents(answer) : responsesEvents(answer),
});
const broken =
  (after: number, how: NonNullable<WireAnswer['breakOff']>['how']) => (api: OpenAIApi) => ({
    ...streamed({ text: TEXT })(api),
    breakOff: { after, how },
  });
const refusal = (status: number, error: object = { message: 'No.' }): WireAnswer => ({
  status,
  body: { error },
});

const ROWS: readonly Row[] = [
  ['a 400', refusal(400), 'model_bad_request', false],
  ['a 401', refusal(401), 'model_unauthorized', false],
  ['a 403', refusal(403), 'model_unauthorized', false],
  ['a 404', refusal(404), 'model_not_found', false],
  ['a 408', refusal(408), 'model_unavailable', true],
  ['a 409', refusal(409), 'model_unavailable', true],
  ['a 413', refusal(413), 'model_context_too_long', false],
  ['a 422', refusal(422), 'model_bad_request', false],
  ['a 429', refusal(429), 'model_rate_limited', true],
  ['a used-up quota', refusal(429, { code: 'insufficient_quota' }), 'model_rate_limited', false],
  ['a 500', refusal(500), 'model_unavailable', true],
  ['a 502', refusal(502), 'model_unavailable', true],
  ['a 503', refusal(503), 'model_unavailable', true],
  [
    'a context that is too long',
    refusal(400, { code: 'context_length_exceeded', message: 'Too long' }),
    'model_context_too_long',
    false,
  ],
  ['a filtered request', refusal(400, { code: 'content_filter' }), 'model_content_filtered', false],
  [
    'a filtered answer',
    streamed({ text: TEXT, stoppedBy: 'content_filter' }),
    'model_content_filtered',
    false,
  ],
  ['a stream that is cut at once', broken(0, 'cut'), 'model_stream_broken', true],
  ['a stream that is cut', broken(4, 'cut'), 'model_stream_broken', true],
  ['a stream that just ends', broken(4, 'end'), 'model_stream_broken', true],
  ['a malformed stream', broken(4, 'malformed'), 'model_stream_broken', true],
  ['no event at all', { events: [] }, 'model_stream_broken', true],
  [
    'an error in the stream',
    (api) => ({
      events: [
        ...streamed({ text: TEXT })(api).events.slice(0, 4),
        api === 'chat'
          ? { error: { message: 'Oops', type: 'server_error', code: null } }
          : { type: 'error', code: 'server_error', message: 'Oops', param: null },
      ],
    }),
    'model_stream_broken',
    true,
  ],
  [
    'a rate limit in the stream',
    (api) => ({
      events: [
        api === 'chat'
          ? { error: { message: 'Slow down', code: 'rate_limit_exceeded' } }
          : { type: 'error', code: 'rate_limit_exceeded', message: 'Slow down', param: null },
      ],
    }),
    'model_rate_limited',
    true,
  ],
];

describe.each(['chat', 'responses'] as const)('a model call through %s', (api) => {
  it.each(ROWS)(
    'with %s fails as it should, after one request',
    promise('G101', '2.A.7'),
    async (_what, row, code, retried) => {
      const { server, answer } = await ask(api, typeof row === 'function' ? row(api) : row);
      const failed = await failure(answer);
      expect({ code: failed.code, retried: failed.retryable }).toEqual({ code, retried });
      expect(failed.message).not.toContain(KEY);
      expect(server.requests).toHaveLength(1);
    },
  );

  it('with a 429 waits as long as the provider asks, in any notation', {
    ...promise('G101'),
  }, async () => {
    const pauseOf = async (headers: Readonly<Record<string, string>>) =>
      (await failure((await ask(api, { status: 429, headers })).answer)).retryAfterMs;
    expect(await pauseOf({})).toBeUndefined();
    expect(await pauseOf({ 'retry-after': '7' })).toBe(7_000);
    expect(await pauseOf({ 'retry-after-ms': '1500' })).toBe(1_500);
    const soon = new Date(Date.now() + 20_000).toUTCString();
    expect(await pauseOf({ 'retry-after': soon })).toBeGreaterThan(10_000);
  });

  it('reports when the provider has accepted it, and its usage as soon as the provider sends it', async () => {
    const whole = streamed({ text: TEXT })(api);
    const usage = {
      ...{ inputTokens: 100, outputTokens: 20 },
      ...{ cachedInputTokens: 64, reasoningTokens: 8 },
    };
    const answered = await ask(api, whole);
    await answered.answer;
    expect(answered.reports).toEqual([{ type: 'accepted' }, { type: 'usage', usage }]);
    const cut = await ask(api, broken(4, 'cut')(api));
    await failure(cut.answer);
    expect(cut.reports).toEqual([{ type: 'accepted' }]);
    const refused = await ask(api, refusal(429));
    await failure(refused.answer);
    expect(refused.reports).toEqual([]);
  });

  it('is retried when no process listens, and when the host is unknown', async () => {
    const server = await serving({});
    await server.close();
    const { signal } = new AbortController();
    const asked = (url: string) =>
      failure(modelAt(url, api).generate(REQUEST, { signal, onEvent: () => undefined }));
    expect(await asked(server.url)).toMatchObject({ code: 'model_unavailable', retryable: true });
    expect(await asked('http://no-such-host.invalid/v1')).toMatchObject({
      code: 'model_unavailable',
      retryable: true,
    });
  });

  it("is retried when the answer is not a model's", async () => {
    const page = createServer((_, response) => response.end('<html>Welcome!</html>'));
    await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve));
    const { port } = page.address() as AddressInfo;
    const { signal } = new AbortController();
    const model = modelAt(`http://127.0.0.1:${port}/v1`, api);
    const odd = await failure(model.generate(REQUEST, { signal, onEvent: () => undefined }));
    page.close();
    expect(odd).toMatchObject({ code: 'model_stream_broken', retryable: true });
    expect(odd.message).toContain('base URL');
  });

  it('that falls silent is retried, and its connection is closed', async () => {
    // Long enough for a busy machine to begin its answer.
    const { server, answer } = await ask(api, broken(4, 'stall')(api), { requestTimeoutMs: 1_000 });
    expect(await failure(answer)).toMatchObject({ code: 'model_stream_broken', retryable: true });
    await until('the server sees the end', () => server.requests[0]?.outcome === 'closed');
  });

  it('hangs up when it is stopped, so that the provider stops generating', {
    ...promise('G106'),
  }, async () => {
    const stop = new AbortController();
    const { server, answer, events } = await ask(api, broken(4, 'stall')(api), {
      signal: stop.signal,
    });
    await until('a piece', () => events.length > 0);
    stop.abort(new Error('stopped by the user'));
    await expect(answer).rejects.toThrow('stopped by the user');
    await until('the server sees the end', () => server.requests[0]?.outcome === 'closed');
  });

  it('that the limit cuts in the middle of arguments is an answer with half a call', async () => {
    const calls = [{ id: 'call_1', name: 'notes__add', arguments: '{"text":"half' }];
    const { answer } = await ask(api, streamed({ calls, stoppedBy: 'length' })(api));
    expect(await answer).toMatchObject({
      finishReason: 'length',
      calls: [{ id: 'call_1', name: 'notes.add', argumentsJson: '{"text":"half' }],
    });
  });

  it('gives parallel calls in order, with the ids of the provider, repeated or not', async () => {
    const calls = [
      { id: 'call_1', name: 'notes__add', arguments: '{"text":"a"}' },
      { id: 'call_1', name: 'notes__add', arguments: '{"text":"b"}' },
      { id: 'call_2', name: 'no_such_tool', arguments: '' },
    ];
    const { answer, events } = await ask(api, streamed({ calls })(api));
    expect((await answer).calls).toEqual([
      { id: 'call_1', name: 'notes.add', argumentsJson: '{"text":"a"}' },
      { id: 'call_1', name: 'notes.add', argumentsJson: '{"text":"b"}' },
      { id: 'call_2', name: 'no_such_tool', argumentsJson: '{}' },
    ]);
    const second = events.flatMap((event) =>
      event.type === 'tool_arguments' && event.index === 1 ? [event.text] : [],
    );
    expect(second.join('')).toBe('{"text":"b"}');
  });

  it('of a model that declines says so: its words are text, and the finish reason is a refusal', async () => {
    const { answer } = await ask(api, streamed({ refusal: 'I would rather not.' })(api));
    const { parts, finishReason } = await answer;
    expect(finishReason).toBe('refusal');
    expect(parts).toContainEqual({ type: 'text', text: 'I would rather not.' });
  });

  it('streams thoughts apart from the text, and counts cached and reasoning tokens', async () => {
    const { answer, events } = await ask(
      api,
      streamed({ reasoning: 'Hm, let me see', text: TEXT })(api),
    );
    const { parts, usage } = await answer;
    expect(parts.filter(({ type }) => type !== 'provider_item')).toEqual([
      { type: 'reasoning', text: 'Hm, let me see' },
      { type: 'text', text: TEXT },
    ]);
    const thoughts = events.flatMap((event) => (event.type === 'reasoning' ? [event.text] : []));
    expect(thoughts.join('')).toBe('Hm, let me see');
    expect(usage).toEqual({
      inputTokens: 100,
      outputTokens: 20,
      cachedInputTokens: 64,
      reasoningTokens: 8,
    });
  });

  it('asks for an output of a form, for strict tools, and for the tool that was chosen', async () => {
    const server = await serving(streamed({ text: '{}' })(api));
    const schema = { type: 'object', properties: {}, additionalProperties: false };
    const model = modelAt(server.url, api, {
      toolChoice: { name: 'notes.add' },
      reasoning: { effort: 'low' },
    });
    const [tool] = REQUEST.tools;
    await model.generate(
      {
        ...REQUEST,
        tools: [{ ...tool!, strict: true }],
        output: { name: 'plan', schema, strict: true },
      },
      { signal: new AbortController().signal, onEvent: () => undefined },
    );
    expect(server.requests[0]?.body).toMatchObject(
      api === 'chat'
        ? {
            response_format: {
              type: 'json_schema',
              json_schema: { name: 'plan', schema, strict: true },
            },
            tools: [{ type: 'function', function: { name: 'notes__add', strict: true } }],
            tool_choice: { type: 'function', function: { name: 'notes__add' } },
            reasoning_effort: 'low',
          }
        : {
            text: { format: { type: 'json_schema', name: 'plan', schema, strict: true } },
            tools: [{ type: 'function', name: 'notes__add', strict: true }],
            tool_choice: { type: 'function', name: 'notes__add' },
            reasoning: { effort: 'low' },
            store: false,
          },
    );
  });
});

/** Responses in background mode: made once, with any accident of the stream or its reader. */
import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { type OpenAIModelOptions, openaiModel } from '../../../../src/model/openai/adapter.js';
import { ModelFailure } from '../../../../src/model/shared/failure.js';
import type {
  Model,
  ModelReport,
  ModelRequest,
  ModelResponse,
  ModelStreamEvent,
} from '../../../../src/protocol/model/model.js';
import { promise } from '../../../support/promise.js';
import { message } from '../../../support/samples/wire-events.js';
import {
  type BackgroundOptions,
  type BackgroundServer,
  startBackgroundServer,
} from '../../../support/servers/background-server.js';
import { until } from '../../../support/until.js';

const TEXT = 'An answer that is long enough to be cut somewhere in the middle.';
const SEARCH = {
  id: 'ws_1',
  type: 'web_search_call',
  status: 'completed',
  action: { type: 'search', query: 'it' },
} as const;
const ITEMS = [SEARCH, message('msg_1', [{ type: 'output_text', text: TEXT, annotations: [] }])];
/** In the middle of the text. */
const MIDDLE = 9;
const REQUEST: ModelRequest = {
  system: 'Be brief.',
  messages: [{ role: 'user', id: 'u', turnId: 't', parts: [{ type: 'text', text: 'Hi' }] }],
  tools: [{ name: 'web.search', provider: { type: 'web_search' } }],
};

const servers: BackgroundServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serving(options: Partial<BackgroundOptions> = {}): Promise<BackgroundServer> {
  const server = await startBackgroundServer({ items: () => ITEMS, ...options });
  servers.push(server);
  return server;
}

function modelAt({ url }: BackgroundServer, options: OpenAIModelOptions = {}): Model {
  const fixed = { baseURL: url, api: 'responses', apiKey: 'sk-test', background: true } as const;
  return openaiModel('gpt-test', { ...fixed, pollMs: 5, ...options });
}

interface Asked {
  readonly answer: Promise<ModelResponse>;
  readonly events: readonly ModelStreamEvent[];
  readonly reports: readonly ModelReport[];
  readonly stop: AbortController;
}

function ask(server: BackgroundServer, resume?: string): Asked {
  const events: ModelStreamEvent[] = [];
  const reports: ModelReport[] = [];
  const stop = new AbortController();
  const answer = modelAt(server).generate(REQUEST, {
    signal: stop.signal,
    onEvent: (event) => void events.push(event),
    onReport: (report) => void reports.push(report),
    ...(resume === undefined ? {} : { resume }),
  });
  answer.catch(() => undefined);
  return { answer, events, reports, stop };
}

/** Another worker has made the request, and was lost in the middle of the text. */
async function leftOpen(server: BackgroundServer): Promise<string> {
  const lost = ask(server);
  await until('some of the text', () => textOf(lost.events) !== '');
  lost.stop.abort();
  await expect(lost.answer).rejects.toThrow();
  return 'resp_1';
}

const textOf = (events: readonly ModelStreamEvent[]): string =>
  events.flatMap((event) => (event.type === 'text' ? [event.text] : [])).join('');

const searches = (events: readonly ModelStreamEvent[]): number =>
  events.filter(({ type }) => type === 'provider_call').length;

async function failureOf(answer: Promise<ModelResponse>): Promise<ModelFailure> {
  const error: unknown = await answer.then(
    () => new Error('it was answered'),
    (reason: unknown) => reason,
  );
  if (error instanceof ModelFailure) return error;
  throw error;
}

async function expectWhole({ answer }: Asked): Promise<void> {
  const { parts, usage, finishReason } = await answer;
  expect(parts.filter(({ type }) => type === 'text')).toEqual([{ type: 'text', text: TEXT }]);
  expect(usage).toMatchObject({ inputTokens: 100, outputTokens: 20 });
  expect(finishReason).toBe('stop');
}

describe('an answer in background mode', () => {
  it('is requested as one that the provider stores, and reports the id to resume it by', async () => {
    const server = await serving();
    const asked = ask(server);
    await expectWhole(asked);
    expect(server.creations).toMatchObject([{ background: true, store: true, stream: true }]);
    const usage = expect.objectContaining({ inputTokens: 100 }) as unknown;
    expect(asked.reports).toEqual([
      { type: 'accepted' },
      { type: 'open', id: 'resp_1' },
      { type: 'usage', usage },
      { type: 'closed' },
    ]);
  });

  it('resumes behind the last event where its stream is cut, any number of times', {
    ...promise('G12'),
  }, async () => {
    const server = await serving({ cuts: [MIDDLE, 1, 2] });
    const asked = ask(server);
    await expectWhole(asked);
    expect(server.creations).toHaveLength(1);
    expect(server.resumptions).toEqual([
      { id: 'resp_1', after: MIDDLE - 1 },
      { id: 'resp_1', after: MIDDLE },
      { id: 'resp_1', after: MIDDLE + 2 },
    ]);
    expect(textOf(asked.events)).toBe(TEXT);
    expect(searches(asked.events)).toBe(1);
  });

  it('is polled until its end where a stream brings nothing new', async () => {
    const server = await serving({ cuts: [MIDDLE, 0], heldAfter: MIDDLE });
    const asked = ask(server);
    await until('several polls', () => server.polls > 2);
    server.release();
    await expectWhole(asked);
    expect(server.creations).toHaveLength(1);
  });

  it('is resumed by any worker that has its id: from its beginning, and without a second creation', async () => {
    const server = await serving({ heldAfter: MIDDLE });
    const resumed = ask(server, await leftOpen(server));
    await until('the text of before', () => textOf(resumed.events) !== '');
    server.release();
    await expectWhole(resumed);
    expect(textOf(resumed.events)).toBe(TEXT);
    expect(server.creations).toHaveLength(1);
    expect(server.resumptions).toEqual([{ id: 'resp_1', after: undefined }]);
    expect(resumed.reports.at(0)).toEqual({ type: 'open', id: 'resp_1' });
    expect(resumed.reports.at(-1)).toEqual({ type: 'closed' });
  });

  it('is polled until its end where the provider does not stream it again', async () => {
    const server = await serving({ heldAfter: MIDDLE, streamsAgain: false });
    const resumed = ask(server, await leftOpen(server));
    await until('several polls', () => server.polls > 2);
    server.release();
    await expectWhole(resumed);
    expect(server.creations).toHaveLength(1);
  });

  it('that the provider no longer has is a broken stream with nothing to resume', async () => {
    const server = await serving({ heldAfter: MIDDLE });
    const id = await leftOpen(server);
    server.forget();
    const resumed = ask(server, id);
    expect(await failureOf(resumed.answer)).toMatchObject({
      code: 'model_stream_broken',
      retryable: true,
    });
    expect(resumed.reports).toEqual([{ type: 'closed' }]);
    expect(server.creations).toHaveLength(1);
  });

  it('that has failed at the provider cannot be resumed, nor one that was cancelled there', async () => {
    const error = { code: 'server_error', message: 'Oops' } as const;
    const failing = await serving({ last: () => ({ status: 'failed', error }) });
    const failed = ask(failing);
    expect(await failureOf(failed.answer)).toMatchObject({ code: 'model_stream_broken' });
    expect(failed.reports.at(-1)).toEqual({ type: 'closed' });
    const server = await serving({ heldAfter: MIDDLE });
    const id = await leftOpen(server);
    await modelAt(server).cancel?.(id);
    expect(server.cancelled).toEqual([id]);
    const cancelled = ask(server, id);
    expect(await failureOf(cancelled.answer)).toMatchObject({ code: 'model_stream_broken' });
    expect(cancelled.reports.at(-1)).toEqual({ type: 'closed' });
  });

  it('that an error of the stream ended cannot be resumed, and fails with that error', async () => {
    const code = 'context_length_exceeded';
    const server = await serving({ error: { behind: 2, code } });
    const asked = ask(server);
    expect(await failureOf(asked.answer)).toMatchObject({ code: 'model_context_too_long' });
    expect(asked.reports.at(-1)).toEqual({ type: 'closed' });
    const resumed = ask(server, 'resp_1');
    expect(await failureOf(resumed.answer)).toMatchObject({ code: 'model_context_too_long' });
    expect(resumed.reports.at(-1)).toEqual({ type: 'closed' });
    expect(server.creations).toHaveLength(1);
  });

  it('is read to its end where an error of the stream was not that of the response', async () => {
    const error = { behind: MIDDLE, code: 'rate_limit_exceeded', continues: true };
    const server = await serving({ error });
    const asked = ask(server);
    await expectWhole(asked);
    expect(asked.reports.at(-1)).toEqual({ type: 'closed' });
    expect(server.creations).toHaveLength(1);
  });

  it('stays open where it cannot be reached, and where its reader stops', async () => {
    const server = await serving({ heldAfter: MIDDLE });
    const stopped = ask(server);
    await until('some of the text', () => textOf(stopped.events) !== '');
    stopped.stop.abort(new Error('enough'));
    await expect(stopped.answer).rejects.toThrow('enough');
    await server.close();
    const away = ask(server, 'resp_1');
    expect(await failureOf(away.answer)).toMatchObject({ code: 'model_unavailable' });
    expect([...stopped.reports, ...away.reports]).not.toContainEqual({ type: 'closed' });
  });

  it('is refused through Chat Completions, at its definition and at the request', async () => {
    expect(() => openaiModel('m', { api: 'chat', background: true })).toThrow(TypeError);
    const server = await serving();
    const model = openaiModel('m', { baseURL: server.url, background: true });
    const { signal } = new AbortController();
    const answer = model.generate(REQUEST, { signal, onEvent: () => undefined });
    expect(await failureOf(answer)).toMatchObject({ code: 'model_bad_request', retryable: false });
    expect(server.creations).toEqual([]);
  });
});

describe('the server of these tests', () => {
  it('speaks as the openai package reads it', async () => {
    const server = await serving({ heldAfter: MIDDLE });
    const client = new OpenAI({ baseURL: server.url, apiKey: 'any', maxRetries: 0 });
    const body = { model: 'm', input: 'Hi', background: true, store: true, stream: true } as const;
    let last = -1;
    for await (const event of await client.responses.create(body)) {
      expect(event.sequence_number).toBe(last + 1);
      last = event.sequence_number;
      if (last === MIDDLE - 1) break;
    }
    expect((await client.responses.retrieve('resp_1')).status).toBe('in_progress');
    server.release();
    const rest = await client.responses.retrieve('resp_1', { stream: true, starting_after: last });
    const types: string[] = [];
    for await (const event of rest) {
      expect(event.sequence_number).toBe(last + 1);
      last = event.sequence_number;
      types.push(event.type);
    }
    expect(types.at(-1)).toBe('response.completed');
    const whole = await client.responses.retrieve('resp_1');
    expect([whole.status, whole.output_text]).toEqual(['completed', TEXT]);
    expect((await client.responses.cancel('resp_1')).status).toBe('cancelled');
    await expect(client.responses.retrieve('resp_9')).rejects.toMatchObject({ status: 404 });
    await expect(client.responses.create({ ...body, store: false })).rejects.toMatchObject({
      status: 400,
    });
  });
});

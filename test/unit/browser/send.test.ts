/** Messages, answers and other requests of a page: shown at once, repeated safely, answered with the API's verdict. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { BrowserConversation } from '../../../src/browser/conversation.js';
import {
  ApiError,
  type BrowserClientOptions,
  createBrowserClient,
} from '../../../src/browser/index.js';
import { ScriptedApi } from '../../support/pages/scripted-api.js';
import { type FetchCall, json, problem } from '../../support/pages/scripted-fetch.js';
import { promise } from '../../support/promise.js';
import { asks, started, suspends } from '../../support/samples/log-events.js';
import { until } from '../../support/until.js';

const QUICK = { minPauseMs: 2, maxPauseMs: 5, silenceMs: 10_000, giveUpMs: 5_000 };

function page(api: ScriptedApi, options: Partial<BrowserClientOptions> = {}): BrowserConversation {
  const client = createBrowserClient({
    baseUrl: 'http://api/',
    fetch: api.fetch,
    timing: QUICK,
    ...options,
  });
  return client.conversation('c1');
}

const lastOf = (conversation: BrowserConversation) => conversation.getSnapshot().messages.at(-1);
const ADMITTED = { status: 'admitted', conversationId: 'c1', turnId: 't1' };

it('a file is stored as it is, and again after a lost answer', async () => {
  const api = new ScriptedApi();
  const blob = { id: 'f'.repeat(64), bytes: 6, type: 'application/octet-stream' };
  let tries = 0;
  api.instead = () => {
    tries += 1;
    if (tries === 1) throw new TypeError('fetch failed');
    return json({ blob }, { status: 201 });
  };
  expect(await page(api).upload(new Blob(['a note']))).toEqual(blob);
  const sent = api.sent('POST', '/v1/conversations/c1/blobs');
  expect(sent).toHaveLength(2);
  expect(await sent[1]?.file?.text()).toBe('a note');
  expect(sent[1]?.headers.get('content-type')).toBe('application/octet-stream');
});

describe('a message of a page', () => {
  it(
    'is shown at once, keeps its place when the log has it, and is one message for all repeats',
    promise('G355'),
    async () => {
      const api = new ScriptedApi(started());
      const conversation = page(api);
      await conversation.open();
      await until('it is open', () => api.streams.length === 1);
      let tries = 0;
      api.instead = ({ method }) => {
        if (method !== 'POST') return undefined;
        tries += 1;
        // The first is lost on the way, the second on its way back, the third meets a server that drains.
        if (tries <= 2) throw new TypeError('fetch failed');
        return tries === 3 ? problem(503, 'draining', { 'retry-after': '0' }) : json(ADMITTED);
      };
      const sending = conversation.send('hello', { requestId: 'request-t1' });
      const shown = lastOf(conversation);
      expect(shown).toMatchObject({ key: 'request-t1', text: 'hello', state: 'sending' });
      expect(await sending).toEqual(ADMITTED);
      expect(lastOf(conversation)).toMatchObject({ key: 'request-t1', state: 'accepted' });
      const sent = api.sent('POST', '/messages');
      expect(sent).toHaveLength(4);
      expect(new Set(sent.map(({ body }) => JSON.stringify(body))).size).toBe(1);
      api.log(...asks('t1', 'hello'));
      await until('the log has it', () => conversation.getSnapshot().status === 'streaming');
      expect(conversation.getSnapshot().messages).toMatchObject([
        { key: 'request-t1', text: 'hello', state: 'sent', turnId: 't1' },
      ]);
      conversation.leave();
    },
  );

  it('may be in the log before its answer comes', promise('G355'), async () => {
    const api = new ScriptedApi(started());
    const conversation = page(api);
    await conversation.open();
    await until('it is open', () => api.streams.length === 1);
    let reply = (_response: Response): void => undefined;
    const answer = new Promise<Response>((resolve) => {
      reply = resolve;
    });
    api.instead = ({ method }) => (method === 'POST' ? answer : undefined);
    const sending = conversation.send('hello', { requestId: 'request-t1' });
    api.log(...asks('t1', 'hello'));
    await until('the log has it', () => conversation.getSnapshot().status === 'streaming');
    reply(json(ADMITTED));
    await sending;
    expect(conversation.getSnapshot().messages).toHaveLength(1);
    conversation.leave();
  });

  it('is sent once the page has a token, where none could be had at first', async () => {
    const api = new ScriptedApi(started());
    api.instead = ({ method }) => (method === 'POST' ? json(ADMITTED) : undefined);
    let tries = 0;
    const getToken = async (): Promise<string> => {
      tries += 1;
      if (tries <= 3) throw new Error('the sign-in is away');
      return 'token-1';
    };
    expect(await page(api, { getToken }).send('hello')).toEqual(ADMITTED);
    expect(api.calls.map(({ headers }) => headers.get('authorization'))).toEqual([
      'Bearer token-1',
    ]);
  });

  it('fails where no token can be had, and says why', async () => {
    const timing = { ...QUICK, giveUpMs: 20 };
    const getToken = () => Promise.reject(new Error('the sign-in is away'));
    const conversation = page(new ScriptedApi(started()), { getToken, timing });
    await expect(conversation.send('hello')).rejects.toThrow(ApiError);
    expect(lastOf(conversation)).toMatchObject({
      state: 'failed',
      problem: { code: 'unreachable', detail: 'No answer: the sign-in is away' },
    });
  });

  it('waits behind the streamed answer until its turn begins', async () => {
    const api = new ScriptedApi(started(), ...asks('t1', 'first'));
    const conversation = page(api);
    await conversation.open();
    await until('it is open', () => api.streams.length === 1);
    const [second, begins] = asks('t2', 'second');
    api.live({
      ...{ type: 'text_delta', turnId: 't1', step: 1, attempt: 1 },
      ...{ messageId: 't1.1', offset: 0, text: 'Well' },
    });
    api.log(second!);
    const order = () =>
      conversation.getSnapshot().messages.map((message) => 'text' in message && message.text);
    await until('both are shown', () => order().length === 3);
    expect(order()).toEqual(['first', 'Well', 'second']);
    expect(lastOf(conversation)).toMatchObject({ state: 'queued' });
    api.log(begins!);
    await until('it runs', () => lastOf(conversation)?.role !== 'user' || order().length === 2);
    conversation.leave();
  });

  it('stays as failed where the API refuses, until it is sent again or discarded', async () => {
    const api = new ScriptedApi(started());
    const conversation = page(api);
    api.instead = () => problem(409, 'busy');
    const refused = await conversation
      .send('hello', { requestId: 'r1' })
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ApiError);
    expect(refused).toMatchObject({ problem: { status: 409, code: 'busy', detail: 'busy it is' } });
    expect(lastOf(conversation)).toMatchObject({ state: 'failed', problem: { code: 'busy' } });
    api.instead = () => json(ADMITTED);
    await conversation.send('hello', { requestId: 'r1' });
    expect(conversation.getSnapshot().messages).toMatchObject([{ key: 'r1', state: 'accepted' }]);
    api.instead = () => problem(422, 'invalid_request');
    await conversation.send('', { requestId: 'r2' }).catch(() => undefined);
    expect(conversation.getSnapshot().messages).toHaveLength(2);
    conversation.discard('r2');
    expect(conversation.getSnapshot().messages).toHaveLength(1);
  });

  it('is sent again with the options that it had', async () => {
    const api = new ScriptedApi(started());
    const conversation = page(api);
    const answers = [
      ...[problem(409, 'busy'), problem(409, 'busy'), json({ status: 'queued' }, { status: 202 })],
      ...[json(ADMITTED), json(ADMITTED), problem(409, 'busy')],
    ];
    api.instead = ({ method }) => (method === 'POST' ? answers.shift() : undefined);
    const requestId = 'r1';
    const sends = async (options: object) =>
      await conversation.send('hello', { requestId, ...options }).catch(() => undefined);
    await sends({ onBusy: 'interrupt', output: false });
    await sends({});
    await sends({ onBusy: 'steer' });
    await sends({});
    await sends({});
    await sends({ onBusy: 'reject' });
    conversation.discard(requestId);
    await sends({});
    const bodies = api.sent('POST', '/messages').map(({ body }) => body);
    const modes = ['interrupt', 'interrupt', 'steer', 'steer', undefined, 'reject', undefined];
    expect(bodies.map((body) => body['onBusy'])).toEqual(modes);
    expect(bodies[3]).toEqual({ text: 'hello', requestId, onBusy: 'steer', output: false });
  });

  it('that a worker refuses later is shown as failed', async () => {
    const api = new ScriptedApi(started());
    const conversation = page(api);
    await conversation.open();
    await until('it is open', () => api.streams.length === 1);
    api.instead = ({ method }) =>
      method === 'POST' ? json({ status: 'queued', requestId: 'r1' }, { status: 202 }) : undefined;
    await conversation.send('hello', { requestId: 'r1' });
    const actor = { id: 'ann', verified: false, channel: 'api' } as const;
    api.log({ type: 'message_refused', requestId: 'r1', code: 'busy', actor });
    await until('it has failed', () => {
      const message = lastOf(conversation);
      return message?.role === 'user' && message.state === 'failed';
    });
    expect(lastOf(conversation)).toMatchObject({ problem: { code: 'busy' } });
    conversation.leave();
  });

  it('is given up after the time for it', async () => {
    const api = new ScriptedApi(started());
    const conversation = page(api, { timing: { ...QUICK, giveUpMs: 20 } });
    api.instead = () => {
      throw new TypeError('fetch failed');
    };
    await expect(conversation.send('hello')).rejects.toMatchObject({
      problem: { status: 0, code: 'unreachable' },
    });
    expect(lastOf(conversation)).toMatchObject({ state: 'failed' });
  });
});

describe('an answer of a page', () => {
  it('names the arguments that the page shows, and returns the verdict at every status', async () => {
    const call = suspends('t1', 'call 1', { kind: 'approval', argsDigest: 'sha256:1' });
    const api = new ScriptedApi(started(), ...asks('t1'), call);
    const conversation = page(api, { headers: { 'x-app': 'shop' }, token: 'abc' });
    await conversation.open();
    const stale = { verdict: 'stale', why: 'already_resolved', status: 'running', by: 'ben' };
    api.instead = ({ method }) => (method === 'POST' ? json(stale, { status: 409 }) : undefined);
    expect(await conversation.resolve('call 1', { type: 'approve' })).toEqual(stale);
    const [sent] = api.sent('POST', '/tool-calls/call%201/resolution');
    expect(sent?.body).toMatchObject({ resolution: { type: 'approve' }, argsDigest: 'sha256:1' });
    expect(sent?.body['requestId']).toMatch(/^[0-9a-f]{32}$/);
    expect(sent?.headers.get('authorization')).toBe('Bearer abc');
    expect(sent?.headers.get('x-app')).toBe('shop');
    expect(api.calls.every(({ path }) => !path.includes('abc'))).toBe(true);
    expect(await conversation.claim('call 1', { lease: '1 minute' })).toEqual(stale);
    expect(await conversation.extend('call 1', { by: '2 hours' })).toEqual(stale);
    expect(api.sent('POST', '/extend')[0]?.body).toMatchObject({ by: '2 hours' });
    conversation.leave();
  });

  it('without a verdict is an error with the problem', async () => {
    const api = new ScriptedApi(started());
    const conversation = page(api, { tenant: 'acme' });
    api.instead = () => problem(403, 'forbidden');
    await expect(conversation.resolve('c', { type: 'approve' })).rejects.toMatchObject({
      problem: { status: 403, code: 'forbidden' },
    });
    expect(api.calls[0]?.path).toBe('/v1/conversations/c1/tool-calls/c/resolution?tenant=acme');
    api.instead = () => json({ closed: true, seq: 9 });
    expect(await conversation.close()).toEqual({ closed: true, seq: 9 });
    api.instead = () => json({ status: 'done', cancelled: true });
    expect(await conversation.cancel({ reason: 'enough' })).toEqual({
      status: 'done',
      cancelled: true,
    });
    expect(api.sent('POST', '/cancel')[0]?.body).toMatchObject({ reason: 'enough' });
    api.instead = () => json({ seq: 9, states: {} });
    expect(await conversation.pluginStates()).toEqual({ seq: 9, states: {} });
    api.instead = () => new Response('<html>a proxy</html>', { status: 404 });
    await expect(conversation.close()).rejects.toMatchObject({ problem: { code: 'http_404' } });
  });
});

/** An answer whose body comes in pieces, with a pause before each and before the end. As with `fetch`, an abort ends it. */
function slowly({ signal }: FetchCall, pieces: readonly string[], pauseMs: number): Response {
  const left = [...pieces];
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      signal?.addEventListener('abort', () => controller.error(signal.reason));
    },
    pull: async (controller) => {
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      if (signal?.aborted === true) return;
      const piece = left.shift();
      if (piece === undefined) controller.close();
      else controller.enqueue(new TextEncoder().encode(piece));
    },
  });
  return new Response(body);
}

describe('the body of an answer', promise('G426'), () => {
  const SILENCE_MS = 40_000;
  const DAY_MS = 86_400_000;
  const timing = { ...QUICK, silenceMs: SILENCE_MS, giveUpMs: 1 };
  const api = new ScriptedApi();

  beforeEach(() => {
    vi.useFakeTimers();
    api.instead = (call) => slowly(call, ['{'], DAY_MS);
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('that does not come is no answer, to a read as to a change', async () => {
    const conversation = page(api, { timing });
    const failures: unknown[] = [];
    const failed = (error: unknown): void => void failures.push(error);
    void conversation.pluginStates().catch(failed);
    void conversation.resolve('c', { type: 'approve' }).catch(failed);
    await vi.advanceTimersByTimeAsync(SILENCE_MS - 1);
    expect(failures).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(failures).toMatchObject([
      { problem: { status: 0, code: 'unreachable' } },
      { problem: { status: 0, code: 'unreachable' } },
    ]);
  });

  it('may take longer than that, piece by piece', async () => {
    api.instead = (call) => slowly(call, ['{"seq":', '9,"sta', 'tes":{}}'], SILENCE_MS - 1);
    const read = page(api, { timing }).pluginStates();
    await vi.advanceTimersByTimeAsync(4 * SILENCE_MS);
    expect(await read).toEqual({ seq: 9, states: {} });
  });

  it('that breaks off behind the status of a refusal leaves the refusal', async () => {
    const cut = () =>
      new ReadableStream({
        start: (controller) => {
          controller.error(new Error('cut'));
        },
      });
    api.instead = () => new Response(cut(), { status: 403 });
    const read = page(api, { timing }).pluginStates();
    await expect(read).rejects.toMatchObject({ problem: { status: 403 } });
  });

  it('is waited for no longer than its reader is there', async () => {
    const conversation = page(api, { timing });
    const opening = conversation.open();
    await vi.advanceTimersByTimeAsync(0);
    const signal = api.calls.at(-1)?.signal;
    expect(signal?.aborted).toBe(false);
    conversation.leave();
    expect(signal?.aborted).toBe(true);
    expect((await opening).connection).toEqual({ state: 'off' });
  });

  it('of a stream has no such limit', async () => {
    const client = createBrowserClient({ baseUrl: '', fetch: api.fetch, timing });
    const { body } = await client.api.request('/v1/worklist/stream');
    await vi.advanceTimersByTimeAsync(DAY_MS);
    const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = body?.getReader();
    const read = await reader?.read();
    expect(new TextDecoder().decode(read?.value)).toBe('{');
  });
});

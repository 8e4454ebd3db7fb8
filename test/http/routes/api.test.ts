import { describe, expect, it } from 'vitest';
import { noAnswer, refusal } from '../../support/fakes/fake-temporal.js';
import { TESTING } from '../../support/networks/test-identity.js';
import { promise } from '../../support/promise.js';
import { CALL, SUPPORT, sampleLog, TURN } from '../../support/samples/sample-log.js';
import { startHttpApp } from '../../support/servers/http-app.js';

const REPLY = { turnId: TURN, messageId: 'm_1', seq: 2, ahead: 0 };
const RESOLUTION = `/v1/conversations/c-1/tool-calls/${CALL}/resolution`;

describe('conversations', () => {
  it('are created with their first message, and the reply has their location', async () => {
    const app = await startHttpApp({ updateWithStart: () => REPLY });
    const response = await app.post('/v1/conversations', {
      agent: 'support',
      id: 'c-1',
      message: 'Hi',
      actor: { id: 'ann' },
    });
    expect(response.status).toBe(202);
    expect(response.headers.get('location')).toBe('/v1/conversations/c-1');
    expect(await response.json()).toMatchObject({
      status: 'admitted',
      conversationId: 'c-1',
      ...REPLY,
      duplicate: false,
    });
    expect(app.calls[0]?.input).toMatchObject({
      actor: { id: 'ann', verified: false, channel: 'api' },
    });
  });

  it.each(['wait', 'timeout'])(
    'never list a call as pending after this process has seen its answer; ?%s= waits for the end',
    async (name) => {
      const app = await startHttpApp({
        update: () => ({ verdict: 'accepted', toolCallId: CALL, seq: 6 }),
      });
      app.reader.add('c-1', sampleLog('c-1').slice(0, 5));
      const turn = async (query = ''): Promise<unknown> =>
        await (await app.request(`/v1/turns/${TURN}${query}`)).json();
      expect(await turn()).toMatchObject({ status: 'waiting', seq: 5 });
      expect(await turn('?atLeastSeq=6')).toMatchObject({ status: 'timeout' });
      await app.post(RESOLUTION, { type: 'answer', value: 'the first' });
      expect(await turn()).toMatchObject({ conversationId: 'c-1', status: 'timeout' });
      const later = turn(`?${name}=20s`);
      app.reader.add('c-1', sampleLog('c-1').slice(5));
      expect(await later).toMatchObject({ conversationId: 'c-1', status: 'completed' });
    },
  );

  it('get an id if they have none; the same Idempotency-Key gets the same id', async () => {
    const app = await startHttpApp({ updateWithStart: () => REPLY, update: () => REPLY });
    const create = async (headers: Record<string, string>): Promise<string | null> =>
      (
        await app.post('/v1/conversations', { agent: 'support', message: 'Hi' }, headers)
      ).headers.get('location');
    const [first, again, other] = [
      await create({ 'idempotency-key': 'k' }),
      await create({ 'idempotency-key': 'k' }),
      await create({}),
    ];
    expect(first).toBe(again);
    expect(other).not.toBe(first);
    expect(
      app.calls.map((call) => (call.input as { requestId: string }).requestId).slice(0, 2),
    ).toEqual(['k', 'k']);
  });

  it('of two actors under one Idempotency-Key are two, also where one caller names both', async () => {
    const REPEATS = [undefined, 'ann', 'bob', 'ann', undefined];
    const app = await startHttpApp({ updateWithStart: () => REPLY, update: () => REPLY });
    for (const form of ['beside', 'inside'] as const) {
      const created: (string | null)[] = [];
      for (const id of REPEATS) {
        const actor = id === undefined ? {} : { actor: { id } };
        const body =
          form === 'beside' ? { message: 'Hi', ...actor } : { message: { text: 'Hi', ...actor } };
        const headers = { 'idempotency-key': `two-${form}` };
        const response = await app.post(
          '/v1/conversations',
          { agent: 'support', ...body },
          headers,
        );
        expect(response.status).toBe(202);
        created.push(response.headers.get('location'));
      }
      const [caller, ann, bob] = created;
      expect(created).toEqual([caller, ann, bob, ann, caller]);
      expect(new Set(created).size).toBe(3);
    }
  });

  it('take messages, which are answered with the turn before it runs', async () => {
    const app = await startHttpApp({ updateWithStart: () => REPLY });
    app.reader.add('c-1', sampleLog('c-1'));
    const response = await app.post('/v1/conversations/c-1/messages', { text: 'Hi' });
    expect(response.status).toBe(202);
    expect(await response.json()).toMatchObject(REPLY);
  });

  it('return the result of a turn to requests that wait for it', async () => {
    const app = await startHttpApp({ updateWithStart: () => REPLY });
    app.reader.add('c-1', sampleLog('c-1'));
    const response = await app.post('/v1/conversations/c-1/messages?wait=result&timeout=5s', {
      text: 'Hi',
    });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      status: 'completed',
      turnId: TURN,
      text: 'Zażółć 🙂\nDone',
    });
    const later = await app.request(`/v1/turns/${TURN}`);
    expect(later.status).toBe(200);
    expect(await later.json()).toMatchObject({ conversationId: 'c-1', status: 'completed' });
  });

  it('report that a message is queued when no worker has taken it', async () => {
    const app = await startHttpApp({
      updateWithStart: () => {
        throw noAnswer();
      },
      signalWithStart: () => undefined,
    });
    const response = await app.post(
      '/v1/conversations',
      { agent: 'support', message: 'Hi' },
      { 'idempotency-key': 'k' },
    );
    expect(response.status).toBe(202);
    expect(await response.json()).toMatchObject({
      status: 'queued',
      requestId: 'k',
      warning: expect.stringContaining('npx colloquy worker') as string,
    });
  });

  it('return their state, their open calls and their log in pages', async () => {
    const app = await startHttpApp();
    app.reader.add('c-1', sampleLog('c-1').slice(0, 5));
    expect(await (await app.request('/v1/conversations/c-1')).json()).toMatchObject({
      status: 'awaiting_input',
      seq: 5,
    });
    expect(await (await app.request('/v1/conversations/c-1/pending')).json()).toMatchObject({
      pending: [{ toolCallId: CALL, ref: `default~c-1~${CALL}` }],
    });
    const page = await (await app.request('/v1/conversations/c-1/events?after=1-1&limit=2')).json();
    expect(page).toMatchObject({
      generation: 1,
      cursor: '1-3',
      more: true,
      events: [{ seq: 2 }, { seq: 3 }],
    });
  });

  it('are cancelled and closed without a body', async () => {
    const app = await startHttpApp({
      update: (call) =>
        call.name === 'cancelTurn'
          ? { cancelled: true, turnId: TURN, seq: 7 }
          : { closed: true, seq: 8 },
    });
    const post = (path: string): Promise<Response> => app.request(path, { method: 'POST' });
    expect(await (await post('/v1/conversations/c-1/cancel')).json()).toEqual({
      status: 'done',
      cancelled: true,
      turnId: TURN,
      seq: 7,
    });
    expect(await (await post('/v1/conversations/c-1/close')).json()).toEqual({
      closed: true,
      seq: 8,
    });
  });

  it.each(['cancel', 'close'])(
    'are not stopped by a %s that says more than its body may',
    promise('G332'),
    async (verb) => {
      const app = await startHttpApp({ update: () => ({ cancelled: true, turnId: TURN, seq: 7 }) });
      const path = `/v1/conversations/c-1/${verb}`;
      const statusOf = async (query: string, init: RequestInit = {}): Promise<number> =>
        (await app.request(`${path}${query}`, { method: 'POST', ...init })).status;
      const typed = { 'content-type': 'application/json' };
      expect([
        await statusOf('?turnId=turn_other'),
        await statusOf('', { headers: typed, body: '{"turnId": ' }),
        await statusOf('', { headers: typed, body: '"stop"' }),
        await statusOf('', { headers: typed, body: 'null' }),
        await statusOf('', { headers: typed, body: '{"turnID": "turn_other"}' }),
        await statusOf('', { headers: { 'content-type': 'text/plain' }, body: 'stop' }),
        await statusOf('', { body: new URLSearchParams({ turnId: 'turn_other' }) }),
      ]).toEqual([422, 400, 422, 422, 422, 415, 415]);
      expect(app.calls).toEqual([]);
    },
  );
});

describe('resolutions', () => {
  it('extend a deadline, with the verdict of the conversation', async () => {
    const app = await startHttpApp({
      update: ({ name }) => {
        expect(name).toBe('extendToolCall');
        return {
          verdict: 'accepted',
          toolCallId: CALL,
          deadline: '2026-01-02T00:00:00.000Z',
          seq: 7,
        };
      },
    });
    const path = `/v1/conversations/c-1/tool-calls/${CALL}/extend`;
    const response = await app.post(path, { by: '2h', requestId: 'r-1' });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ verdict: 'accepted', seq: 7, requestId: 'r-1' });
    expect(app.calls[0]?.input).toMatchObject({ toolCallId: CALL, by: 7_200_000 });
    for (const body of [{}, { by: 'soon' }, { by: '1h', until: '2026-01-02T00:00:00Z' }, { to: 1 }])
      expect((await app.post(path, body)).status).toBe(422);
    expect(app.calls).toHaveLength(1);
  });

  it('are answered with the verdict and its status; the Idempotency-Key is the request id', {
    ...promise('S29'),
  }, async () => {
    const app = await startHttpApp({
      update: () => ({ verdict: 'accepted', toolCallId: CALL, seq: 6 }),
    });
    const body = { resolution: { type: 'answer', value: 'x' }, actor: { id: 'ann' } };
    const response = await app.post(RESOLUTION, body, { 'idempotency-key': 'k' });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      verdict: 'accepted',
      toolCallId: CALL,
      seq: 6,
      requestId: 'k',
    });
    expect(app.calls[0]?.input).toMatchObject({
      requestId: 'k',
      actor: { id: 'ann', verified: false, channel: 'api' },
    });
  });

  it('may be sent without an envelope', async () => {
    const app = await startHttpApp({
      update: () => ({ verdict: 'accepted', toolCallId: CALL, seq: 6 }),
    });
    expect((await app.post(RESOLUTION, { type: 'approve' })).status).toBe(200);
    expect(app.calls[0]?.input).toMatchObject({ resolution: { type: 'approve' } });
  });

  it.each(['answer', 'result'])('of type %s may include files', async (type) => {
    const app = await startHttpApp({
      update: () => ({ verdict: 'accepted', toolCallId: CALL, seq: 6 }),
    });
    const blob = { id: 'a'.repeat(64), bytes: 7, type: 'application/octet-stream' };
    const files = [{ type: 'image', source: { blob }, mediaType: 'image/png' }];
    const resolution = { type, value: 1, files };
    expect((await app.post(RESOLUTION, { resolution })).status).toBe(200);
    expect(app.calls[0]?.input).toMatchObject({ resolution });
  });

  it.each([
    [{ verdict: 'unknown', what: 'tool_call' }, 404],
    [{ verdict: 'forbidden', reason: 'not you' }, 403],
    [{ verdict: 'stale', why: 'already_resolved', status: 'resolved' }, 409],
    [{ verdict: 'expired', deadline: '2026-01-01T00:00:00.000Z' }, 410],
    [{ verdict: 'invalid', problems: [{ path: '/resolution/value', message: 'no' }] }, 422],
    [{ verdict: 'duplicate', first: { verdict: 'accepted', toolCallId: CALL, seq: 6 } }, 200],
  ])('%j is answered with status %d', async (verdict, status) => {
    const app = await startHttpApp({
      update: () => {
        throw refusal('verdict', verdict);
      },
    });
    const response = await app.post(RESOLUTION, { type: 'approve' }, { 'idempotency-key': 'k' });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject(verdict);
  });

  it('are queued with 202 while no worker answers', async () => {
    const app = await startHttpApp({
      update: () => {
        throw noAnswer();
      },
      signal: () => undefined,
    });
    const response = await app.post(RESOLUTION, { type: 'approve' });
    expect(response.status).toBe(202);
    expect(await response.json()).toMatchObject({
      verdict: 'queued',
      warning: expect.stringContaining('worker') as string,
    });
  });

  it('with two different request ids are refused', async () => {
    const app = await startHttpApp();
    const body = { resolution: { type: 'approve' }, requestId: 'a' };
    expect((await app.post(RESOLUTION, body, { 'idempotency-key': 'b' })).status).toBe(422);
  });
});

describe('the API itself', () => {
  it('lists agents, reports that it is alive, and that its identity is for development', async () => {
    const app = await startHttpApp();
    expect(await (await app.request('/v1/agents')).json()).toMatchObject({
      agents: [{ name: 'support' }, { name: 'sales' }],
    });
    expect(await (await app.request('/healthz')).json()).toEqual({
      status: 'ok',
      auth: 'development: actors are not verified, serve on loopback only',
    });
  });

  it('lists the agents of the tenant that the caller names, or of its first', async () => {
    const app = await startHttpApp(
      {},
      {
        identify: () => ({ ...TESTING, tenants: ['acme', 'beta'] }),
        agents: ({ tenant }) => Promise.resolve([{ ...SUPPORT, name: `of-${tenant}` }]),
      },
    );
    const named = async (query: string) => await (await app.request(`/v1/agents${query}`)).json();
    expect(await named('')).toMatchObject({ agents: [{ name: 'of-acme' }] });
    expect(await named('?tenant=beta')).toMatchObject({ agents: [{ name: 'of-beta' }] });
    expect(await named('?tenant=other')).toMatchObject({ code: 'forbidden' });
  });

  it('logs the turn that a message began, by which the lines of workers name it', async () => {
    const reply = { turnId: TURN, messageId: 'm_1', seq: 2, ahead: 0 };
    const app = await startHttpApp({ updateWithStart: () => reply });
    const headers = { 'x-request-id': 'abc-1' };
    const body = { agent: 'support', id: 'c-1', message: 'Hi' };
    await (await app.post('/v1/conversations', body, headers)).text();
    expect(app.logged).toMatchObject([
      { requestId: 'abc-1', status: 202, conversationId: 'c-1', turnId: TURN },
    ]);
  });

  it('answers with a request id and security headers, and logs one line without the query', async () => {
    const app = await startHttpApp();
    const response = await app.request('/v1/agents?', { headers: { 'x-request-id': 'abc-1' } });
    expect(response.headers.get('x-request-id')).toBe('abc-1');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('x-powered-by')).toBeNull();
    await response.text();
    expect(app.logged).toMatchObject([
      { requestId: 'abc-1', method: 'GET', path: '/v1/agents', status: 200 },
    ]);
  });
});

import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ConversationClient } from '../../../src/client/conversation-client.js';
import { createStoreReader } from '../../../src/projection/reading/store-reader.js';
import { AGENT_GONE_MS, MAX_LIST_PAGE } from '../../../src/protocol/limits/service-limits.js';
import type { EventLog } from '../../../src/store/ports/log.js';
import { begins, gated, said } from '../../support/engine/asked-logs.js';
import { openSqliteEventLog } from '../../support/event-logs.js';
import { fakeTemporal } from '../../support/fakes/fake-temporal.js';
import { TESTING } from '../../support/networks/test-identity.js';
import { promise } from '../../support/promise.js';
import { stamped, started } from '../../support/samples/log-events.js';
import { problemOf } from '../../support/samples/problems.js';
import { SUPPORT, sampleLog } from '../../support/samples/sample-log.js';
import { type HttpApp, startHttpApp } from '../../support/servers/http-app.js';

interface Lists {
  readonly app: HttpApp;
  readonly client: ConversationClient;
  readonly log: EventLog;
}

/** Three conversations: two wait for an answer, the third is closed. */
async function lists(): Promise<Lists> {
  const log = await openSqliteEventLog({ file: ':memory:' });
  onTestFinished(() => log.close());
  for (const id of ['c-1', 'c-2', 'c-3']) {
    const events = id === 'c-3' ? sampleLog(id, { closed: true }) : sampleLog(id).slice(0, 5);
    await log.append({ tenant: 'default', conversationId: id, runId: 'r', events });
  }
  const reader = createStoreReader({ log, source: 'none' });
  const client = new ConversationClient({
    temporal: fakeTemporal({}).client,
    agents: [SUPPORT],
    reader,
  });
  const app = await startHttpApp({}, { client, reader, conversations: log });
  return { app, client, log };
}

const json = async (app: HttpApp, path: string): Promise<unknown> =>
  await (await app.request(path)).json();

describe('conversations', () => {
  it('are listed by their pending calls, page by page', async () => {
    const { app } = await lists();
    const query = '/v1/conversations?pendingTool=customer.ask&pendingKind=elicitation&limit=1';
    const first = (await json(app, query)) as { nextCursor: string };
    expect(first).toMatchObject({ conversations: [{ conversationId: 'c-1' }] });
    const rest = await json(app, `${query}&cursor=${first.nextCursor}`);
    expect(rest).toMatchObject({ conversations: [{ conversationId: 'c-2' }] });
    expect(rest).not.toHaveProperty('nextCursor');
  });

  it('show that no worker serves their agent, in a list and by id', {
    ...promise('G221'),
  }, async () => {
    const { app, log } = await lists();
    await log.publishAgents([SUPPORT]);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + AGENT_GONE_MS + 1_000 });
    onTestFinished(() => void vi.useRealTimers());
    await log.announceWorker({ id: 'w', agents: {} });
    const attention = { reason: 'agent_not_served', since: expect.any(String) as string };
    expect(await json(app, '/v1/conversations?attention=agent_not_served')).toMatchObject({
      conversations: [
        { conversationId: 'c-2', attention },
        { conversationId: 'c-1', attention },
      ],
    });
    const one = { status: 'awaiting_input', attention };
    expect(await json(app, '/v1/conversations/c-1')).toMatchObject(one);
    expect(await json(app, '/v1/conversations/c-3')).not.toHaveProperty('attention');
  });

  it('are listed by the deadline of their pending calls, in any time zone', async () => {
    const { app } = await lists();
    const before = async (time: string) =>
      await json(app, `/v1/conversations?deadlineBefore=${encodeURIComponent(time)}`);
    expect(await before('2026-01-01T00:01:02.000Z')).toEqual({ conversations: [] });
    expect(await before('2026-01-01T02:01:03+02:00')).toMatchObject({
      conversations: [{ conversationId: 'c-1' }, { conversationId: 'c-2' }],
    });
  });

  it('are listed by the actor that may answer their pending calls, as the caller states it', {
    ...promise('G239'),
  }, async () => {
    const { app, log } = await lists();
    const events = sampleLog('c-4').slice(0, 5);
    const audience = { users: ['ann'], roles: ['lead', 'ops'] };
    await log.append({
      tenant: 'default',
      conversationId: 'c-4',
      runId: 'r',
      events: events.map((event) =>
        event.type === 'suspension'
          ? { ...event, suspension: { ...event.suspension, audience } }
          : event,
      ),
    });
    const listed = async (query: string): Promise<readonly string[]> => {
      const { conversations } = (await json(app, `/v1/conversations?${query}`)) as {
        conversations: readonly { conversationId: string }[];
      };
      return conversations.map(({ conversationId }) => conversationId);
    };
    expect(await listed('pendingFor=ann')).toEqual(['c-1', 'c-2', 'c-4']);
    expect(await listed('pendingFor=bo')).toEqual(['c-1', 'c-2']);
    expect(await listed('pendingFor=bo&pendingForRole=ops')).toEqual(['c-1', 'c-2', 'c-4']);
    expect(await listed('pendingFor=bo&pendingForRole=x&pendingForRole=lead')).toHaveLength(3);
    expect(await listed('pendingFor=ann&pendingTool=customer.ask&limit=1')).toEqual(['c-1']);
  });

  it('are not listed for the requester of the pending call, if requesters may not answer it', {
    ...promise('G239'),
  }, async () => {
    const { app, log, client } = await lists();
    const events = stamped([
      started({ tenant: 'default', conversationId: 'c-4' }),
      said('t', 'ann'),
      begins('t'),
      gated('t'),
    ]);
    await log.append({ tenant: 'default', conversationId: 'c-4', runId: 'r', events });
    for (const [id, found] of [
      ['ann', []],
      ['bo', [{ conversationId: 'c-4' }]],
    ] as const) {
      const path = `/v1/conversations?pendingTool=pay&pendingFor=${id}`;
      expect(await json(app, path)).toMatchObject({ conversations: found });
      const page = await client.list({ pendingTool: 'pay', pendingFor: { id } });
      expect(page.conversations).toMatchObject(found);
    }
  });

  it('of other tenants are not listed, unless the application allows the caller', {
    ...promise('G240'),
  }, async () => {
    const { app, log, client } = await lists();
    const key = { tenant: 'acme', conversationId: 'a-1' };
    const [started, ...rest] = sampleLog('a-1');
    if (started?.type === 'conversation_started')
      await log.append({ ...key, runId: 'r', events: [{ ...started, tenant: 'acme' }, ...rest] });
    const problem = await problemOf(await app.request('/v1/conversations?tenant=acme'));
    expect(problem).toMatchObject({
      status: 403,
      code: 'forbidden',
      errors: [
        { path: '?tenant', message: 'must be a tenant whose conversations the caller may name' },
      ],
    });
    expect(await json(app, '/v1/conversations?tenant=default&status=closed')).toMatchObject({
      conversations: [{ conversationId: 'c-3' }],
    });
    const other = await startHttpApp(
      {},
      {
        client,
        reader: createStoreReader({ log, source: 'none' }),
        conversations: log,
        identify: (request) => ({
          ...TESTING,
          tenants: request.get('authorization') === 'Bearer acme' ? ['acme'] : [],
        }),
      },
    );
    const ask = async (query: string, token: string) =>
      await other.request(`/v1/conversations${query}`, {
        headers: { authorization: `Bearer ${token}` },
      });
    for (const query of ['', '?tenant=acme'])
      expect(await (await ask(query, 'acme')).json()).toMatchObject({
        conversations: [{ tenant: 'acme', conversationId: 'a-1' }],
      });
    expect((await ask('?tenant=default', 'acme')).status).toBe(403);
    for (const query of ['', '?tenant=acme']) expect((await ask(query, 'nobody')).status).toBe(403);
  });

  it.each([
    ['tenant=a:b', '?tenant'],
    ['pendingFor=', '?pendingFor'],
    ['pendingForRole=lead', '?pendingForRole'],
    ['pendingFor=ann&pendingForRole=', '?pendingForRole'],
    ['pendingFor=ann&cursor=7', '?cursor'],
    ['pendingKind=lunch', '?pendingKind'],
    ['pendingTool=', '?pendingTool'],
    ['deadlineBefore=tomorrow', '?deadlineBefore'],
    ['deadlineBefore=2026-01-01T00:00:00', '?deadlineBefore'],
    ['pendingTool=customer.ask&cursor=7', '?cursor'],
    ['cursor=d1.1', '?cursor'],
    ['before=2026-01-01', '?'],
  ])('are not listed by "%s": a problem names %s', async (query, path) => {
    const { app } = await lists();
    const problem = await problemOf(await app.request(`/v1/conversations?${query}`));
    expect(problem).toMatchObject({ status: 422, code: 'invalid_request' });
    expect(problem.errors?.[0]?.path).toContain(path);
  });

  it('come in pages of at most the same size from the API and from the client', async () => {
    const { app, client } = await lists();
    for (const path of ['/v1/conversations', '/v1/worklist']) {
      expect((await app.request(`${path}?limit=${MAX_LIST_PAGE}`)).status).toBe(200);
      expect((await app.request(`${path}?limit=${MAX_LIST_PAGE + 1}`)).status).toBe(422);
    }
    for (const list of [client.list.bind(client), client.worklist.bind(client)]) {
      await expect(list({ limit: MAX_LIST_PAGE })).resolves.toBeDefined();
      await expect(list({ limit: MAX_LIST_PAGE + 1 })).rejects.toThrow(/limit/);
    }
  });

  it('are listed by the client in the same way, which names a bad option', async () => {
    const { client } = await lists();
    const page = await client.list({ pendingTool: 'customer.ask', limit: 1 });
    expect(page.conversations.map(({ conversationId }) => conversationId)).toEqual(['c-1']);
    const rest = await client.list({ pendingTool: 'customer.ask', cursor: page.nextCursor });
    expect(rest.conversations.map(({ conversationId }) => conversationId)).toEqual(['c-2']);
    expect((await client.list({ pendingFor: { id: 'ann' } })).conversations).toHaveLength(2);
    expect(await client.list({ deadlineBefore: new Date(0) })).toEqual({ conversations: [] });
    expect((await client.list({ status: 'closed' })).conversations).toHaveLength(1);
    for (const [options, path] of [
      [{ limit: 0 }, '/limit'],
      [{ tenant: 'a:b' }, '/tenant'],
      [{ deadlineBefore: 'soon' }, '/deadlineBefore'],
      [{ cursor: 'x' }, '/cursor'],
      [{ status: 'asleep' as 'idle' }, '/status'],
      [{ pendingKind: 'lunch' as 'approval' }, '/pendingKind'],
      [{ pendingFor: { id: '' } }, '/pendingFor/id'],
      [{ pendingFor: { id: 'ann', roles: [''] } }, '/pendingFor/roles'],
    ] as const)
      await expect(client.list(options)).rejects.toMatchObject({
        code: 'invalid_request',
        problems: [{ path }],
      });
  });
});

describe('the log of a conversation', () => {
  it('is read backwards from its end, and forwards from there: a chat has no gap and no repeat', {
    ...promise('G249'),
  }, async () => {
    const { app, log } = await lists();
    const events = '/v1/conversations/c-1/events';
    const snapshot = (await json(app, '/v1/conversations/c-1')) as { seq: number };
    // An event is recorded between the snapshot and the page.
    const more = sampleLog('c-1').slice(5, 7);
    await log.append({ tenant: 'default', conversationId: 'c-1', runId: 'r', events: more });
    const newest = await json(app, `${events}?before=end&limit=3`);
    expect(newest).toEqual({
      generation: 1,
      events: [7, 6, 5].map((seq) => expect.objectContaining({ seq }) as unknown),
      cursor: '1-5',
      more: true,
      tail: '1-7',
    });
    expect(snapshot.seq).toBe(5);
    const older = await json(app, `${events}?before=1-5`);
    expect(older).toEqual({
      generation: 1,
      events: [4, 3, 2, 1].map((seq) => expect.objectContaining({ seq }) as unknown),
      cursor: '1-1',
      more: false,
    });
    expect(await json(app, `${events}?after=1-7`)).toMatchObject({ events: [], more: false });
    // A position in a replaced log starts at the end of the new one.
    expect(await json(app, `${events}?before=9-2&limit=1`)).toMatchObject({
      generation: 1,
      events: [{ seq: 7 }],
    });
  });

  it.each([
    ['before=last', {}],
    ['before=end&after=1-1', {}],
    ['before=end', { accept: 'text/event-stream' }],
  ])('is not read by "%s" %j: a problem names the parameter', async (query, headers) => {
    const { app } = await lists();
    const response = await app.request(`/v1/conversations/c-1/events?${query}`, { headers });
    expect(await problemOf(response)).toMatchObject({ status: 422, errors: [{ path: '?before' }] });
  });

  it.each(['nested=true', 'nested=yes'])(
    'as a page takes no "%s"',
    promise('G336'),
    async (query) => {
      const { app } = await lists();
      const response = await app.request(`/v1/conversations/c-1/events?${query}`);
      expect(await problemOf(response)).toMatchObject({
        status: 422,
        errors: [{ path: '?nested' }],
      });
    },
  );

  it('is read backwards by the client in the same way', async () => {
    const { client } = await lists();
    const talk = client.conversation('c-3');
    const newest = await talk.events({ before: 'end', limit: 2 });
    expect(newest.events.map(({ seq }) => seq)).toEqual([10, 9]);
    expect(newest.tail).toEqual({ generation: 1, seq: 10 });
    const older = await talk.events({ before: newest.cursor, limit: 100 });
    expect(older.events.map(({ seq }) => seq)).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
    expect(older.more).toBe(false);
    await expect(talk.events({ before: 'end', after: newest.cursor })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });
});

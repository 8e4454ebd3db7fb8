/** The routes of the gateway, over HTTP, on a conversation of the test kit: results of tools and the stream of calls. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { afterEach, describe, expect, it } from 'vitest';
import type { ConversationClient } from '../../../../src/client/index.js';
import { ConversationError } from '../../../../src/client/index.js';
import type { OfferReader } from '../../../../src/client/ports/reader.js';
import {
  type CallerIdentity,
  type CallOffers,
  type HsafaToolbox,
  hsafaAgents,
  hsafaRoutes,
  hsafaToolbox,
  memoryToolDocuments,
  type ResultsClient,
  runIdOf,
} from '../../../../src/compat/hsafa/index.js';
import type { ToolOffer } from '../../../../src/protocol/calls/claims.js';
import type { LogCursor } from '../../../../src/protocol/values/cursor.js';
import {
  calls,
  callsAll,
  says,
  script,
  type TestConversation,
  testConversation,
} from '../../../../src/testing/index.js';
import { promise } from '../../../support/promise.js';
import { until } from '../../../support/until.js';

const WAITS = { name: 'fetchExternalData', executionType: 'external', timeout: 10_000 };
const ASYNC = { name: 'confirmAction', executionType: 'space', isAsync: true };
const ECHO = { name: 'displayChart', executionType: 'internal' };

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** A client of one conversation, `talk` of the tenant `acme`. The page size is small, so that reads go on. */
function clientOf(t: TestConversation<unknown>): ResultsClient {
  return {
    conversation: (id, { tenant }) => {
      const there = <Value>(value: () => Value): Promise<Value> =>
        id === 'talk' && tenant === 'acme'
          ? Promise.resolve(value())
          : Promise.reject(
              new ConversationError('unknown_conversation', `No conversation "${id}"`),
            );
      return {
        snapshot: () => there(() => t.snapshot),
        events: ({ before }) =>
          there(() => {
            const end = before === 'end' ? t.events.length : before.seq;
            const from = Math.max(0, end - 5);
            const cursor = { generation: 1, seq: from } as LogCursor;
            return { events: t.events.slice(from, end).reverse(), cursor, more: from > 0 };
          }),
        // The test conversation has a clock of its own.
        resolve: async (callId, resolution, { receivedAt, ...options }) => {
          expect(Math.abs(Date.parse(receivedAt) - Date.now())).toBeLessThan(60_000);
          return await there(() => t.resolve(callId, resolution, options));
        },
      };
    },
  };
}

const ANN: CallerIdentity = {
  ...{ tenants: ['acme', 'other'], actor: { id: 'ann' }, verified: true },
  rights: ['answer'],
};

async function served(options: {
  readonly client?: ResultsClient;
  readonly identity?: Partial<CallerIdentity> | undefined;
  readonly offers?: CallOffers;
  readonly toolbox?: HsafaToolbox;
}) {
  const { client = {} as ResultsClient, offers, toolbox } = options;
  const identity = 'identity' in options ? options.identity : {};
  const app = express();
  app.use(
    hsafaRoutes({
      client,
      identify: () => (identity === undefined ? undefined : { ...ANN, ...identity }),
      ...(offers === undefined ? {} : { offers }),
      ...(toolbox === undefined ? {} : { toolbox }),
    }),
  );
  const server = app.listen(0, '127.0.0.1');
  servers.push(server);
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function waiting(...names: readonly string[]) {
  const model = script(
    names.length === 1
      ? calls(names[0] ?? '', { q: 1 })
      : callsAll(names.map((name) => ({ name, input: { q: 1 } }))),
    says('So.'),
    says('Then.'),
    says('At last.'),
  );
  const { agents } = hsafaAgents(
    { name: 'a', instructions: 'Help.', model: 'm', tools: [WAITS, ASYNC, ECHO] },
    { model: () => model },
  );
  const t = testConversation(agents[0]!);
  await t.send('go');
  const { turnId } = t.eventsOf('turn_started')[0] ?? { turnId: '' };
  return { t, runId: runIdOf('talk', turnId), client: clientOf(t) };
}

async function post(base: string, runId: string, body: unknown, headers: object = {}) {
  const response = await fetch(`${base}/api/runs/${encodeURIComponent(runId)}/tool-results`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return [response.status, await response.json()];
}

const OK = [200, { success: true, agentEntityId: 'talk' }];
const NOT_FOUND = [404, { error: 'Pending tool call not found' }];
const RESOLVED = [409, { error: 'Tool call already resolved' }];

describe('POST /api/runs/{runId}/tool-results', () => {
  it('takes the result of a call that is waited for, once', {
    ...promise('S29', 'H42', 'H43', 'H45'),
  }, async () => {
    const { t, runId, client } = await waiting('fetchExternalData');
    const base = await served({ client });
    const body = { callId: 'call_1', result: { found: 3 } };
    expect(await post(base, runId, body, { 'idempotency-key': 'k' })).toEqual(OK);
    expect(t.result('fetchExternalData')).toEqual({ ok: true, result: { found: 3 } });
    expect(t.text).toBe('So.');
    expect(t.eventTypes).not.toContain('inbox_event');
    expect(t.eventsOf('resolution')).toMatchObject([
      { actor: { id: 'ann', verified: true, channel: 'api' } },
    ]);
    // The same request again, and another one.
    expect(await post(base, runId, body, { 'idempotency-key': 'k' })).toEqual(OK);
    expect(await post(base, runId, body)).toEqual(RESOLVED);
  });

  it('takes the answer to an async call, which wakes the agent', {
    ...promise('S29', 'H42', 'H44'),
  }, async () => {
    const { t, runId, client } = await waiting('confirmAction');
    const base = await served({ client });
    expect(t.text).toBe('So.');
    expect(await post(base, runId, { callId: 'call_1', result: { confirmed: true } })).toEqual(OK);
    expect(t.text).toBe('Then.');
    expect(t.eventsOf('inbox_event')).toHaveLength(1);
    expect(await post(base, runId, { callId: 'call_1', result: {} })).toEqual(RESOLVED);
  });

  it('takes one late result, which goes to the inbox', promise('S29', 'H42', 'H44'), async () => {
    const { t, runId, client } = await waiting('fetchExternalData');
    const base = await served({ client });
    await t.advance('10s');
    expect(await post(base, runId, { callId: 'call_1', result: 1 })).toEqual(OK);
    expect(t.eventsOf('inbox_event')).toHaveLength(1);
    expect(await post(base, runId, { callId: 'call_1', result: 2 })).toEqual(RESOLVED);
  });

  it('answers calls of one step each by its id', async () => {
    const { t, runId, client } = await waiting(
      'displayChart',
      'confirmAction',
      'fetchExternalData',
    );
    const base = await served({ client });
    expect(await post(base, runId, { callId: 'call_1', result: 1 })).toEqual(NOT_FOUND);
    expect(await post(base, runId, { callId: 'call_2', result: 2 })).toEqual(OK);
    expect(await post(base, runId, { callId: 'call_3', result: 3 })).toEqual(OK);
    expect(t.result('fetchExternalData')).toEqual({ ok: true, result: 3 });
  });

  it.each<[string, (runId: string) => string, unknown, unknown]>([
    ['no callId', (id) => id, { result: 1 }, [400, { error: 'callId is required' }]],
    ['an empty callId', (id) => id, { callId: '' }, [400, { error: 'callId is required' }]],
    ['a number for the callId', (id) => id, { callId: 7 }, [400, { error: 'callId is required' }]],
    ['a list', (id) => id, [1], [400, { error: 'callId is required' }]],
    ['no JSON', (id) => id, '{', [400, { error: 'The body must be JSON' }]],
    [
      'too much',
      (id) => id,
      JSON.stringify('x'.repeat(1_100_000)),
      [413, { error: 'The body has more than 1mb' }],
    ],
    ['an unknown callId', (id) => id, { callId: 'call_9' }, NOT_FOUND],
    ['an unknown conversation', () => 'nowhere:turn_1', { callId: 'call_1' }, NOT_FOUND],
    ['an id that is no run', () => '../talk', { callId: 'call_1' }, NOT_FOUND],
    [
      'another run',
      () => 'talk:turn_x_1',
      { callId: 'call_1' },
      [403, { error: 'Tool call does not belong to this run' }],
    ],
  ])(
    'refuses %s, and the call still waits',
    promise('S29', 'H42'),
    async (_title, of, body, answer) => {
      const { t, runId, client } = await waiting('fetchExternalData');
      const base = await served({ client });
      expect(await post(base, of(runId), body)).toEqual(answer);
      expect(t.pending).toHaveLength(1);
      expect(t.eventTypes).not.toContain('resolution');
    },
  );

  it.each<[string, Partial<CallerIdentity> | undefined, string, unknown]>([
    ['is unknown', undefined, '', [401, { error: 'The request has no valid credentials' }]],
    [
      'has expired',
      { expiresAt: new Date(0) },
      '',
      [401, { error: 'The request has no valid credentials' }],
    ],
    [
      'may not answer',
      { rights: ['read', 'send'] },
      '',
      [403, { error: 'The caller lacks the right "answer"' }],
    ],
    ['is of another tenant', { tenants: ['other'] }, '', NOT_FOUND],
    ['names its other tenant', {}, '?tenant=other', NOT_FOUND],
    [
      'names a tenant of others',
      {},
      '?tenant=umbrella',
      [403, { error: 'The caller may not name this tenant' }],
    ],
    ['is bound to another conversation', { conversation: 'elsewhere' }, '', NOT_FOUND],
  ])('refuses a caller who %s', promise('S29'), async (_title, identity, query, answer) => {
    const { t, runId, client } = await waiting('fetchExternalData');
    const base = await served({ client, identity });
    const response = await fetch(`${base}/api/runs/${runId}/tool-results${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ callId: 'call_1', result: 1 }),
    });
    expect([response.status, await response.json()]).toEqual(answer);
    expect(t.pending).toHaveLength(1);
  });

  it('says that an answer is queued, or that the store is not there', async () => {
    const { runId, client } = await waiting('fetchExternalData');
    const conversation = client.conversation('talk', { tenant: 'acme' });
    const queued = { verdict: 'queued', reason: 'no_worker', toolCallId: 'call_1' } as never;
    const resolve = () => Promise.resolve(queued);
    const away = () =>
      Promise.reject(new ConversationError('store_unavailable', 'The store is away'));
    const slow = await served({ client: { conversation: () => ({ ...conversation, resolve }) } });
    expect(await post(slow, runId, { callId: 'call_1' })).toEqual([
      202,
      { success: true, agentEntityId: 'talk', queued: true },
    ]);
    const down = await served({
      client: { conversation: () => ({ ...conversation, snapshot: away }) },
    });
    expect(await post(down, runId, { callId: 'call_1' })).toEqual([
      503,
      { error: 'The store is away', code: 'store_unavailable' },
    ]);
  });

  it('takes a ConversationClient', () => {
    const client = {} as ConversationClient satisfies ResultsClient;
    expect(hsafaRoutes({ client, identify: () => undefined })).toBeTypeOf('function');
  });
});

describe('GET /api/tools/stream', () => {
  const offer: ToolOffer = {
    ...{ ref: 'r', toolCallId: 'call_1', turnId: 'turn_1', conversationId: 'talk', agent: 'a' },
    ...{ tool: 'fetchExternalData', input: { q: 1 }, attempt: 1 },
    executor: 'external',
    ...{ openedAt: '2026-01-01T00:00:00Z', deadline: '2026-01-01T00:00:10Z' },
  };

  it('has each call as tool.call, and its position with every frame', promise('H28'), async () => {
    const seen: unknown[] = [];
    let isOver = false;
    const offers: CallOffers = {
      offers: () => Promise.resolve(undefined),
      watchOffers: async function* (of, { signal, after }) {
        seen.push({ ...of, after });
        yield { type: 'offer', id: 'o-1', offer };
        yield { type: 'gone', id: 'o-2' };
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        isOver = true;
      },
    };
    const base = await served({ offers });
    const leave = new AbortController();
    const response = await fetch(`${base}/api/tools/stream?tools=fetchExternalData,x`, {
      headers: { 'last-event-id': 'o-0' },
      signal: leave.signal,
    });
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    let text = '';
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    while (!text.includes('o-2\n\n')) text += (await reader.read()).value ?? '';
    expect(text.split('\n\n').slice(1)).toEqual([
      [
        'id: o-1',
        'event: tool.call',
        `data: ${JSON.stringify({
          ...{ toolCallId: 'call_1', toolName: 'fetchExternalData', args: { q: 1 } },
          ...{ runId: 'talk:turn_1', agentEntityId: 'talk', ts: '2026-01-01T00:00:00Z' },
        })}`,
      ].join('\n'),
      'id: o-2',
      '',
    ]);
    expect(seen).toEqual([
      {
        ...{ tenant: 'acme', tools: ['fetchExternalData', 'x'], executors: ['external'] },
        ...{ actor: { id: 'ann', verified: true, channel: 'api' }, after: 'o-0' },
      },
    ]);
    leave.abort();
    await until('the watch has ended', () => isOver);
  });

  it.each<[string, string, Partial<CallerIdentity> | undefined, number]>([
    ['no tools', '', {}, 400],
    ['too many tools', `?tools=${Array(101).fill('x').join(',')}`, {}, 400],
    ['no identity', '?tools=x', undefined, 401],
    ['no right', '?tools=x', { rights: ['read'] }, 403],
  ])('refuses %s', async (_title, query, identity, status) => {
    const offers = {
      offers: () => Promise.reject(new Error('unreachable')),
    } as unknown as CallOffers;
    const base = await served({ offers, identity });
    const response = await fetch(`${base}/api/tools/stream${query}`);
    expect(response.status).toBe(status);
    expect(await response.json()).toHaveProperty('error');
  });

  it("takes the offers of a store's reader", () => {
    const offers = {} as OfferReader satisfies CallOffers;
    expect(
      hsafaRoutes({ client: clientOf({} as never), identify: () => undefined, offers }),
    ).toBeTypeOf('function');
  });

  it('is not there without offers', async () => {
    expect((await fetch(`${await served({})}/api/tools/stream?tools=x`)).status).toBe(404);
  });
});

describe('/api/agents/{agent}/tools', () => {
  const admin: Partial<CallerIdentity> = { rights: ['admin'] };
  const document = { ...WAITS, description: 'Fetches.', inputSchema: { type: 'object' } };
  const { name } = document;

  async function request(base: string, method: string, path: string, body?: unknown) {
    const response = await fetch(`${base}/api/agents/${path}`, {
      method,
      ...(body === undefined
        ? {}
        : {
            headers: { 'content-type': 'application/json' },
            body: typeof body === 'string' ? body : JSON.stringify(body),
          }),
    });
    return [response.status, await response.json()];
  }

  it('puts a document with its next version, lists and deletes it, for the tenant of the caller', async () => {
    const toolbox = hsafaToolbox(memoryToolDocuments(() => new Date(0)));
    const base = await served({ toolbox, identity: admin });
    const stored = { name, version: 1, document, changedAt: '1970-01-01T00:00:00.000Z' };
    expect(await request(base, 'GET', 'a/tools')).toEqual([200, { tools: [] }]);
    expect(await request(base, 'PUT', `a/tools/${name}`, document)).toEqual([
      200,
      { ...stored, warnings: [] },
    ]);
    expect(await request(base, 'GET', 'a/tools')).toEqual([200, { tools: [stored] }]);
    expect(await request(base, 'GET', 'a/tools?tenant=other')).toEqual([200, { tools: [] }]);
    expect(await toolbox.list({ tenant: 'acme', agent: 'a' })).toEqual([stored]);
    expect(await request(base, 'PUT', `a/tools/${name}`, document)).toMatchObject([
      200,
      { version: 2 },
    ]);
    expect(await request(base, 'DELETE', `a/tools/${name}`)).toEqual([200, { deleted: true }]);
    expect(await request(base, 'DELETE', `a/tools/${name}`)).toEqual([
      404,
      { error: 'No such tool document' },
    ]);
  });

  it.each<[string, Partial<CallerIdentity> | undefined, string, unknown, number]>([
    [
      'a caller without the right',
      { rights: ['answer', 'read'] },
      `a/tools/${name}`,
      document,
      403,
    ],
    ['a caller who is unknown', undefined, `a/tools/${name}`, document, 401],
    [
      'a caller who is bound to a conversation',
      { ...admin, conversation: 'c' },
      `a/tools/${name}`,
      document,
      403,
    ],
    ['a tenant of others', admin, `a/tools/${name}?tenant=umbrella`, document, 403],
    ['another name than that of the path', admin, 'a/tools/other', document, 400],
    ['an agent that cannot be', admin, `a%20b/tools/${name}`, document, 400],
    ['a list', admin, `a/tools/${name}`, [document], 400],
    ['no JSON', admin, `a/tools/${name}`, '{', 400],
    ['a faulty document', admin, `a/tools/${name}`, { ...document, timeout: -1 }, 400],
  ])('refuses %s', async (_title, identity, path, body, status) => {
    const toolbox = hsafaToolbox(memoryToolDocuments());
    const base = await served({ toolbox, identity });
    expect(await request(base, 'PUT', path, body)).toEqual([
      status,
      expect.objectContaining({ error: expect.any(String) as string }),
    ]);
    expect(await toolbox.list({ tenant: 'acme', agent: 'a' })).toEqual([]);
  });

  it('names every fault of a document by its path', async () => {
    const base = await served({ toolbox: hsafaToolbox(memoryToolDocuments()), identity: admin });
    const body = { ...document, timeout: 0, visible: 1 };
    expect(await request(base, 'PUT', `a/tools/${name}`, body)).toMatchObject([
      400,
      { code: 'invalid_definition', problems: [{ field: 'visible' }, { field: 'timeout' }] },
    ]);
  });
});

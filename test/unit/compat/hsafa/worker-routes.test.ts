/** The stream of calls, and tool documents, over HTTP. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { OfferReader } from '../../../../src/client/ports/reader.js';
import {
  type CallerIdentity,
  type CallOffers,
  hsafaToolbox,
  memoryToolDocuments,
} from '../../../../src/compat/hsafa/index.js';
import type { ToolOffer } from '../../../../src/protocol/calls/claims.js';
import { servedRoutes } from '../../../support/compat/hsafa-routes.js';
import { promise } from '../../../support/promise.js';
import { until } from '../../../support/until.js';

describe('GET /api/tools/stream', () => {
  const offer: ToolOffer = {
    ...{ ref: 'r', toolCallId: 'call_1', turnId: 'turn_1', conversationId: 'talk', agent: 'a' },
    ...{ tool: 'fetchExternalData', input: { q: 1 }, attempt: 1 },
    executor: 'external',
    ...{ openedAt: '2026-01-01T00:00:00Z', deadline: '2026-01-01T00:00:10Z' },
  };

  it(
    'has each call as tool.call, and its position with every frame',
    promise('H28', '2.H.4'),
    async () => {
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
      const base = await servedRoutes({ offers });
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
      const head = await fetch(`${base}/api/tools/stream?tools=x`, { method: 'HEAD' });
      expect(head.headers.get('content-type')).toMatch(/^text\/event-stream/);
      expect(seen).toHaveLength(1);
    },
  );

  it.each<[string, string, Partial<CallerIdentity> | undefined, number]>([
    ['no tools', '', {}, 400],
    ['too many tools', `?tools=${Array(101).fill('x').join(',')}`, {}, 400],
    ['no identity', '?tools=x', undefined, 401],
    ['no right', '?tools=x', { rights: ['read'] }, 403],
  ])('refuses %s', async (_title, query, identity, status) => {
    const offers = {
      offers: () => Promise.reject(new Error('unreachable')),
    } as unknown as CallOffers;
    const base = await servedRoutes({ offers, identity });
    const response = await fetch(`${base}/api/tools/stream${query}`);
    expect(response.status).toBe(status);
    expect(await response.json()).toHaveProperty('error');
  });

  it("takes the offers of a store's reader", () => {
    expectTypeOf<OfferReader>().toExtend<CallOffers>();
  });

  it('is not there without offers', async () => {
    expect((await fetch(`${await servedRoutes({})}/api/tools/stream?tools=x`)).status).toBe(404);
  });
});

describe('/api/agents/{agent}/tools', () => {
  const admin: Partial<CallerIdentity> = { rights: ['admin'] };
  const document = {
    ...{ name: 'fetchExternalData', executionType: 'external', timeout: 10_000 },
    ...{ description: 'Fetches.', inputSchema: { type: 'object' } },
  };
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
    const base = await servedRoutes({ toolbox, identity: admin });
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
    const base = await servedRoutes({ toolbox, identity });
    expect(await request(base, 'PUT', path, body)).toEqual([
      status,
      expect.objectContaining({ error: expect.any(String) as string }),
    ]);
    expect(await toolbox.list({ tenant: 'acme', agent: 'a' })).toEqual([]);
  });

  it('names every fault of a document by its path', async () => {
    const base = await servedRoutes({
      toolbox: hsafaToolbox(memoryToolDocuments()),
      identity: admin,
    });
    const body = { ...document, timeout: 0, visible: 1 };
    expect(await request(base, 'PUT', `a/tools/${name}`, body)).toMatchObject([
      400,
      { code: 'invalid_definition', problems: [{ field: 'visible' }, { field: 'timeout' }] },
    ]);
  });
});

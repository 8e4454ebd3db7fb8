/** `GET /v1/worklist`: waiting calls across conversations, for one actor. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { ConversationClient } from '../../../src/client/conversation-client.js';
import type { Identity } from '../../../src/http/identity/identity.js';
import { createStoreReader } from '../../../src/projection/reading/store-reader.js';
import type { Suspension } from '../../../src/protocol/calls/suspensions.js';
import type { WorklistPage } from '../../../src/protocol/log/worklist.js';
import type { EventLog } from '../../../src/store/ports/log.js';
import { begins, said } from '../../support/engine/asked-logs.js';
import { openSqliteEventLog } from '../../support/event-logs.js';
import { fakeTemporal } from '../../support/fakes/fake-temporal.js';
import { promise } from '../../support/promise.js';
import { keyed, minute, waits } from '../../support/samples/list-events.js';
import { stamped, started } from '../../support/samples/log-events.js';
import { problemOf } from '../../support/samples/problems.js';
import { SUPPORT } from '../../support/samples/sample-log.js';
import { startHttpApp } from '../../support/servers/http-app.js';

type Waits = readonly [conversation: string, name: string, more?: Partial<Suspension>];

/** Calls that Ann asked for; each ends a minute after the one before. */
const CALLS: readonly Waits[] = [
  ['c-1', 'pay', { risk: 'high', title: 'Pay a bill', audience: { roles: ['lead'] } }],
  ['c-2', 'mail', { risk: 'low', audience: { exclude: ['requester'] } }],
  ['c-3', 'ask', { kind: 'elicitation', executor: 'human' }],
  ['c-4', 'pay', { audience: { requireVerified: true } }],
];

async function put(log: EventLog, [id, name, more = {}]: Waits, at: number, tenant = 'default') {
  const call = waits('call-0', { name, deadline: minute(at), ...more });
  const bodies = [started(keyed(id, tenant)), said('t', 'ann'), begins('t'), call];
  await log.append({ ...keyed(id, tenant), runId: 'r', events: stamped(bodies) });
}

async function worklist() {
  const log = await openSqliteEventLog({ file: ':memory:' });
  onTestFinished(() => log.close());
  for (const [index, call] of CALLS.entries()) await put(log, call, index + 1);
  await put(log, ['c-1', 'pay'], 1, 'acme');
  const reader = createStoreReader({ log, source: 'none' });
  const temporal = fakeTemporal({}).client;
  const client = new ConversationClient({ temporal, agents: [SUPPORT], reader });
  const app = await startHttpApp({}, { client, reader, conversations: log });
  const read = async (query = ''): Promise<WorklistPage> => {
    const response = await app.request(`/v1/worklist${query}`);
    expect(response.status).toBe(200);
    return (await response.json()) as WorklistPage;
  };
  return { app, client, log, read, reader };
}

const seen = ({ items }: WorklistPage) => items.map(({ conversationId }) => conversationId);

describe('the worklist over HTTP', () => {
  it('has what the actor may answer, those that end first first, with the reason', {
    ...promise('G351'),
  }, async () => {
    const { read } = await worklist();
    const page = await read('?as=bo&role=ops&role=lead');
    expect(page.items).toMatchObject([
      {
        ...{ conversationId: 'c-1', toolCallId: 'call-0', tool: 'pay', title: 'Pay a bill' },
        ...{ risk: 'high', agent: 'helper', kind: 'approval', preview: '{"amount":5}' },
        ...{ requesters: ['ann'], audience: 'role lead', mayAnswer: true, why: 'role lead' },
        ...{ deadline: minute(1), ref: 'default~c-1~call-0' },
      },
      { conversationId: 'c-2', audience: 'anybody, but not the requester', mayAnswer: true },
      { conversationId: 'c-3', why: 'every actor may answer' },
    ]);
    expect(page.counts).toEqual({
      total: 3,
      byTool: { pay: 1, mail: 1, ask: 1 },
      byRisk: { low: 1, medium: 0, high: 1, none: 1 },
    });
    expect(seen(await read('?as=ann'))).toEqual(['c-3']);
    expect(seen(await read())).toEqual(['c-2', 'c-3']);
  });

  it('shows with mine=false also what the actor may not answer, and why', {
    ...promise('G351'),
  }, async () => {
    const { read } = await worklist();
    const { items, counts } = await read('?as=ann&mine=false');
    expect(items.map(({ mayAnswer, why }) => [mayAnswer, why])).toEqual([
      [false, 'the actor is not in the audience of this call'],
      [false, 'requesters of this call may not decide it'],
      [true, 'every actor may answer'],
      [false, 'the actor is not verified, and must be to decide this call'],
    ]);
    expect(counts).toMatchObject({ total: 4, byTool: { pay: 2 } });
  });

  it('filters', async () => {
    const { read } = await worklist();
    const all = async (query: string) => seen(await read(`?mine=false&${query}`));
    expect(await all('tool=pay')).toEqual(['c-1', 'c-4']);
    expect(await all('kind=elicitation')).toEqual(['c-3']);
    expect(await all('risk=low')).toEqual(['c-2']);
    expect(await all('agent=helper&risk=high')).toEqual(['c-1']);
    expect(await all('agent=other')).toEqual([]);
    expect(await all('requester=ann')).toHaveLength(4);
    expect(await all('requester=bo')).toEqual([]);
    expect(await all(`deadlineBefore=${minute(2)}`)).toEqual(['c-1']);
  });

  it('has pages, with counts on the first', async () => {
    const { read } = await worklist();
    const first = await read('?mine=false&limit=3');
    expect([seen(first), first.counts?.total]).toEqual([['c-1', 'c-2', 'c-3'], 4]);
    const next = await read(`?mine=false&limit=3&cursor=${first.nextCursor ?? ''}`);
    expect(next).toEqual({ items: [expect.objectContaining({ conversationId: 'c-4' })] });
  });

  it.each([
    ['?cursor=12', '?cursor'],
    ['?limit=0', '?limit'],
    ['?risk=extreme', '?risk'],
    ['?kind=party', '?kind'],
    ['?mine=maybe', '?mine'],
    ['?role=lead', '?role'],
    ['?deadlineBefore=soon', '?deadlineBefore'],
    ['?tolo=pay', '?tolo'],
  ])('refuses %s by its name', async (query, path) => {
    const { app } = await worklist();
    const problem = await problemOf(await app.request(`/v1/worklist${query}`));
    expect(problem).toMatchObject({ status: 422, errors: [{ path }] });
  });

  it('is one tenant’s, which the caller may name', async () => {
    const { app, read } = await worklist();
    expect((await app.request('/v1/worklist?tenant=acme')).status).toBe(403);
    const { items } = await read('?mine=false');
    expect(items.every(({ tenant }) => tenant === 'default')).toBe(true);
  });

  it('is the caller’s own, with its roles, where the application identifies callers', async () => {
    const { log, reader } = await worklist();
    const bo = { id: 'bo', roles: ['lead'] };
    const rights = ['read', 'answer'] as const;
    const identity: Identity = { tenants: ['default'], actor: bo, verified: true, rights };
    const read = async (query: string, more: Partial<Identity> = {}): Promise<Response> => {
      const identify = () => ({ ...identity, ...more });
      const app = await startHttpApp({}, { reader, conversations: log, identify });
      return await app.request(`/v1/worklist${query}`);
    };
    const own = (await (await read('')).json()) as WorklistPage;
    expect(seen(own)).toEqual(['c-1', 'c-2', 'c-3', 'c-4']);
    expect((await read('?as=bo')).status).toBe(200);
    expect(await problemOf(await read('?as=ann'))).toMatchObject({ status: 403 });
    expect(await problemOf(await read('?as=bo&role=ops'))).toMatchObject({ status: 403 });
    expect((await read('?as=ann', { rights: ['read', 'act-as'] })).status).toBe(200);
    // A caller that is bound to one conversation sees no other.
    expect(await problemOf(await read('', { conversation: 'c-1' }))).toMatchObject({ status: 403 });
    expect(await problemOf(await read('', { rights: ['answer'] }))).toMatchObject({ status: 403 });
  });

  it('is the same for the client library, which has its own actor', promise('G351'), async () => {
    const { client, read } = await worklist();
    const page = await client.worklist({ actor: { id: 'bo', roles: ['lead'] } });
    // The client's application answers for the ids that it names, so they are verified.
    expect(seen(page)).toEqual(['c-1', 'c-2', 'c-3', 'c-4']);
    const unverified = { id: 'bo', roles: ['lead'], verified: false, channel: 'api' } as const;
    expect(await client.worklist({ actor: unverified })).toEqual(await read('?as=bo&role=lead'));
    await expect(client.worklist({ cursor: 'x' })).rejects.toMatchObject({
      code: 'invalid_request',
      problems: [{ path: '/cursor' }],
    });
    await expect(client.worklist({ limit: 1_001 })).rejects.toThrow(/limit/);
  });

  it('needs an event log', async () => {
    const client = new ConversationClient({ temporal: fakeTemporal({}).client, agents: [SUPPORT] });
    await expect(client.worklist()).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});

/** `GET /v1/conversations/stream`: changes of the list of conversations. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Identity } from '../../../src/http/identity/identity.js';
import { createStoreReader } from '../../../src/projection/reading/store-reader.js';
import type { ConversationSnapshot } from '../../../src/protocol/conversation/conversation.js';
import type { EventBody } from '../../../src/protocol/log/events.js';
import { createLocalLiveChannel } from '../../../src/store/live/local.js';
import { tenantKey } from '../../../src/store/ports/live.js';
import { StoreUnavailable } from '../../../src/store/ports/log.js';
import { openSqliteEventLog } from '../../support/event-logs.js';
import { ListReader } from '../../support/networks/list-reader.js';
import { TESTING } from '../../support/networks/test-identity.js';
import { promise } from '../../support/promise.js';
import { keyed } from '../../support/samples/list-events.js';
import { closes, stamped, started, suspends, turn } from '../../support/samples/log-events.js';
import { problemOf } from '../../support/samples/problems.js';
import { sampleLog } from '../../support/samples/sample-log.js';
import { startHttpApp } from '../../support/servers/http-app.js';
import { until } from '../../support/until.js';

const PATH = '/v1/conversations/stream';
const STREAM = { accept: 'text/event-stream' };

async function desk(identity: Partial<Identity> = {}) {
  const log = await openSqliteEventLog({ file: ':memory:' });
  onTestFinished(() => log.close());
  const live = createLocalLiveChannel();
  onTestFinished(() => live.close());
  const reader = createStoreReader({ log, source: 'none', live });
  const app = await startHttpApp(
    {},
    {
      ...{ reader, conversations: log, heartbeatMs: 20 },
      identify: () => ({ ...TESTING, ...identity }),
    },
  );
  const add = async (id: string, bodies: readonly EventBody[] = turn('t'), tenant = 'default') => {
    const key = keyed(id, tenant);
    const head = await log.head(key);
    const all = head === undefined ? [started(key), ...bodies] : bodies;
    const events = stamped(all, { from: (head?.lastSeq ?? 0) + 1 });
    await log.append({ ...key, runId: 'r', events });
    const position = { generation: 1, lastSeq: 1 };
    live.publish({ type: 'appended', ...tenantKey(tenant), moved: id, ...position });
  };
  const list = async (query = ''): Promise<readonly ConversationSnapshot[]> => {
    const response = await app.request(`/v1/conversations?limit=100${query}`);
    const body = (await response.json()) as { conversations: readonly ConversationSnapshot[] };
    return body.conversations;
  };
  const open = (query = '', lastId?: string): ListReader => {
    const one = new ListReader(
      () => `${app.server.url}${PATH}?${query}`,
      () => list(query.replace(/(^|&)after=.*/, '').replace(/^(?=.)/, '&')),
    );
    one.lastId = lastId;
    const ended = one.read();
    onTestFinished(async () => {
      one.cut();
      await ended;
    });
    return one;
  };
  return { app, log, add, list, open };
}

const isReady = async (reader: ListReader): Promise<void> => {
  await until('the list', () => reader.told.length > 0 && reader.shown !== undefined);
};

describe('the stream of conversations', () => {
  it(
    'has the rows of the list, after their changes, and those that go',
    promise('G364'),
    async () => {
      const { log, add, list, open } = await desk();
      await add('a');
      const page = open();
      await isReady(page);
      expect(page.retry).toBe(2_000);
      expect(page.lastId).toMatch(/^t-\d{13}$/);
      expect(page.shown).toEqual(['a idle 6']);
      await add('b');
      await until('b', () => page.shown?.length === 2);
      const rows = page.messages.filter(({ event }) => event === 'conversation');
      const [row] = rows.map(({ data }) => JSON.parse(data) as ConversationSnapshot);
      expect(row).toEqual((await list()).find(({ conversationId }) => conversationId === 'b'));
      await log.beginDeletion({ ...keyed('a'), runIds: ['r'] });
      await until('a is gone', () => page.shown?.length === 1);
      const gone = page.messages.find(({ event }) => event === 'removed');
      expect(JSON.parse(gone?.data ?? '')).toEqual({ conversationId: 'a' });
    },
  );

  it('has what the filters leave, and continues from an id', promise('G364'), async () => {
    const { add, open } = await desk();
    const waits = [...turn('t').slice(0, 2), suspends('t', 'call')];
    await add('a', waits);
    const page = open('status=awaiting_input&agent=helper');
    await isReady(page);
    expect(page.shown).toEqual(['a awaiting_input 4']);
    await add('b', waits);
    await until('b', () => page.shown?.length === 2);
    page.cut();
    await add('a', [closes()]);
    await add('c', waits);
    const byHeader = open('status=awaiting_input&agent=helper', page.lastId);
    const all = ['-a', 'b', 'c'];
    const told = (reader: ListReader): readonly string[] =>
      reader.told.map((one) => one.replace('conversation ', '').replace('removed ', '-')).sort();
    await until('what has changed', () => told(byHeader), {
      holds: (seen) => JSON.stringify(seen) === JSON.stringify(all),
    });
    const byQuery = open(`status=awaiting_input&agent=helper&after=${page.lastId ?? ''}`);
    await until('the same', () => told(byQuery), {
      holds: (seen) => JSON.stringify(seen) === JSON.stringify(all),
    });
    // The header is newer than the address of the first connection.
    const both = open(`after=t-1`, page.lastId);
    await until('the same', () => both.told.length === 3);
    expect(both.told).not.toContain('reset');
    const tooOld = open('after=t-1');
    await until('it has to read the list', () => tooOld.told.includes('reset'));
    await isReady(tooOld);
    expect(tooOld.shown).toEqual(['a closed 5', 'b awaiting_input 4', 'c awaiting_input 4']);
  });

  it('is of the tenant of the caller, and refused to callers that are bound to one conversation', async () => {
    const { app, add, open } = await desk({ tenants: ['default', 'acme'] });
    const [own, other] = [open(), open('tenant=acme')];
    await Promise.all([own, other].map(isReady));
    await add('a', turn('t'), 'acme');
    await until('its change', () => other.told.length === 2);
    expect(own.told).toEqual(['ready']);
    const refused = await problemOf(await app.request(`${PATH}?tenant=x`, { headers: STREAM }));
    expect(refused).toMatchObject({ status: 403, errors: [{ path: '?tenant' }] });
    const bound = await desk({ conversation: 'stream' });
    const answer = await bound.app.request(PATH, { headers: STREAM });
    expect(await problemOf(answer)).toMatchObject({ status: 403, code: 'forbidden' });
    const blind = await desk({ rights: ['send'] });
    const lacking = await problemOf(await blind.app.request(PATH, { headers: STREAM }));
    expect(lacking).toMatchObject({ status: 403 });
  });

  it('leaves a conversation with the id "stream" in its place', async () => {
    const { app } = await desk();
    app.reader.add('stream', sampleLog('stream'));
    const read = await fetch(app.server.url + PATH);
    expect(await read.json()).toMatchObject({ conversationId: 'stream' });
    const json = await fetch(app.server.url + PATH, { headers: { accept: 'application/json' } });
    expect(await json.json()).toMatchObject({ conversationId: 'stream' });
    const other = await fetch(app.server.url + PATH, { method: 'PUT', headers: STREAM });
    expect([other.status, other.headers.get('allow')]).toEqual([405, 'GET, HEAD, DELETE, OPTIONS']);
    const bound = await desk({ conversation: 'stream' });
    bound.app.reader.add('stream', sampleLog('stream'));
    expect((await fetch(bound.app.server.url + PATH)).status).toBe(200);
  });

  it('refuses what it does not know, by its name', promise('G364'), async () => {
    const { app } = await desk();
    for (const [query, path] of [
      ['after=1-42', '?after'],
      ['after=t-', '?after'],
      ['status=lost', '?status'],
      ['agent=a%20b', '?agent'],
      ['limit=5', '?limit'],
      ['pendingTool=pay', '?pendingTool'],
    ] as const) {
      const refused = await problemOf(await app.request(`${PATH}?${query}`, { headers: STREAM }));
      expect(refused).toMatchObject({ status: 422, errors: [{ path }] });
    }
    const headers = { ...STREAM, 'last-event-id': 'w-1' };
    const byHeader = await problemOf(await app.request(PATH, { headers }));
    expect(byHeader).toMatchObject({ status: 422, errors: [{ path: 'Last-Event-ID' }] });
    expect((await app.request(PATH, { method: 'HEAD', headers: STREAM })).status).toBe(200);
  });

  it('shows that it is alive, and ends when the server stops', async () => {
    const { app } = await desk();
    const response = await app.request(PATH, { headers: STREAM });
    let text = '';
    const reading = (async () => {
      for await (const chunk of response.body ?? [])
        text += Buffer.from(chunk as Uint8Array).toString();
    })();
    await until('a heartbeat', () => text.includes(': ping'));
    expect(text).toMatch(/^: open\nretry: 2000\n\nid: t-\d+\nevent: ready\ndata: {}\n\n/);
    await app.server.close();
    await reading;
  });

  it('is a 503 while the store cannot be read, and opens afterwards', async () => {
    const { app, log, open } = await desk();
    const broken = vi
      .spyOn(log, 'changes')
      .mockRejectedValue(new StoreUnavailable('the disk is gone'));
    const problem = await problemOf(await app.request(PATH, { headers: STREAM }));
    expect(problem).toMatchObject({ status: 503, code: 'store_unavailable' });
    broken.mockRestore();
    await isReady(open());
  });
});

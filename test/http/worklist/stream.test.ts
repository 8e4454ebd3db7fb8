/** `GET /v1/worklist/stream`: the worklist, and its changes. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createStoreReader } from '../../../src/projection/reading/store-reader.js';
import type { Suspension } from '../../../src/protocol/calls/suspensions.js';
import type { EventBody } from '../../../src/protocol/log/events.js';
import { createLocalLiveChannel } from '../../../src/store/live/local.js';
import { tenantKey } from '../../../src/store/ports/live.js';
import { StoreUnavailable } from '../../../src/store/ports/log.js';
import { begins, said } from '../../support/engine/asked-logs.js';
import { openSqliteEventLog } from '../../support/event-logs.js';
import { WorklistReader } from '../../support/networks/worklist-reader.js';
import { promise } from '../../support/promise.js';
import { keyed, minute, result, waits } from '../../support/samples/list-events.js';
import { stamped, started } from '../../support/samples/log-events.js';
import { problemOf } from '../../support/samples/problems.js';
import { startHttpApp } from '../../support/servers/http-app.js';
import { until } from '../../support/until.js';

const PATH = '/v1/worklist/stream';

async function desk({ hints = true } = {}) {
  const log = await openSqliteEventLog({ file: ':memory:' });
  onTestFinished(() => log.close());
  const live = createLocalLiveChannel();
  onTestFinished(() => live.close());
  const reader = createStoreReader({ log, source: 'none', ...(hints ? { live } : {}) });
  const app = await startHttpApp({}, { reader, conversations: log, heartbeatMs: 20 });
  const add = async (id: string, bodies: readonly EventBody[]): Promise<void> => {
    const from = ((await log.head(keyed(id)))?.lastSeq ?? 0) + 1;
    await log.append({ ...keyed(id), runId: 'r', events: stamped(bodies, { from }) });
    const position = { generation: 1, lastSeq: from };
    live.publish({ type: 'appended', ...tenantKey('default'), moved: id, ...position });
  };
  const put = async (id: string, more: Partial<Suspension> = {}): Promise<void> => {
    const call = waits('call-0', { name: 'pay', deadline: minute(10), ...more });
    await add(id, [started(keyed(id)), said('t', 'ann'), begins('t'), call]);
  };
  const open = (query = '', headers = {}): WorklistReader => {
    const one = new WorklistReader(() => `${app.server.url}${PATH}${query}`, headers);
    const ended = one.read();
    onTestFinished(async () => {
      one.cut();
      await ended;
    });
    return one;
  };
  return { app, log, reader, add, put, open };
}

const events = ({ messages }: WorklistReader) => messages.map(({ event }) => event);
const whole = async (reader: WorklistReader): Promise<void> => {
  await until('the list is there', () => reader.counts !== undefined);
};

describe('the stream of a worklist', () => {
  it.each([true, false])(
    'has the list, then each change and the new counts; with hints: %s',
    promise('G353'),
    async (hints) => {
      const { add, put, open } = await desk({ hints });
      await put('c-1', { risk: 'high' });
      const reader = open('?as=bo');
      await whole(reader);
      expect(reader.retry).toBe(2_000);
      expect(events(reader)).toEqual(['snapshot', 'counts']);
      expect(reader.items).toMatchObject([{ conversationId: 'c-1', mayAnswer: true, tool: 'pay' }]);
      expect(reader.counts).toMatchObject({ total: 1, byRisk: { high: 1 } });
      await put('c-2');
      await until('the new call is listed', () => reader.counts?.total === 2);
      expect(events(reader).slice(2)).toEqual(['item', 'counts']);
      await add('c-1', [result('call-0')]);
      await until('the answered call is gone', () => reader.counts?.total === 1);
      expect(events(reader).slice(4)).toEqual(['gone', 'counts']);
      expect(reader.refs).toEqual(['default~c-2~call-0']);
      expect(reader.counts).toMatchObject({ byRisk: { high: 0, none: 1 } });
    },
  );

  it('has only what the actor may answer, and what the filters leave', async () => {
    const { add, put, open } = await desk();
    const mine = open('?as=bo&tool=pay');
    const all = open('?as=bo&mine=false&tool=pay');
    await Promise.all([mine, all].map(whole));
    await put('c-1', { audience: { users: ['ann'] } });
    await put('c-2', { name: 'mail' });
    await put('c-3', { kind: 'client_execution', executor: 'client' });
    await until('both calls', () => all.counts?.total === 2);
    await until('one call', () => mine.counts?.total === 1);
    expect(mine.refs).toEqual(['default~c-3~call-0']);
    expect(all.items.find(({ conversationId }) => conversationId === 'c-1')).toMatchObject({
      mayAnswer: false,
      why: 'the actor is not in the audience of this call',
    });
    const actor = { id: 'cat', verified: false, channel: 'api' } as const;
    const claim = { claimId: 'x', leaseMs: 60_000, requestId: 'r-1', actor };
    await add('c-3', [{ type: 'claimed', turnId: 't', toolCallId: 'call-0', ...claim }]);
    await until('a call that another holds is gone', () => mine.counts?.total === 0);
    expect(all.counts?.total).toBe(2);
  });

  it('sends a reader that comes back only the counts where nothing has changed, else the whole list', {
    ...promise('G353'),
  }, async () => {
    const { add, put, open } = await desk();
    for (const id of ['c-1', 'c-2', 'c-3']) await put(id);
    const first = open('?as=bo');
    await whole(first);
    first.cut();
    const same = open('?as=bo', { 'last-event-id': first.lastId ?? '' });
    await whole(same);
    expect(events(same)).toEqual(['counts']);
    same.cut();
    const byQuery = open(`?as=bo&after=${first.lastId ?? ''}`);
    await whole(byQuery);
    expect(events(byQuery)).toEqual(['counts']);
    const other = open('?as=cat', { 'last-event-id': first.lastId ?? '' });
    await whole(other);
    expect(events(other)).toEqual(['snapshot', 'counts']);
    await add('c-2', [result('call-0')]);
    await until('the change has come', () => byQuery.counts?.total === 2);
    const late = open('?as=bo', { 'last-event-id': first.lastId ?? '' });
    await whole(late);
    expect([events(late), late.refs.length]).toEqual([['snapshot', 'counts'], 2]);
    expect(late.lastId).toBe(byQuery.lastId);
  });

  it('sends a long list in parts, of which the last has an id', async () => {
    const { add, open } = await desk();
    const calls = Array.from({ length: 250 }, (_, n) =>
      waits(`call-${n}`, { name: 'pay', deadline: minute(n) }),
    );
    await add('c-1', [started(keyed('c-1')), said('t', 'ann'), begins('t'), ...calls]);
    const reader = open();
    await whole(reader);
    const parts = reader.messages.filter(({ event }) => event === 'snapshot');
    expect(parts.map(({ id }) => id !== undefined)).toEqual([false, false, true]);
    expect(reader.items.map(({ toolCallId }) => toolCallId)).toEqual(
      calls.map((_, n) => `call-${n}`),
    );
  });

  it('shows that it is alive, and ends when the server stops', async () => {
    const { app, open } = await desk();
    const response = await app.request(PATH);
    let text = '';
    const reading = (async () => {
      for await (const chunk of response.body ?? [])
        text += Buffer.from(chunk as Uint8Array).toString();
    })();
    await until('a heartbeat', () => text.includes(': ping'));
    expect(text.startsWith(': open\nretry: 2000\n\n')).toBe(true);
    expect(response.headers.get('cache-control')).toBe('no-cache, no-transform');
    await whole(open());
    await app.server.close();
    await reading;
  });

  it('refuses an id that it never sent, before it opens', async () => {
    const { app } = await desk();
    const headers = { 'last-event-id': '1-42' };
    const byHeader = await problemOf(await app.request(PATH, { headers }));
    expect(byHeader).toMatchObject({ status: 422, errors: [{ path: 'Last-Event-ID' }] });
    const byQuery = await problemOf(await app.request(`${PATH}?after=x`));
    expect(byQuery).toMatchObject({ status: 422, errors: [{ path: '?after' }] });
    expect((await app.request(PATH, { method: 'HEAD' })).status).toBe(200);
  });

  it('is a 503 while the list cannot be read, and opens afterwards', async () => {
    const { app, log, open } = await desk();
    const broken = vi
      .spyOn(log, 'waiting')
      .mockRejectedValue(new StoreUnavailable('the disk is gone'));
    const problem = await problemOf(await app.request(PATH));
    expect(problem).toMatchObject({ status: 503, code: 'store_unavailable' });
    broken.mockRestore();
    await whole(open());
  });
});

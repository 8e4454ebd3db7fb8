/** Offers of tool calls over HTTP, as a page and as an event stream, over a store that several processes may share. */
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createStoreReader } from '../../../src/projection/reading/store-reader.js';
import type { EventBody } from '../../../src/protocol/log/events.js';
import { createLocalLiveChannel } from '../../../src/store/live/local.js';
import { tenantKey } from '../../../src/store/ports/live.js';
import { openSqliteEventLog } from '../../support/event-logs.js';
import { asks, stamped, started, suspends } from '../../support/samples/log-events.js';
import { problemOf } from '../../support/samples/problems.js';
import { type HttpApp, startHttpApp } from '../../support/servers/http-app.js';
import { until } from '../../support/until.js';

const PATH = '/v1/tool-calls/stream?tools=render';
const EXTERNAL = { name: 'render', executor: 'external', kind: 'external_execution' } as const;
const waits = (toolCallId: string, more: Parameters<typeof suspends>[2] = {}): EventBody =>
  suspends('t', toolCallId, { ...EXTERNAL, ...more });

/** Two API processes over one store. */
async function twoApis() {
  const log = await openSqliteEventLog({ file: ':memory:' });
  onTestFinished(() => log.close());
  const live = createLocalLiveChannel();
  const store = async (
    conversationId: string,
    bodies: readonly EventBody[],
    tenant = 'default',
  ) => {
    const key = { tenant, conversationId };
    const events = stamped([started(key), ...asks('t'), ...bodies]);
    const result = await log.append({ ...key, runId: 'r', events });
    if (!('head' in result)) throw new Error(result.outcome);
    const { generation, lastSeq } = result.head;
    live.publish({ type: 'appended', ...tenantKey(tenant), generation, lastSeq });
  };
  const start = () =>
    startHttpApp({}, { reader: createStoreReader({ log, live, source: 'none' }), heartbeatMs: 20 });
  return { apis: [await start(), await start()] as const, log, store };
}

async function open(app: HttpApp, path = PATH, headers: Record<string, string> = {}) {
  const leaving = new AbortController();
  const response = await app.request(path, {
    headers: { accept: 'text/event-stream', ...headers },
    signal: leaving.signal,
  });
  let text = '';
  const messages: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => messages.push(message) });
  const read = async (): Promise<void> => {
    for await (const chunk of response.body ?? []) {
      const piece = new TextDecoder().decode(chunk as Uint8Array);
      text += piece;
      parser.feed(piece);
    }
  };
  const ended = read().catch(() => undefined);
  const leave = (): void => {
    leaving.abort();
  };
  onTestFinished(leave);
  const has = async (count: number): Promise<readonly EventSourceMessage[]> =>
    await until('messages', () => messages, { holds: (seen) => seen.length >= count });
  return { response, messages, text: () => text, has, leave, ended };
}

const toolCallIdOf = ({ event = '', data }: EventSourceMessage): string =>
  [event, (JSON.parse(data) as { toolCallId?: string }).toolCallId].join(' ').trim();

describe('a stream of offers over HTTP', () => {
  it('has ids, a time to reconnect after, and a heartbeat', async () => {
    const { apis, store } = await twoApis();
    await store('c1', [waits('a')]);
    const stream = await open(apis[0]);
    expect(stream.response.headers.get('content-type')).toContain('text/event-stream');
    const [offer] = await stream.has(1);
    expect(offer).toMatchObject({ event: 'offer', id: expect.stringMatching(/^1-\w+$/) as string });
    expect(JSON.parse(offer?.data ?? '')).toMatchObject({ tool: 'render', attempt: 1 });
    await until('a heartbeat', () => stream.text().includes(': ping'));
    expect(stream.text()).toContain('retry: 2000');
  });

  it('goes on at another API process from the last id, also by ?after', async () => {
    const { apis, store } = await twoApis();
    await store('c1', [waits('a')]);
    const first = await open(apis[0]);
    const [{ id = '' } = {}] = await first.has(1);
    first.leave();
    await store('c2', [waits('b')]);
    await store('c2', [
      waits('b'),
      {
        type: 'turn_ended',
        turnId: 't',
        status: 'cancelled',
        text: '',
        steps: 1,
        usage: { inputTokens: 0, outputTokens: 0 },
      },
    ]);
    const same = await open(apis[1], PATH, { 'last-event-id': id });
    const byAfter = await open(apis[1], `${PATH}&after=${id}`);
    await store('c3', [waits('c')]);
    for (const stream of [same, byAfter])
      expect((await stream.has(1)).map(toolCallIdOf)).toEqual(['offer c']);
    const other = await open(apis[0], PATH, { 'last-event-id': id });
    expect((await other.has(3)).map(toolCallIdOf)).toEqual(['reset', 'offer a', 'offer c']);
  });

  it('has no call of another tenant', async () => {
    const { apis, store } = await twoApis();
    await store('c1', [waits('foreign')], 'another');
    await store('c2', [waits('own')]);
    const page = await (await apis[0].request(PATH)).json();
    expect(JSON.stringify(page)).not.toContain('foreign');
    const stream = await open(apis[0]);
    await store('c3', [waits('foreign')], 'another');
    await store('c4', [waits('own2')]);
    await stream.has(2);
    expect(stream.text()).not.toContain('foreign');
    const refused = await problemOf(await apis[0].request(`${PATH}&tenant=another`));
    expect(refused.status).toBe(403);
  });

  it('ends when the server stops', async () => {
    const { apis } = await twoApis();
    const stream = await open(apis[0]);
    await apis[0].server.close();
    await stream.ended;
  });
});

it('a page of offers has the calls that wait now, up to a limit', async () => {
  const { apis, store } = await twoApis();
  await store('c1', [waits('a'), waits('b', { deadline: '2030-01-03T00:00:00.000Z' })]);
  const page = await apis[0].request(`${PATH},cut&limit=1&agent=helper`);
  expect(await page.json()).toMatchObject({ offers: [{ toolCallId: 'a' }], more: true });
});

it.each([
  ['/v1/tool-calls/stream', '?tools'],
  ['/v1/tool-calls/stream?tools=a,,b', '?tools'],
  [`${PATH}&executors=human`, '?executors'],
  [`${PATH}&after=1-2`, '?after'],
  [`${PATH}&limit=1000`, '?limit'],
  [`${PATH}&oops=1`, '?oops'],
])('%s is refused, and names %s', async (path, field) => {
  const { apis } = await twoApis();
  const response = await apis[0].request(path);
  expect(response.status).toBe(422);
  expect(await response.json()).toMatchObject({ errors: [{ path: field }] });
});

it.each([
  [`${PATH}&limit=5`, {}, '?limit'],
  [`${PATH}&after=hello`, {}, '?after'],
  [PATH, { 'last-event-id': 'hello' }, 'Last-Event-ID'],
] as const)('a stream of %s with %j is refused, and names %s', async (path, headers, field) => {
  const { apis } = await twoApis();
  const response = await apis[0].request(path, {
    headers: { accept: 'text/event-stream', ...headers },
  });
  expect(response.status).toBe(422);
  expect(await response.json()).toMatchObject({ errors: [{ path: field }] });
});

it('an API without an event log has no offers', async () => {
  const { request } = await startHttpApp();
  expect((await request(PATH)).status).toBe(404);
});

it('an API whose event log is down answers 503 before it opens a stream', async () => {
  const { apis, log } = await twoApis();
  await log.close();
  const response = await apis[0].request(PATH, { headers: { accept: 'text/event-stream' } });
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('1');
});

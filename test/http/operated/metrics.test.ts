/** The metrics of an API process: what it counts, and that no caller can make labels. */
import { expect, it, onTestFinished } from 'vitest';
import { ApiMetrics } from '../../../src/http/metrics/api-metrics.js';
import type { LogCounts } from '../../../src/store/ports/service/counts.js';
import { openSqliteStores } from '../../../src/store/sqlite/event-log.js';
import { noAnswer, refusal } from '../../support/fakes/fake-temporal.js';
import { promise } from '../../support/promise.js';
import { sampleLog } from '../../support/samples/sample-log.js';
import { startHttpApp } from '../../support/servers/http-app.js';
import { until } from '../../support/until.js';
import { putEndpoint } from '../../support/webhooks/samples.js';

const COUNTS: LogCounts = {
  waits: [{ kind: 'approval', open: 3, overdue: 1, oldestOpenedAtMs: Date.now() - 90_000 }],
  failing: 2,
  slow: 1,
};

function listing(counts?: () => Promise<LogCounts>) {
  return {
    list: () => Promise.resolve({ conversations: [] }),
    checkWritable: () => Promise.resolve(),
    ...(counts === undefined ? {} : { counts }),
  };
}

/** Values by name and labels, as the text has them. */
async function valuesOf(metrics: ApiMetrics): Promise<Readonly<Record<string, number>>> {
  const lines = (await metrics.text()).split('\n').filter((line) => /^colloquy_/.test(line));
  return Object.fromEntries(
    lines.map((line) => {
      const [, name = '', value] = /^(.*) (\S+)$/.exec(line) ?? [];
      return [name, Number(value)];
    }),
  );
}

it('count requests by route, verdicts, queued inputs, problems and open streams', {
  ...promise('G346'),
}, async () => {
  const metrics = new ApiMetrics();
  const app = await startHttpApp(
    {
      updateWithStart: () => {
        throw noAnswer();
      },
      signalWithStart: () => undefined,
      update: () => Promise.reject(refusal('verdict', { verdict: 'stale', at: 'now' })),
    },
    { metrics },
  );
  app.reader.add('c-1', sampleLog('c-1'));
  app.reader.add('c-2', sampleLog('c-2'));
  for (const id of ['c-1', 'c-2']) await app.request(`/v1/conversations/${id}`);
  const call = '/v1/conversations/c-1/tool-calls/call_1/resolution';
  await app.post(call, { type: 'approve' });
  await app.post(call, { type: 'nonsense' });
  await app.post('/v1/conversations', { agent: 'support', message: 'hello' });
  await app.request('/no/such/route');
  const stream = await app.request('/v1/conversations/c-1/events', {
    headers: { accept: 'text/event-stream' },
  });

  const seen = await valuesOf(metrics);
  const requests = (labels: string) => seen[`colloquy_http_requests_total{${labels}}`];
  expect(requests('method="GET",route="/v1/conversations/:id",status="200"')).toBe(2);
  expect(requests('method="GET",route="none",status="404"')).toBe(1);
  expect(requests('method="POST",route="/v1/conversations",status="202"')).toBe(1);
  expect(
    seen['colloquy_http_request_seconds_count{method="GET",route="/v1/conversations/:id"}'],
  ).toBe(2);
  expect(seen['colloquy_verdicts_total{request="resolution",verdict="stale"}']).toBe(1);
  expect(seen['colloquy_verdicts_total{request="resolution",verdict="invalid"}']).toBe(1);
  expect(seen['colloquy_queued_total{route="/v1/conversations"}']).toBe(1);
  expect(seen['colloquy_http_problems_total{code="invalid_request"}']).toBe(1);
  expect(seen['colloquy_http_problems_total{code="not_found"}']).toBe(1);
  expect(seen['colloquy_http_streams_open']).toBe(1);
  await stream.body?.cancel();
  await until('the stream is closed', () => valuesOf(metrics), {
    holds: (values) => values['colloquy_http_streams_open'] === 0,
  });
  const names = Object.keys(await valuesOf(metrics));
  expect(names.filter((name) => name.includes('/events'))).toEqual([
    'colloquy_http_requests_total{method="GET",route="/v1/conversations/:id/events",status="200"}',
  ]);
});

it('count each answer of many at once', promise('G346'), async () => {
  const metrics = new ApiMetrics();
  const app = await startHttpApp(
    { update: () => Promise.reject(refusal('verdict', { verdict: 'stale', at: 'now' })) },
    { metrics },
  );
  app.reader.add('c-1', sampleLog('c-1'));
  const item = { conversationId: 'c-1', resolution: { type: 'approve' } };
  await app.post('/v1/worklist/resolutions', {
    items: ['call_1', 'call_2'].map((toolCallId) => ({ ...item, toolCallId })),
  });
  const seen = await valuesOf(metrics);
  expect(seen['colloquy_verdicts_total{request="resolutions",verdict="stale"}']).toBe(2);
});

it('show what waits and what fails in the event log, read at most once in ten seconds', {
  ...promise('G346'),
}, async () => {
  const metrics = new ApiMetrics();
  let reads = 0;
  const counts = async () => {
    reads += 1;
    return COUNTS;
  };
  await startHttpApp({}, { metrics, conversations: listing(counts) });
  const seen = await valuesOf(metrics);
  expect(seen['colloquy_waits_open{kind="approval"}']).toBe(3);
  expect(seen['colloquy_waits_open{kind="elicitation"}']).toBe(0);
  expect(seen['colloquy_waits_overdue{kind="approval"}']).toBe(1);
  expect(seen['colloquy_waits_oldest_seconds{kind="approval"}']).toBeGreaterThanOrEqual(90);
  expect([seen['colloquy_conversations_failing'], seen['colloquy_conversations_slow']]).toEqual([
    2, 1,
  ]);
  await Promise.all([metrics.text(), metrics.text()]);
  expect(reads).toBe(1);
});

it('show what webhooks wait in the outbox, and for how long', promise('G346'), async () => {
  const metrics = new ApiMetrics();
  const { webhooks, log } = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => log.close());
  await startHttpApp({}, { metrics, conversations: listing(), webhooks });
  const gauges = ['pending', 'dead', 'oldest_seconds'].map((name) => `colloquy_webhooks_${name}`);
  const seen = await valuesOf(metrics);
  expect(gauges.map((name) => seen[name])).toEqual([0, 0, 0]);
  await putEndpoint(webhooks);
  const time = new Date(Date.now() - 90_000).toISOString();
  for (const id of ['msg_1', 'msg_2', 'msg_3'])
    await webhooks.enqueue('hook', {
      ...{ specversion: '1.0', id, source: '/test', type: 'webhook.test', data: {} },
      ...{ time, timestamp: time, datacontenttype: 'application/json' },
    });
  const options = { endpointId: 'hook', limit: 1, nowMs: Date.now(), leaseMs: 1_000 };
  for (const each of await webhooks.claimDeliveries(options))
    await webhooks.settleDelivery(each, { type: 'failed', error: 'refused' }, Date.now());
  const later = new ApiMetrics();
  await startHttpApp({}, { metrics: later, conversations: listing(), webhooks });
  const [pending, dead, oldest] = await valuesOf(later).then((all) =>
    gauges.map((name) => all[name]),
  );
  expect([pending, dead]).toEqual([2, 1]);
  expect(oldest).toBeGreaterThanOrEqual(90);
});

it('say of a store that is down that its numbers are not known', promise('G346'), async () => {
  const metrics = new ApiMetrics();
  const down = () => Promise.reject(new Error('the disk is gone'));
  await startHttpApp({}, { metrics, conversations: listing(down) });
  const seen = await valuesOf(metrics);
  expect(seen['colloquy_store_up']).toBe(0);
  expect(seen['colloquy_waits_open{kind="approval"}']).toBeNaN();
  expect(seen['colloquy_conversations_failing']).toBeNaN();
  expect(seen['colloquy_webhooks_pending']).toBeNaN();
});

it('have few labels: a method or a path that a caller makes up is none', async () => {
  const metrics = new ApiMetrics();
  const app = await startHttpApp({}, { metrics });
  for (const path of ['/a', '/b', '/v1/turns/turn_x_1/c', '/CODEC/decode'])
    await app.request(path, { method: 'PATCH' });
  await app.request('/healthz', { method: 'PROPFIND' });
  const names = Object.keys(await valuesOf(metrics)).filter((name) => /requests_total/.test(name));
  expect(names.sort()).toEqual([
    'colloquy_http_requests_total{method="PATCH",route="none",status="404"}',
    'colloquy_http_requests_total{method="other",route="/healthz",status="405"}',
  ]);
});

/** Limits per caller: what is refused, for how long, and what never is. */
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import type { CallerLimits } from '../../../src/http/limits/options.js';
import { serve } from '../../../src/http/listen.js';
import { OPERATIONS } from '../../../src/http/openapi/rows/operations.js';
import { refusal } from '../../support/fakes/fake-temporal.js';
import { TESTING } from '../../support/networks/test-identity.js';
import { promise } from '../../support/promise.js';
import { sampleLog } from '../../support/samples/sample-log.js';
import { startHttpApp } from '../../support/servers/http-app.js';
import { until } from '../../support/until.js';

const LIST = '/v1/conversations';
const STREAM = { headers: { accept: 'text/event-stream' } };

async function limited(limits: CallerLimits) {
  const update = () => Promise.reject(refusal('verdict', { verdict: 'stale', at: 'now' }));
  const app = await startHttpApp({ update }, { limits });
  app.reader.add('c-1', sampleLog('c-1'));
  return app;
}

it('a caller that sends too many requests is refused for as long as Retry-After says', {
  ...promise('G357'),
}, async () => {
  const app = await limited({ requests: 3 });
  for (let sent = 0; sent < 3; sent += 1) expect((await app.request(LIST)).status).toBe(200);
  const refused = await app.request(LIST);
  expect(refused.status).toBe(429);
  const seconds = Number(refused.headers.get('retry-after'));
  expect(seconds).toBeGreaterThanOrEqual(8);
  expect(seconds).toBeLessThanOrEqual(10);
  expect(await refused.json()).toMatchObject({
    code: 'rate_limited',
    detail: 'A caller may send 3 requests in 10 s; try again after Retry-After',
  });
});

it('answers to calls and probes are never refused', promise('G357'), async () => {
  const app = await limited({ requests: 1 });
  await app.request(LIST);
  expect((await app.request(LIST)).status).toBe(429);
  const call = '/v1/conversations/c-1/tool-calls/call_1';
  for (let sent = 0; sent < 5; sent += 1) {
    expect((await app.post(`${call}/resolution`, { type: 'approve' })).status).toBe(409);
    expect((await app.request('/readyz')).status).toBe(200);
  }
  for (const { method, path, right } of OPERATIONS) {
    if (method !== 'post' || (right !== 'answer' && right !== 'extend')) continue;
    const place = path.replace(':id', 'c-1').replace(':callId', 'call_1').replace(':stepId', 's-1');
    expect([path, (await app.post(place, {})).status]).not.toEqual([path, 429]);
  }
  // A read of the same path is a request like others.
  expect((await app.request(`${call}/resolution`)).status).toBe(429);
});

it('each caller has limits of its own', promise('G357'), async () => {
  const app = await limited({ requests: 1, callerOf: (request) => request.get('x-key') ?? '' });
  const asked = async (key: string) =>
    (await app.request(LIST, { headers: { 'x-key': key } })).status;
  expect([await asked('ann'), await asked('ann'), await asked('bob')]).toEqual([200, 429, 200]);
});

it('a caller is an actor of a tenant, and each conversation that it gives a token for', {
  ...promise('G357'),
}, async () => {
  const app = await startHttpApp(
    {},
    {
      limits: { requests: 1 },
      identify: (request) => {
        const [tenant = '', id = '', conversation] = (request.get('x-as') ?? '').split(' ');
        const bound = conversation === undefined ? {} : { conversation };
        return { ...TESTING, tenants: [tenant], actor: { id }, ...bound };
      },
    },
  );
  const asked = async (as: string) =>
    (await app.request('/v1/session', { headers: { 'x-as': as } })).status;
  for (const as of ['acme ann', 'acme bob', 'beta ann', 'acme ann c-1', 'acme ann c-2'])
    expect([as, await asked(as), await asked(as)]).toEqual([as, 200, 429]);
});

it('a caller has so many streams open and no more, until one of them ends', {
  ...promise('G357'),
}, async () => {
  const app = await limited({ streams: 1 });
  const events = '/v1/conversations/c-1/events';
  const first = await app.request(events, STREAM);
  const second = await app.request(events, STREAM);
  expect([second.status, second.headers.get('retry-after')]).toEqual([429, '5']);
  expect((await app.request(events)).status).toBe(200);
  await first.body?.cancel();
  const third = await until('another stream opens', () => app.request(events, STREAM), {
    holds: ({ status }) => status === 200,
  });
  await third.body?.cancel();
});

it('limits that are off refuse nothing', async () => {
  const app = await limited({ requests: 'off', streams: 'off' });
  for (let sent = 0; sent < 5; sent += 1) expect((await app.request(LIST)).status).toBe(200);
});

it('an address has so many connections open and no more', async () => {
  const app = (_request: unknown, response: { end: (text: string) => void }) => {
    response.end('served');
  };
  const server = await serve(app, { port: 0, connectionsPerAddress: 1 });
  onTestFinished(() => server.close());
  const open = () => {
    const socket = connect(server.port, '127.0.0.1');
    const state = { isOpen: false, isClosed: false };
    socket.once('connect', () => {
      state.isOpen = true;
    });
    socket.once('close', () => {
      state.isClosed = true;
    });
    return { socket, state };
  };
  const held = open();
  await until('the first is open', () => held.state.isOpen);
  const refused = open();
  await until('the second is closed', () => refused.state.isClosed);
  expect(held.state.isClosed).toBe(false);
  held.socket.destroy();
  await until('there is a place again', async () => {
    const response = await fetch(server.url).catch(() => undefined);
    return (await response?.text()) === 'served';
  });
});

/** The view of operators, over a store in memory and a scripted Temporal. */
import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowNotFoundError } from '@temporalio/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ownIdentity } from '../../../src/client/workers/identity.js';
import { createOperations } from '../../../src/projection/operations/operations.js';
import { noteOf } from '../../../src/projection/projector/sweep-note.js';
import type {
  OperationsAnswer,
  SeenWebhooks,
  WorkerKilled,
} from '../../../src/protocol/log/operations.js';
import type { WebhookStore } from '../../../src/store/ports/webhooks.js';
import { openSqliteStores } from '../../../src/store/sqlite/event-log.js';
import { breakable } from '../../support/fakes/breakable-log.js';
import { fakeTemporal, grpcError } from '../../support/fakes/fake-temporal.js';
import { TESTING } from '../../support/networks/test-identity.js';
import { promise } from '../../support/promise.js';
import { asks, KEY, stamped, started, suspends } from '../../support/samples/log-events.js';
import { problemOf } from '../../support/samples/problems.js';
import { startHttpApp } from '../../support/servers/http-app.js';
import { until } from '../../support/until.js';

const SUSPENDED = {
  kind: 'outcome',
  openedAt: '2020-01-01T00:00:00.000Z',
  deadline: '2020-01-01T00:10:00.000Z',
} as const;
const PASS = { checked: 3, asked: 1, found: 0, gone: 0, endedSilently: 0, failed: 0 };

async function app() {
  const { log: inner, webhooks } = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => inner.close());
  const outage = breakable(inner);
  const { log } = outage;
  const mine = ownIdentity(await log.storeId());
  const [silent, foreign] = [ownIdentity(await log.storeId()), 'other@host'];
  const at = { seconds: Math.floor(Date.now() / 1_000), nanos: 0 };
  const long = { seconds: at.seconds - 200, nanos: 0 };
  const server = { isDown: false, looks: 0 };
  const pollers = [
    { identity: mine, lastAccessTime: at, workerVersionCapabilities: { buildId: 'b1' } },
    {
      identity: silent,
      lastAccessTime: at,
      deploymentOptions: { buildId: '2', deploymentName: 'd' },
    },
    { identity: foreign, lastAccessTime: at },
    { identity: 'gone@host', lastAccessTime: long },
    { identity: ownIdentity(await log.storeId()), lastAccessTime: at },
  ];
  const { client } = fakeTemporal({
    describe: ({ workflowId }) => {
      if (server.isDown) throw grpcError(14, 'connection refused');
      throw new WorkflowNotFoundError('not found', workflowId, undefined);
    },
  });
  Object.assign(client.workflowService, {
    describeTaskQueue: () => {
      server.looks += 1;
      return server.isDown
        ? Promise.reject(grpcError(14, 'connection refused'))
        : Promise.resolve({ pollers });
    },
  });
  await log.announceWorker({ id: mine, agents: { support: 'd' } });
  const opened = { log, webhooks };
  const source = {
    async *reported() {
      if (server.isDown) throw grpcError(14, 'connection refused');
      yield* await Promise.resolve([]);
    },
  };
  const operations = createOperations({ temporal: client, taskQueue: 'q', opened, source });
  const identify = () => ({ ...TESTING, tenants: ['default', 'beta'] });
  const http = await startHttpApp({}, { operations, identify });
  const look = async (query = ''): Promise<OperationsAnswer> =>
    (await (await http.request(`/v1/operations${query}`)).json()) as OperationsAnswer;
  return { ...http, look, log, webhooks, outage, server, mine, foreign };
}

/** A conversation whose call waits for a report since years ago. */
async function addWaiting(log: Awaited<ReturnType<typeof app>>['log'], tenant: string, id: string) {
  const key = { ...KEY, tenant, conversationId: id };
  const events = stamped([
    ...[started(key), ...asks('turn_1')],
    suspends('turn_1', 'call_1', SUSPENDED),
  ]);
  await log.append({ ...key, runId: 'r', historyLength: 3, events });
}

/** The receiver refuses all that is due for good. */
async function dieAtOnce(webhooks: WebhookStore, endpointId: string): Promise<void> {
  const nowMs = Date.now() + 1_000;
  const claim = { endpointId, limit: 100, nowMs, leaseMs: 60_000 };
  for (const delivery of await webhooks.claimDeliveries(claim))
    await webhooks.settleDelivery(
      delivery,
      { type: 'failed', error: 'no', httpStatus: 500 },
      nowMs,
    );
}

describe('the view of operators', promise('G387'), () => {
  it('has the workers, the sweep and the conversations that need attention, with the next command', async () => {
    const { look, log, mine, foreign } = await app();
    const holder = { name: 'sweep:q', holder: mine, ttlMs: 60_000 };
    await log.acquireLease({ ...holder, note: noteOf(PASS, 12) });
    await addWaiting(log, 'default', 'order-42');
    const { workers, sweep, waits, troubles, killsWorkers, tenant } = await look();
    expect(workers).toMatchObject({ status: 'known', taskQueue: 'q', more: false });
    const states = workers.status === 'known' ? workers.workers : [];
    expect(states.map(({ identity, state }) => [identity, state])).toEqual([
      [mine, 'up'],
      [foreign, 'unknown'],
      [expect.any(String), 'gone'],
      [expect.any(String), 'gone'],
      ['gone@host', 'gone'],
    ]);
    expect(states[0]).toMatchObject({
      ...{ polls: ['workflow', 'activity'], buildId: 'b1', agents: ['support'] },
    });
    expect(sweep).toMatchObject({
      status: 'known',
      leader: mine,
      lastPass: { ...PASS, tookMs: 12 },
    });
    expect(waits).toMatchObject({ status: 'known', conversations: 1, calls: 1, more: false });
    expect(troubles).toMatchObject({
      conversations: [
        {
          conversationId: 'order-42',
          reason: 'unknown_outcome',
          nextCommand: 'npx colloquy pending order-42',
        },
        { conversationId: 'order-42', reason: 'overdue', nextCommand: 'npx colloquy doctor' },
      ],
    });
    expect({ killsWorkers, tenant }).toEqual({ killsWorkers: false, tenant: 'default' });
  });

  it('says why a part is not known, and gives the others', async () => {
    const { look, log, outage, server } = await app();
    await log.markTrouble(KEY, {
      ...{ kind: 'failing', runId: 'r', attempts: 9, since: '2020-01-01T00:00:00.000Z' },
      error: 'boom',
    });
    server.isDown = true;
    const withoutServer = await look();
    const { workers, troubles, log: ofLog } = withoutServer;
    expect(workers).toMatchObject({ status: 'known', workers: [{ state: 'up', polls: [] }] });
    expect(workers).toMatchObject({
      incomplete: expect.stringMatching(/connection refused/) as string,
    });
    expect(troubles).toMatchObject({
      status: 'known',
      incomplete: expect.any(String) as string,
      conversations: [
        { reason: 'failing', nextCommand: `npx colloquy repair ${KEY.conversationId}` },
      ],
    });
    expect(ofLog.status).toBe('known');
    outage.isDown = true;
    const nothing = await look('?tenant=beta');
    for (const name of ['log', 'troubles', 'waits'] as const)
      expect(nothing[name]).toMatchObject({
        status: 'unavailable',
        reason: expect.any(String) as string,
      });
    expect(nothing.webhooks).toMatchObject({ status: 'known', endpoints: 0 });
  });

  it('does not call a server without trouble that does not answer', async () => {
    const { look, server } = await app();
    expect((await look()).troubles).not.toHaveProperty('incomplete');
    server.isDown = true;
    expect((await look('?tenant=beta')).troubles).toMatchObject({
      ...{ conversations: [], incomplete: expect.stringMatching(/connection refused/) as string },
    });
  });

  it('shows the conversations and dead letters of one tenant, and refuses others', async () => {
    const { look, log, request, webhooks } = await app();
    await webhooks.putEndpoint(
      {
        ...{ id: 'wh_all', url: 'https://example.com', status: 'active' },
        createdAt: new Date().toISOString(),
      },
      { secret: 'whsec_x', previousUntilMs: 0 },
    );
    await addWaiting(log, 'beta', 'secret-1');
    const own = await look();
    expect(JSON.stringify(own)).not.toContain('secret-1');
    await dieAtOnce(webhooks, 'wh_all');
    const theirs = await look('?tenant=beta');
    expect(theirs.webhooks).toMatchObject({
      deadLetters: [
        {
          ...{ webhookId: 'wh_all', conversationId: 'secret-1', lastStatus: 500, lastError: 'no' },
          nextCommand: expect.stringMatching(/^npx colloquy webhooks resend wh_all \S+$/) as string,
        },
      ],
    });
    expect(theirs.troubles).toMatchObject({
      conversations: [
        { nextCommand: 'npx colloquy pending secret-1 --tenant beta' },
        { conversationId: 'secret-1' },
      ],
    });
    const other = await request('/v1/operations?tenant=acme');
    expect(await problemOf(other)).toMatchObject({ status: 403 });
    const wrong = await request('/v1/operations?deep=1');
    expect(await problemOf(wrong)).toMatchObject({ status: 422 });
  });

  it('shows the dead letters of a tenant behind any number of those of another', async () => {
    const { look, log, webhooks } = await app();
    await webhooks.putEndpoint(
      {
        ...{ id: 'wh_all', url: 'https://example.com', status: 'active' },
        createdAt: new Date().toISOString(),
      },
      { secret: 'whsec_x', previousUntilMs: 0 },
    );
    const names = Array.from({ length: 45 }, (_, nth) => `other-${nth}`);
    for (const name of ['first', ...names, 'last'])
      await addWaiting(log, name.startsWith('other') ? 'beta' : 'default', name);
    await dieAtOnce(webhooks, 'wh_all');
    const { webhooks: seen } = await look();
    const { deadLetters, more } = seen as SeenWebhooks;
    expect(deadLetters.map(({ conversationId }) => conversationId).sort()).toEqual([
      'first',
      'last',
    ]);
    expect(more).toBe(false);
  });

  it('looks once for any number of pages', async () => {
    const { look, server } = await app();
    await Promise.all(Array.from({ length: 10 }, () => look()));
    await look('?tenant=beta');
    await look();
    // One for the pollers of each type.
    expect(server.looks).toBe(2);
  });
});

it('needs the right "admin"', promise('G387'), async () => {
  const identity = { ...TESTING, rights: ['read', 'answer', 'send'] as const };
  const { request, post } = await startHttpApp({}, { identify: () => identity });
  expect(await problemOf(await request('/v1/operations'))).toMatchObject({ status: 403 });
  const kill = await post('/v1/operations/kill-worker', {});
  expect(await problemOf(kill)).toMatchObject({ status: 403 });
});

describe('the kill of a worker', promise('G388'), () => {
  it('has no route but under colloquy dev', async () => {
    const { post } = await startHttpApp();
    const kill = await post('/v1/operations/kill-worker', {});
    expect(await problemOf(kill)).toMatchObject({ status: 404, code: 'not_found' });
  });

  it('is one kill for those who ask at the same time', async () => {
    let kills = 0;
    let asking = 0;
    let end: (killed: WorkerKilled) => void = () => undefined;
    const killed = new Promise<WorkerKilled>((resolve) => {
      end = resolve;
    });
    const killWorker = () => {
      kills += 1;
      return killed;
    };
    const identify = () => {
      asking += 1;
      return TESTING;
    };
    const { post } = await startHttpApp({}, { killWorker, identify });
    const asked = [1, 2, 3].map(() => post('/v1/operations/kill-worker', {}));
    await until('all have asked', () => asking === 3);
    await delay(40);
    end({ killedPid: 7 });
    for (const answer of await Promise.all(asked)) {
      expect(answer.status).toBe(202);
      expect(await answer.json()).toEqual({ killedPid: 7 });
    }
    expect(kills).toBe(1);
  });

  it('is the same one for a repeat under its key, and another one for another key', async () => {
    let kills = 0;
    const killWorker = () => {
      kills += 1;
      return Promise.resolve({ killedPid: kills });
    };
    const identify = () => TESTING;
    const { post } = await startHttpApp({}, { killWorker, identify });
    const kill = async (key: string): Promise<unknown> => {
      const answer = await post('/v1/operations/kill-worker', {}, { 'idempotency-key': key });
      return await answer.json();
    };
    expect(await kill('k-1')).toEqual({ killedPid: 1 });
    expect(await kill('k-1')).toEqual({ killedPid: 1 });
    expect(await kill('k-2')).toEqual({ killedPid: 2 });
  });
});

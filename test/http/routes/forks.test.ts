/** Forks over HTTP: who may begin one, from where, and what a repeat gets. */
import { randomUUID } from 'node:crypto';
import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Identity } from '../../../src/http/identity/identity.js';
import { forkState } from '../../../src/projection/forks/fork-state.js';
import { createStoreReader } from '../../../src/projection/index.js';
import type { CanonicalEvent } from '../../../src/protocol/log/events.js';
import { openSqliteStores } from '../../../src/store/sqlite/event-log.js';
import type { FakeCall } from '../../support/fakes/fake-temporal.js';
import { TESTING } from '../../support/networks/test-identity.js';
import { promise } from '../../support/promise.js';
import { stamped, turn } from '../../support/samples/log-events.js';
import { problemOf } from '../../support/samples/problems.js';
import { sampleLog } from '../../support/samples/sample-log.js';
import { startHttpApp } from '../../support/servers/http-app.js';

interface ForkInputs {
  readonly tenant: string;
  readonly conversationId: string;
  readonly settings: never;
  readonly fork: never;
}

/**
 * An app over a store with `c-1` of the tenant `default`; a started fork begins at once, unless no worker is there.
 * `status`: of the runs that were started then.
 */
async function app(identity: Partial<Identity> = {}, away?: { status: string }) {
  const { log, blobs } = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => log.close());
  const key = { tenant: 'default', conversationId: 'c-1' };
  await log.append({ ...key, runId: 'r-1', events: sampleLog('c-1') });
  const starts: FakeCall[] = [];
  const start = async (call: FakeCall): Promise<unknown> => {
    const { workflowIdReusePolicy: policy } = call.options;
    const isRepeat = starts.some(({ workflowId }) => workflowId === call.workflowId);
    if (isRepeat && policy === 'REJECT_DUPLICATE')
      throw new WorkflowExecutionAlreadyStartedError('exists', call.workflowId, 'conversation');
    starts.push(call);
    if (away !== undefined) return undefined;
    const { tenant, conversationId, fork: origin, settings } = call.input as ForkInputs;
    const runId = randomUUID();
    const fork = { origin, settings, runId };
    const carried = await forkState({ log, blobs }, { tenant, conversationId, chain: 'x', fork });
    await log.append({ tenant, conversationId, runId, events: carried.events });
    return undefined;
  };
  const describeRun = ({ workflowId }: FakeCall): unknown => {
    const run = starts.findLast((call) => call.workflowId === workflowId);
    if (run === undefined) throw new WorkflowNotFoundError('not found', workflowId, undefined);
    const { memo } = run.options;
    return { runId: 'r-f', memo, status: { name: away?.status ?? 'RUNNING' }, raw: {} };
  };
  const reader = createStoreReader({ log, source: 'none' });
  const identify = () => ({ ...TESTING, ...identity });
  const script = { start, describe: describeRun, result: () => undefined };
  const started = await startHttpApp(script, { reader, identify }, { reader });
  const fork = async (body: object, headers: Record<string, string> = {}) =>
    await started.post(
      '/v1/conversations/c-1/fork',
      { generation: 1, atSeq: END, ...body },
      headers,
    );
  const more = async () => await log.append({ ...key, runId: 'r-1', events: LATER });
  return { ...started, fork, starts, log, more };
}

const END = sampleLog('c-1').at(-1)?.seq ?? 0;
/** Another turn of `c-1`, whose end is another place. */
const LATER = stamped(turn('t2'), { from: END + 1 });
const LATER_END = LATER.at(-1)?.seq ?? 0;
const forkedOf = async (response: Response) =>
  (await response.json()) as { readonly conversationId: string };

describe('POST /v1/conversations/{id}/fork', promise('G383'), () => {
  it('begins a conversation, whose snapshot and log have the place of the origin', async () => {
    const { fork, request } = await app();
    const response = await fork({ id: 'f-1' });
    expect(response.status).toBe(201);
    expect(response.headers.get('location')).toBe('/v1/conversations/f-1');
    expect(await response.json()).toMatchObject({ status: 'forked', conversationId: 'f-1' });
    const origin = { conversationId: 'c-1', generation: 1, seq: END };
    expect(await (await request('/v1/conversations/f-1')).json()).toMatchObject({ origin });
    const page = await (await request('/v1/conversations/f-1/events?limit=500')).json();
    const { events } = page as { readonly events: readonly CanonicalEvent[] };
    expect(events.at(-1)).toMatchObject({ type: 'conversation_started', origin });
  });

  it('is one fork under one Idempotency-Key; the same key at another place is refused', async () => {
    const { fork, starts } = await app();
    const key = { 'idempotency-key': 'k-1' };
    const first = await forkedOf(await fork({}, key));
    expect(await forkedOf(await fork({}, key))).toMatchObject({ ...first, duplicate: true });
    expect(starts).toHaveLength(1);
    expect((await forkedOf(await fork({}))).conversationId).not.toBe(first.conversationId);
    expect(await problemOf(await fork({ atSeq: 5 }, key))).toMatchObject({ status: 422 });
  });

  it('is kept while no worker runs', async () => {
    const { fork } = await app({}, { status: 'RUNNING' });
    for (const duplicate of [false, true]) {
      const response = await fork({ id: 'f-1' });
      expect(response.status).toBe(202);
      const queued = { status: 'queued', reason: 'no_worker', duplicate };
      expect(await response.json()).toMatchObject(queued);
    }
  });

  it('is one place for one id, also while no worker runs', async () => {
    const { fork, starts, more } = await app({}, { status: 'RUNNING' });
    await more();
    await fork({ id: 'f-1' });
    const problem = await problemOf(await fork({ id: 'f-1', atSeq: LATER_END }));
    expect(problem).toMatchObject({ status: 422, errors: [{ path: '/id' }] });
    expect(starts).toHaveLength(1);
  });

  it('does not take the id of a conversation that no reader knows yet', async () => {
    const { fork, starts } = await app({}, { status: 'RUNNING' });
    await fork({ id: 'f-1' });
    // As a first message starts it.
    for (const { options } of starts) delete (options['memo'] as { fork?: unknown }).fork;
    const problem = await problemOf(await fork({ id: 'f-1' }));
    expect(problem).toMatchObject({ status: 422, errors: [{ path: '/id' }] });
  });

  it.each(['TERMINATED', 'CANCELLED', 'TIMED_OUT', 'FAILED'])(
    'whose run has %s before it began has failed, and begins again',
    async (status) => {
      const { fork, starts } = await app({}, { status });
      for (const times of [1, 2]) {
        const problem = await problemOf(await fork({ id: 'f-1' }));
        expect(problem).toMatchObject({ status: 500, code: 'internal' });
        expect(starts).toHaveLength(times);
      }
      expect(starts[1]?.options['workflowIdReusePolicy']).toBe('ALLOW_DUPLICATE_FAILED_ONLY');
    },
  );

  it('whose origin was deleted before it began, so that its copy was removed, does not exist', async () => {
    const { fork, log } = await app({}, { status: 'FAILED' });
    await log.beginDeletion({ tenant: 'default', conversationId: 'f-1', runIds: ['r-f'] });
    const problem = await problemOf(await fork({ id: 'f-1' }));
    expect(problem).toMatchObject({ status: 404, code: 'unknown_conversation' });
  });

  it('begins again where an ended run has copied a part of the log', async () => {
    const { fork, starts, log, more } = await app({}, { status: 'TERMINATED' });
    await more();
    await fork({ id: 'f-1' });
    const events = sampleLog('f-1').slice(0, 3);
    const key = { tenant: 'default', conversationId: 'f-1' };
    await log.append({ ...key, runId: 'r-f', events, copied: true });
    await fork({ id: 'f-1' });
    expect(starts).toHaveLength(2);
    // Another place cannot begin under the id.
    const other = await problemOf(await fork({ id: 'f-1', atSeq: LATER_END }));
    expect(other).toMatchObject({ status: 422, errors: [{ path: '/id' }] });
  });

  it.each([
    ['atSeq', { atSeq: 2 }, '/atSeq', `nearest: ${END} behind it`],
    ['a seq that is to come', { atSeq: 999 }, '/atSeq', `${END} before it`],
    ['generation', { generation: 9 }, '/generation', 'must be a generation of the log'],
    ['reopen', { reopen: ['x'] }, '/reopen/0', 'is no call of the conversation'],
    ['a call twice', { reopen: ['x', 'x'] }, '/reopen', 'must name each call once'],
    ['an id that is taken', { id: 'c-1' }, '/id', 'must be an id that no conversation has'],
  ])('refuses a wrong value: %s', async (_title, body, path, message) => {
    const { fork, starts } = await app();
    const response = await fork(body);
    expect(response.status).toBe(422);
    const errors = [{ path, message: expect.stringContaining(message) as string }];
    expect(await response.json()).toMatchObject({ errors });
    expect(starts).toEqual([]);
  });

  it.each([
    ['may not read', { rights: ['send'] }, 403],
    ['may not send', { rights: ['read'] }, 403],
    ['may use this conversation only', { conversation: 'c-1' }, 403],
    ['may use another conversation only', { conversation: 'c-2' }, 404],
    ['is of another tenant', { tenants: ['beta'] }, 404],
  ] as const)('refuses a caller who %s', async (_title, identity, status) => {
    const { fork, starts } = await app(identity);
    expect((await fork({})).status).toBe(status);
    expect(starts).toEqual([]);
  });
});

describe('GET /v1/conversations/{id}/export', promise('G384'), () => {
  it('answers a log that can be played again with a test, and any other with the event', async () => {
    const { request, log } = await app();
    const ask = async (query: string) =>
      await request(`/v1/conversations/c-1/export?format=test${query}`);
    const response = await ask('&from=..%2Fa.js&exportedAs=helper');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-disposition')).toBe('attachment');
    expect(await response.text()).toContain('import { helper } from "../a.js";');
    expect((await ask('&exportedAs=a%20b')).status).toBe(422);
    expect((await request('/v1/conversations/c-1/export?format=csv')).status).toBe(422);
    const lost = { type: 'run_ended', runId: 'r', status: 'terminated' } as const;
    const key = { tenant: 'default', conversationId: 'c-1', runId: 'r-1' };
    await log.append({
      ...key,
      events: [{ ...lost, seq: END + 1, at: '2026-01-01T00:00:10.000Z' }],
    });
    const refused = await ask('');
    expect(await problemOf(refused)).toMatchObject({ status: 422 });
  });
});

/** Recorded turns that are played again over HTTP: who may ask for it, with which values, and what a repeat gets. */
import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AgentSource } from '../../../src/client/index.js';
import type { Identity } from '../../../src/http/identity/identity.js';
import { createStoreReader } from '../../../src/projection/index.js';
import type { WhatIfInput } from '../../../src/protocol/workflow/what-if.js';
import { openSqliteStores } from '../../../src/store/sqlite/event-log.js';
import type { FakeCall } from '../../support/fakes/fake-temporal.js';
import { TESTING } from '../../support/networks/test-identity.js';
import { promise } from '../../support/promise.js';
import { problemOf } from '../../support/samples/problems.js';
import { SUPPORT, sampleLog, TURN } from '../../support/samples/sample-log.js';
import { startHttpApp } from '../../support/servers/http-app.js';

const DONE = {
  state: 'ended',
  reason: 'answered',
  steps: [],
  usage: { inputTokens: 1, outputTokens: 1 },
};

/** `c-1` with an answer of the model behind its first turn. */
function log() {
  const events = sampleLog('c-1');
  const { seq = 0, at = '' } = events.find(({ type }) => type === 'turn_started') ?? {};
  const said = {
    ...{ type: 'assistant_message' as const, seq: seq + 1, at, turnId: TURN, step: 1 },
    ...{ messageId: 'm_2', parts: [{ type: 'text' as const, text: 'Hi' }] },
  };
  const later = events.slice(seq).map((event) => ({ ...event, seq: event.seq + 1 }));
  return [...events.slice(0, seq), said, ...later];
}

const BEGUN_MS = Date.UTC(2026, 0, 1);

interface Given {
  /** Beside the what-ifs that are started, as the server lists them. */
  readonly others?: readonly object[];
  readonly cancel?: (call: FakeCall) => unknown;
  readonly identity?: Partial<Identity>;
  readonly status?: string | (() => string);
  readonly result?: (call: FakeCall) => unknown;
  readonly raw?: object;
  readonly agents?: AgentSource;
}

async function app({
  identity = {},
  status = 'COMPLETED',
  result,
  raw = {},
  others = [],
  cancel = () => ({}),
  agents,
}: Given = {}) {
  const { log: store } = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => store.close());
  const key = { tenant: 'default', conversationId: 'c-1' };
  await store.append({ ...key, runId: 'r-1', events: log() });
  const starts: FakeCall[] = [];
  const start = (call: FakeCall): undefined => {
    if (starts.some(({ workflowId }) => workflowId === call.workflowId))
      throw new WorkflowExecutionAlreadyStartedError('exists', call.workflowId, 'whatIf');
    starts.push(call);
  };
  /** In the order of the visibility store, which is not that of the list. */
  const list = (): readonly object[] => [
    ...others,
    ...starts.map(({ workflowId, options: { memo } }, index) => ({
      ...{ workflowId, runId: `run-${index + 1}`, memo, status: { name: statusName() } },
      startTime: new Date(BEGUN_MS + index * 1_000),
      ...(statusName() === 'RUNNING' ? {} : { closeTime: new Date(BEGUN_MS + 60_000) }),
    })),
  ];
  const statusName = (): string => (typeof status === 'string' ? status : status());
  const describeRun = ({ workflowId }: FakeCall): unknown => {
    const found = starts.find((call) => call.workflowId === workflowId);
    if (found === undefined) throw new WorkflowNotFoundError('none', workflowId, undefined);
    return { status: { name: statusName() }, runId: 'run-1', memo: found.options['memo'], raw };
  };
  const reader = createStoreReader({ log: store, source: 'none' });
  const forgetTurns = (): void => {
    const problems = [{ path: '/turnId', message: 'is gone' }];
    Object.assign(reader, { whatIfPoint: () => Promise.resolve({ problems }) });
  };
  const started = await startHttpApp(
    { start, list, cancel, describe: describeRun, result: result ?? (() => DONE) },
    { reader, identify: () => ({ ...TESTING, ...identity }) },
    { reader, ...(agents === undefined ? {} : { agents }) },
  );
  const ask = async (body: object, headers: Record<string, string> = {}) =>
    await started.post('/v1/conversations/c-1/what-if', { instructions: 'X', ...body }, headers);
  const inputs = (): readonly WhatIfInput[] => starts.map(({ input }) => input as WhatIfInput);
  return { ...started, ask, starts, inputs, forgetTurns };
}

const bodyOf = async (response: Response) => (await response.json()) as Record<string, unknown>;

describe('POST /v1/conversations/{id}/what-if', promise('G389'), () => {
  it('begins one with the definition that is asked for, in the name of the caller', async () => {
    const { ask, inputs, request } = await app();
    const body = { turnId: TURN, generation: 1, agent: 'sales', model: 'scripted', maxSteps: 3 };
    const response = await ask(body);
    expect(response.status).toBe(202);
    const begun = await bodyOf(response);
    const { whatIfId } = begun;
    expect(begun).toEqual({
      ...{ whatIfId, conversationId: 'c-1', turnId: TURN, agent: 'sales', duplicate: false },
    });
    const path = `/v1/conversations/c-1/what-if/${String(whatIfId)}`;
    expect(response.headers.get('location')).toBe(path);
    expect(inputs()).toMatchObject([
      {
        ...{ ...body, tenant: 'default', conversationId: 'c-1', instructions: 'X' },
        ...{ throughSeq: log().length, actor: { channel: 'api' } },
      },
    ]);
    expect(await bodyOf(await request(path))).toEqual({
      ...{ whatIfId, conversationId: 'c-1', turnId: TURN, generation: 1 },
      ...{ agent: 'sales', model: 'scripted', ...DONE },
    });
  });

  it('may name the model of its own agent, where that is a document of the tenant', async () => {
    const agents: AgentSource = (asked) =>
      Promise.resolve(
        asked?.tenant === 'default' && asked.name === 'sales'
          ? [SUPPORT, { ...SUPPORT, name: 'sales', model: 'own' }]
          : [SUPPORT],
      );
    const { ask, inputs } = await app({ agents });
    expect((await ask({ model: 'own', agent: 'sales' })).status).toBe(202);
    expect((await ask({ model: 'scripted', agent: 'sales' })).status).toBe(202);
    expect(inputs().map(({ model }) => model)).toEqual(['own', 'scripted']);
    expect((await ask({ model: 'own', agent: 'support' })).status).toBe(422);
  });

  it('is one under one Idempotency-Key; the same key with other content is refused', async () => {
    const { ask, starts } = await app();
    const key = { 'idempotency-key': 'k-1' };
    const first = await bodyOf(await ask({}, key));
    expect(await bodyOf(await ask({}, key))).toEqual({ ...first, duplicate: true });
    expect((await bodyOf(await ask({})))['whatIfId']).not.toBe(first['whatIfId']);
    expect(await problemOf(await ask({ maxSteps: 2 }, key))).toMatchObject({ status: 422 });
    expect(starts).toHaveLength(2);
  });

  it('is found by a repeat, also once its turn could not be played any more', async () => {
    const { ask, forgetTurns } = await app();
    const key = { 'idempotency-key': 'k-1' };
    const first = await bodyOf(await ask({}, key));
    forgetTurns();
    expect(await bodyOf(await ask({}, key))).toEqual({ ...first, duplicate: true });
    expect((await ask({})).status).toBe(422);
  });

  it.each([
    ['turnId', { turnId: 'gone' }, 'must be a turn of the conversation in which a model has'],
    ['generation', { generation: 9 }, 'must be a generation of the log'],
    ['agent', { agent: 'a b' }, 'may hold only letters'],
    ['model', { model: 'gone' }, 'must be the model of an agent that is served: scripted'],
    ['instructions', { instructions: ' ' }, 'must be a text that is not blank'],
    ['instructions', { instructions: 'x'.repeat(50_001) }, 'must have at most 50000 characters'],
    ['instructions', { instructions: '\ud800' }, 'must be well-formed Unicode text'],
    ['maxSteps', { maxSteps: 21 }, 'must be a whole number from 1 to 20'],
    ['prompt', { prompt: 'x' }, 'is not known here'],
  ])('refuses a wrong value: %s', async (field, body, message) => {
    const { ask, starts } = await app();
    const response = await ask(body);
    expect(response.status).toBe(422);
    const errors = [{ path: `/${field}`, message: expect.stringContaining(message) as string }];
    expect(await response.json()).toMatchObject({ errors });
    expect(starts).toEqual([]);
  });

  it('refuses a request that changes nothing, and an agent that does not exist', async () => {
    const { post, ask } = await app();
    const nothing = await post('/v1/conversations/c-1/what-if', {});
    expect(await problemOf(nothing)).toMatchObject({ status: 422 });
    expect((await ask({ agent: 'gone' })).status).toBe(404);
    expect((await post('/v1/conversations/c-9/what-if', { agent: 'sales' })).status).toBe(404);
  });

  it.each([
    ['may not read', { rights: ['send'] }, 403],
    ['may not send', { rights: ['read'] }, 403],
    ['may use this conversation only', { conversation: 'c-1' }, 202],
    ['may use another conversation only', { conversation: 'c-2' }, 404],
    ['is of another tenant', { tenants: ['beta'] }, 404],
  ] as const)('answers a caller who %s', async (_title, identity, status) => {
    const { ask, starts } = await app({ identity });
    expect((await ask({})).status).toBe(status);
    expect(starts).toHaveLength(status === 202 ? 1 : 0);
  });
});

describe('GET /v1/conversations/{id}/what-if/{whatIfId}', promise('G389'), () => {
  const read = async (given: Given, id?: string) => {
    const { ask, request } = await app(given);
    const { whatIfId } = await bodyOf(await ask({}));
    return await request(`/v1/conversations/c-1/what-if/${id ?? String(whatIfId)}`);
  };

  it('says that it runs, and that no worker has taken it', async () => {
    const running = await bodyOf(await read({ status: 'RUNNING' }));
    expect(running).toMatchObject({ state: 'running', turnId: TURN });
    expect(running).not.toHaveProperty('warning');
    const ago = (seconds: number) => ({ seconds: Date.now() / 1_000 - seconds });
    const fresh = { pendingWorkflowTask: { state: 1, scheduledTime: ago(1) } };
    const later = { state: 1, scheduledTime: ago(60), nextAttemptScheduleTime: ago(-9) };
    for (const raw of [fresh, { pendingActivities: [later] }])
      expect(await bodyOf(await read({ status: 'RUNNING', raw }))).not.toHaveProperty('warning');
    const waits = { pendingWorkflowTask: { state: 1, scheduledTime: ago(60) } };
    expect(await bodyOf(await read({ status: 'RUNNING', raw: waits }))).toMatchObject({
      ...{ state: 'running', warning: expect.stringContaining('No worker polls') as string },
    });
  });

  it('has the failure of one that was refused, or ended from outside', async () => {
    const failed = (cause: Error | undefined) => () => {
      throw new WorkflowFailedError('failed', cause, 'MAXIMUM_ATTEMPTS_REACHED');
    };
    const refused = ApplicationFailure.nonRetryable('no', 'invalid_request');
    expect(await bodyOf(await read({ result: failed(refused) }))).toMatchObject({
      ...{ state: 'failed', error: { code: 'invalid_request', message: 'no' } },
    });
    expect(await bodyOf(await read({ result: failed(undefined) }))).toMatchObject({
      ...{ state: 'failed', error: { code: 'internal' } },
    });
  });

  it.each(['x-1', 'a%20b', 'x:y'])('does not know any other: %s', async (id) => {
    expect(await problemOf(await read({}, id))).toMatchObject({ code: 'unknown_what_if' });
  });
});

interface Page {
  readonly whatIfs: readonly Readonly<Record<string, unknown>>[];
  readonly nextCursor?: string;
}

describe('GET /v1/conversations/{id}/what-if', promise('G389'), () => {
  const PATH = '/v1/conversations/c-1/what-if';
  const begunIn = async ({ ask }: Awaited<ReturnType<typeof app>>, count: number) => {
    const ids: unknown[] = [];
    for (let nth = 1; nth <= count; nth += 1)
      ids.push((await bodyOf(await ask({ maxSteps: nth })))['whatIfId']);
    return ids.toReversed();
  };

  it('has those of the conversation, the newest first, in pages', async () => {
    const here = await app();
    const ids = await begunIn(here, 5);
    const read = async (query: string): Promise<Page> =>
      (await (await here.request(PATH + query)).json()) as Page;
    const { whatIfs, nextCursor } = await read('');
    expect(nextCursor).toBeUndefined();
    expect(whatIfs.map(({ whatIfId }) => whatIfId)).toEqual(ids);
    expect(whatIfs[0]).toEqual({
      ...{ whatIfId: ids[0], turnId: TURN, generation: 1, agent: 'support' },
      ...{ state: 'ended', reason: 'answered', stepCount: 0, usage: DONE.usage },
      begunAt: new Date(BEGUN_MS + 4_000).toISOString(),
      endedAt: new Date(BEGUN_MS + 60_000).toISOString(),
    });
    const paged: unknown[] = [];
    for (let query = '?limit=2'; query !== ''; ) {
      const page = await read(query);
      paged.push(...page.whatIfs.map(({ whatIfId }) => whatIfId));
      query = page.nextCursor === undefined ? '' : `?limit=2&cursor=${page.nextCursor}`;
    }
    expect(paged).toEqual(ids);
    // Both readings ask the server for each end once.
    expect(here.calls.filter(({ kind }) => kind === 'result')).toHaveLength(5);
    expect(here.calls.find(({ kind }) => kind === 'list')?.input).toBe(
      "WorkflowType = 'whatIf' AND WorkflowId STARTS_WITH 'what-if:default:c-1:'",
    );
  });

  it('has no result of one that runs, and nothing of an earlier conversation of the id', async () => {
    const startedAt = '2020-01-01T00:00:00.000Z';
    const memo = { startedAt, generation: 1, agent: 'support', turnId: TURN, digest: 'd' };
    const earlier = { workflowId: 'what-if:default:c-1:w-old', runId: 'r', memo };
    const others = [{ ...earlier, status: { name: 'COMPLETED' }, startTime: new Date() }];
    const here = await app({ others, status: 'RUNNING' });
    const [whatIfId] = await begunIn(here, 1);
    const { whatIfs } = (await bodyOf(await here.request(PATH))) as unknown as Page;
    expect(whatIfs).toEqual([
      {
        ...{ whatIfId, turnId: TURN, generation: 1, agent: 'support', state: 'running' },
        begunAt: new Date(BEGUN_MS).toISOString(),
      },
    ]);
  });

  it('shows what-ifs that began at one time once each, a page at a time', async () => {
    const { ask, starts } = await app();
    await ask({});
    const memo = starts[0]?.options['memo'];
    const startTime = new Date(BEGUN_MS);
    const ids = ['w-b', 'w-c', 'w-a'];
    const others = ids.map((id) => ({
      ...{ workflowId: `what-if:default:c-1:${id}`, runId: `r-${id}`, memo, startTime },
      ...{ status: { name: 'COMPLETED' }, closeTime: new Date(BEGUN_MS + 60_000) },
    }));
    const { request } = await app({ others });
    const seen: unknown[] = [];
    let query = '?limit=1';
    for (let page = 0; page < ids.length; page += 1) {
      const read = (await bodyOf(await request(PATH + query))) as unknown as Page;
      seen.push(...read.whatIfs.map(({ whatIfId }) => whatIfId));
      query = `?limit=1&cursor=${read.nextCursor ?? ''}`;
    }
    expect(seen).toEqual(['w-c', 'w-b', 'w-a']);
  });

  it.each([
    ['?cursor=nothing', '?cursor', 'must be the nextCursor of an earlier page'],
    ['?limit=0', '?limit', 'must be from 1 to 100'],
    ['?limit=101', '?limit', 'must be from 1 to 100'],
    ['?state=running', '?state', 'is not known here'],
  ])('refuses %s', async (query, path, message) => {
    const { request } = await app();
    const response = await request(PATH + query);
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ errors: [{ path, message }] });
  });

  it.each([
    ['may not read', { rights: ['send', 'cancel'] }, 403],
    ['may use this conversation only', { conversation: 'c-1' }, 200],
    ['is of another tenant', { tenants: ['beta'] }, 404],
  ] as const)('answers a caller who %s', async (_title, identity, status) => {
    const { request } = await app({ identity });
    expect((await request(PATH)).status).toBe(status);
  });
});

describe('POST /v1/conversations/{id}/what-if/{whatIfId}/cancel', promise('G389'), () => {
  const cancelled = async (given: Given, id?: string) => {
    const here = await app(given);
    const { whatIfId } = await bodyOf(await here.ask({}));
    const path = `/v1/conversations/c-1/what-if/${id ?? String(whatIfId)}/cancel`;
    const response = await here.post(path, {});
    const cancels = here.calls.filter(({ kind }) => kind === 'cancel');
    return { here, whatIfId, response, cancels, path };
  };

  it('asks the run to stop, once more at a repeat, and says when no worker has taken it', async () => {
    const { here, whatIfId, response, cancels, path } = await cancelled({ status: 'RUNNING' });
    expect(await bodyOf(response)).toEqual({ whatIfId, status: 'stopping' });
    expect(cancels).toMatchObject([{ options: { runId: 'run-1' } }]);
    expect((await here.post(path, {})).status).toBe(200);
    const waits = { state: 1, scheduledTime: { seconds: Date.now() / 1_000 - 60 } };
    const raw = { pendingWorkflowTask: waits };
    const waiting = await cancelled({ status: 'RUNNING', raw });
    expect(await bodyOf(waiting.response)).toMatchObject({
      ...{ status: 'stopping', warning: expect.stringContaining('No worker polls') as string },
    });
  });

  it('says how one has ended before', async () => {
    const { whatIfId, response, cancels } = await cancelled({});
    expect(await bodyOf(response)).toEqual({ whatIfId, status: 'over', state: 'ended' });
    expect(cancels).toEqual([]);
  });

  it('says that it had ended, where it ends meanwhile', async () => {
    let isOver = false;
    const given: Given = {
      status: () => (isOver ? 'COMPLETED' : 'RUNNING'),
      cancel: () => {
        isOver = true;
      },
    };
    const { response } = await cancelled(given);
    expect(await bodyOf(response)).toMatchObject({ status: 'over', state: 'ended' });
  });

  it.each(['x-1', 'a%20b'])('does not know any other: %s', async (id) => {
    const { response, cancels } = await cancelled({ status: 'RUNNING' }, id);
    expect(await problemOf(response)).toMatchObject({ code: 'unknown_what_if' });
    expect(cancels).toEqual([]);
  });

  it.each([
    ['may not cancel', { rights: ['read', 'send'] }, 403],
    ['may use this conversation only', { conversation: 'c-1' }, 200],
  ] as const)('answers a caller who %s', async (_title, identity, status) => {
    const { response, cancels } = await cancelled({ identity, status: 'RUNNING' });
    expect(response.status).toBe(status);
    expect(cancels).toHaveLength(status === 200 ? 1 : 0);
  });
});

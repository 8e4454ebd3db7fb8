/** Recorded turns that are played again over HTTP: who may ask for it, with which values, and what a repeat gets. */
import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import type { AgentSource } from '../../../src/client/index.js';
import { promise } from '../../support/promise.js';
import { problemOf } from '../../support/samples/problems.js';
import { SUPPORT, TURN } from '../../support/samples/sample-log.js';
import { app, bodyOf, DONE, type Given, log } from './setup.js';

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

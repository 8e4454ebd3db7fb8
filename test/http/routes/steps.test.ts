/** The client calls of a step over HTTP: offered as one continuation, returned as one set. */
import { describe, expect, it } from 'vitest';
import type { PlannedCall } from '../../../src/protocol/calls/plan.js';
import type { EventBody } from '../../../src/protocol/log/events.js';
import { toolPrepared } from '../../support/builders/call-ends.js';
import { gatedCall, modelCalls, plannedCall } from '../../support/builders/core-builders.js';
import { cancelTurn } from '../../support/builders/verbs.js';
import { noAnswer, refusal } from '../../support/fakes/fake-temporal.js';
import { promise } from '../../support/promise.js';
import { aMachineWith, type MachineUnderTest } from '../../support/schedules/core-driver.js';
import { type HttpApp, startHttpApp } from '../../support/servers/http-app.js';

const client = (id: string, more: Partial<PlannedCall> = {}): PlannedCall =>
  plannedCall(id, { executor: 'client', ...more });

/** Adds the machine's log to the store. */
function withLog(app: HttpApp, m: MachineUnderTest): { stepId: string; path: string } {
  app.reader.add('c-1', m.events);
  const { turn } = m.state;
  const stepId = `${turn?.turnId ?? ''}.${turn?.step ?? 0}`;
  return { stepId, path: `/v1/conversations/c-1/steps/${stepId}` };
}

function aStep(): MachineUnderTest {
  const m = aMachineWith(
    modelCalls([
      client('a', { preflight: true }),
      plannedCall('s'),
      gatedCall('b', { executor: 'client' }),
    ]),
  );
  return m.tool('s');
}

describe('the calls of a step', () => {
  it('are returned in the model’s order, with the outstanding work of the client', {
    ...promise('X11', 'X27', 'X28', 'X29', 'X30', 'X31', 'X33', 'X37'),
  }, async () => {
    const app = await startHttpApp();
    const m = aStep();
    toolPrepared(m.machine, 'a', { ok: true, payload: { url: '/x' }, argsDigest: 'sha256:p' });
    const { stepId, path } = withLog(app, m);
    const response = await app.request(`${path}/tool-calls`);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      conversationId: 'c-1',
      turnId: m.state.turn?.turnId,
      stepId,
      seq: m.events.length,
      ready: false,
      toolCalls: [
        {
          toolCallId: 'a',
          name: 'client.tool',
          argumentsJson: '{"of":"a"}',
          isServerTool: true,
          wasExecuted: true,
          requiresClientExecution: true,
          preparedPayload: { url: '/x' },
          waitsFor: 'client',
        },
        {
          toolCallId: 's',
          name: 'server.tool',
          argumentsJson: '{"of":"s"}',
          isServerTool: true,
          wasExecuted: true,
          requiresClientExecution: false,
          status: 'resolved',
          resultJson: '"done"',
        },
        {
          toolCallId: 'b',
          name: 'client.tool',
          argumentsJson: '{"of":"b"}',
          isServerTool: true,
          wasExecuted: true,
          requiresClientExecution: true,
          waitsFor: 'approval',
        },
      ],
    });
    const snapshot = await (await app.request('/v1/conversations/c-1')).json();
    expect(snapshot).toMatchObject({ turn: { stepId } });
  });

  it('are ready once all calls for the client wait for nothing else', async () => {
    const app = await startHttpApp();
    const m = aStep();
    const { path } = withLog(app, m);
    const add = (change: () => unknown): void => {
      const known = m.events.length;
      change();
      app.reader.add('c-1', m.events.slice(known));
    };
    const read = async (): Promise<unknown> =>
      await (await app.request(`${path}/tool-calls`)).json();
    const shown = (ready: boolean, waits: readonly string[]): object => ({
      ready,
      toolCalls: waits.map((waitsFor) => (waitsFor === '' ? {} : { waitsFor })),
    });
    expect(await read()).toMatchObject(shown(false, ['preflight', '', 'approval']));
    add(() => {
      toolPrepared(m.machine, 'a', { ok: true, payload: 1, argsDigest: 'sha256:p' });
    });
    add(() => m.resolve('b', { type: 'approve' }));
    expect(await read()).toMatchObject(shown(true, ['client', '', 'client']));
    add(() => m.resolve('a', { type: 'result', value: 1 }));
    expect(await read()).toMatchObject({
      ready: true,
      toolCalls: [{ requiresClientExecution: false, wasExecuted: true }, {}, {}],
    });
    add(() => cancelTurn(m.machine, {}));
    expect(await read()).toMatchObject({
      ready: false,
      toolCalls: [{ requiresClientExecution: false }, {}, { requiresClientExecution: false }],
    });
  });

  it('need no client when their run was ended from outside', async () => {
    const app = await startHttpApp();
    const m = aMachineWith(modelCalls([client('a')]));
    const { path } = withLog(app, m);
    const ended: EventBody = { type: 'run_ended', runId: 'r', status: 'terminated' };
    app.reader.add('c-1', [{ ...ended, seq: m.events.length + 1, at: m.clock.iso() }]);
    expect(await (await app.request(`${path}/tool-calls`)).json()).toMatchObject({
      ready: false,
      toolCalls: [{ requiresClientExecution: false }],
    });
  });

  it.each(['turn_chain0000001_1.9', 'turn_other_1.1', 'no-step'])(
    'are a 404 for %s, which has none',
    async (stepId) => {
      const app = await startHttpApp();
      withLog(app, aStep());
      const response = await app.request(`/v1/conversations/c-1/steps/${stepId}/tool-calls`);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ code: 'unknown_step' });
    },
  );
});

describe('the results of a step', () => {
  const RESULTS = '/v1/conversations/c-1/steps/turn_abc_1.1/tool-results';
  const results = [{ toolCallId: 'a', resultJson: '1', executionMs: 5 }];

  it('go to the conversation as one update, under the Idempotency-Key, with their sender', async () => {
    const accepted = {
      verdict: 'accepted',
      stepId: 'turn_abc_1.1',
      seq: 7,
      results: [{ verdict: 'accepted', toolCallId: 'a', seq: 7 }],
    };
    const app = await startHttpApp({ update: () => accepted });
    const body = { results, actor: { id: 'ann' } };
    const response = await app.post(RESULTS, body, { 'idempotency-key': 'k' });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ ...accepted, requestId: 'k' });
    expect(app.calls).toMatchObject([
      {
        name: 'resolveBatch',
        input: {
          stepId: 'turn_abc_1.1',
          results,
          requestId: 'k',
          actor: { id: 'ann', verified: false, channel: 'api' },
        },
      },
    ]);
  });

  it.each([
    [{ verdict: 'unknown', what: 'step' }, 404],
    [
      { verdict: 'not_ready', waiting: [{ toolCallId: 'b', name: 'x', waitsFor: 'approval' }] },
      409,
    ],
    [{ verdict: 'forbidden', faults: [{ path: '/results/0', verdict: 'forbidden' }] }, 403],
    [{ verdict: 'stale', faults: [] }, 409],
    [{ verdict: 'expired', faults: [{ path: '/results/0', verdict: 'expired' }] }, 410],
    [{ verdict: 'invalid', faults: [{ path: '/results', verdict: 'invalid' }] }, 422],
    [{ verdict: 'duplicate', first: { verdict: 'accepted', seq: 7 } }, 200],
  ])('are answered with the verdict %j', async (verdict, status) => {
    const app = await startHttpApp({
      update: () => {
        throw refusal('verdict', verdict);
      },
    });
    const response = await app.post(RESULTS, { results, requestId: 'r-1' });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject(verdict);
  });

  it.each([
    ['without a list', {}, '/results'],
    ['with an empty list', { results: [] }, '/results'],
    ['with a result of no call', { results: [{ resultJson: '1' }] }, '/results/0/toolCallId'],
    ['with an unknown field', { results: [{ ...results[0], x: 1 }] }, '/results/0/x'],
    [
      'with JSON in place of its text',
      { results: [{ toolCallId: 'a', resultJson: 1 }] },
      '/results/0/resultJson',
    ],
  ])('%s never reach the conversation', async (_what, body, path) => {
    const app = await startHttpApp();
    const response = await app.post(RESULTS, body);
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ verdict: 'invalid', errors: [{ path }] });
    expect(app.calls).toEqual([]);
  });

  it('are not left as a signal when no worker answers: their sender has to repeat them', async () => {
    const app = await startHttpApp({
      update: () => {
        throw noAnswer();
      },
    });
    const response = await app.post(RESULTS, { results });
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ code: 'no_worker' });
  });
});

/** Model calls and runs over HTTP: who may look, and what a wrong place gets. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Identity } from '../../../src/http/identity/identity.js';
import { createStoreReader } from '../../../src/projection/index.js';
import { auditText } from '../../../src/protocol/model/audits.js';
import { openSqliteStores } from '../../../src/store/sqlite/event-log.js';
import { TESTING } from '../../support/networks/test-identity.js';
import { promise } from '../../support/promise.js';
import { problemOf } from '../../support/samples/problems.js';
import { sampleLog, TURN } from '../../support/samples/sample-log.js';
import { startHttpApp } from '../../support/servers/http-app.js';

const KEY = { tenant: 'default', conversationId: 'c-1' };
/** Seq of the model call. */
const SEQ = 4;

/** The sample log up to its first model call. */
function logWithCall() {
  const before = sampleLog('c-1').slice(0, 3);
  const context = { tokens: 1, budget: 100, messages: 1 };
  const usage = { inputTokens: 1, outputTokens: 1 };
  const of = { turnId: TURN, step: 1, attempt: 1, model: 'm', finishReason: 'stop' };
  const at = '2026-01-01T00:00:02.000Z';
  return [...before, { type: 'model_call', seq: SEQ, at, ...of, usage, context } as const];
}

interface Set {
  readonly identity?: Partial<Identity>;
  readonly describe?: () => unknown;
  readonly temporalUi?: string;
}

async function app({ identity = {}, describe: described, temporalUi }: Set = {}) {
  const { log, blobs } = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => log.close());
  await log.append({ ...KEY, runId: 'r-1', events: logWithCall() });
  const reader = createStoreReader({ log, blobs, source: 'none' });
  const ui = temporalUi === undefined ? {} : { temporalUi };
  const started = await startHttpApp(
    described === undefined ? {} : { describe: described },
    { reader, identify: () => ({ ...TESTING, ...identity }), ...ui },
    { reader },
  );
  const ask = async (path: string) => await started.request(`/v1/conversations/${path}`);
  return { ask, log, blobs };
}

describe('GET /v1/conversations/{id}/model-calls/{seq}', promise('G397'), () => {
  it('answers with the audited request where there is one, and says which it is', async () => {
    const { ask, blobs } = await app();
    const derived = await (await ask(`c-1/model-calls/${SEQ}`)).json();
    expect(derived).toMatchObject({
      ...{ source: 'derived', generation: 1, seq: SEQ, turnId: TURN, agent: 'support', model: 'm' },
      request: { messages: [{ id: 'm_1' }] },
    });
    const call = { turnId: TURN, step: 1, attempt: 1, purpose: 'answer', outcome: 'answered' };
    const content = Buffer.from(auditText(call, { request: { system: 'S', messages: [] } }));
    await blobs.put(KEY, { type: 'application/json', content });
    const audited = await (await ask(`c-1/model-calls/${SEQ}?generation=1`)).json();
    expect(audited).toMatchObject({ source: 'audit', unknown: [], request: { system: 'S' } });
  });

  it('refuses places that are none, with the rule', async () => {
    const { ask } = await app();
    const missing = await problemOf(await ask('c-1/model-calls/2'));
    expect(missing).toMatchObject({ status: 404, code: 'not_found' });
    expect(missing.detail).toContain('must be the seq of an event "model_call"');
    expect((await ask(`c-1/model-calls/${SEQ}?generation=7`)).status).toBe(404);
    for (const place of ['x', '0', '-1', '4.5', '9'.repeat(30)]) {
      const response = await ask(`c-1/model-calls/${place}`);
      expect([place, response.status]).toEqual([place, 422]);
      expect(await response.json()).toMatchObject({ errors: [{ path: '/seq' }] });
    }
    expect((await ask(`c-1/model-calls/${SEQ}?generation=x`)).status).toBe(422);
    expect((await ask(`c-9/model-calls/${SEQ}`)).status).toBe(404);
  });

  it.each([
    ['may not read', { rights: ['send'] }, 403],
    ['may use this conversation only', { conversation: 'c-1' }, 403],
    ['is of another tenant', { tenants: ['beta'] }, 404],
  ] as const)('refuses a caller who %s', async (_title, identity, status) => {
    const { ask } = await app({ identity });
    expect((await ask(`c-1/model-calls/${SEQ}`)).status).toBe(status);
    expect((await ask('c-1/run')).status).toBe(status);
  });
});

const RUN = {
  ...{ workflowId: 'conversation:default:c-1', runId: 'r-1', status: { name: 'RUNNING' } },
  ...{ historyLength: 12, historySize: 3_400, startTime: new Date(0), raw: {} },
};

describe('GET /v1/conversations/{id}/run', () => {
  it('has the run, with its place in the Temporal UI where the API knows one', async () => {
    const { ask } = await app({ describe: () => RUN, temporalUi: 'http://127.0.0.1:8233/' });
    expect(await (await ask('c-1/run')).json()).toEqual({
      ...{ workflowId: RUN.workflowId, namespace: 'default', runId: 'r-1', status: 'running' },
      ...{ historyEvents: 12, historyBytes: 3_400, startedAt: '1970-01-01T00:00:00.000Z' },
      url: 'http://127.0.0.1:8233/namespaces/default/workflows/conversation%3Adefault%3Ac-1/r-1/history',
    });
    const without = await app({ describe: () => RUN });
    expect(await (await without.ask('c-1/run')).json()).not.toHaveProperty('url');
  });

  it('says that Temporal has no run any more, and nothing of a conversation that there is not', async () => {
    const { ask } = await app({ temporalUi: 'http://127.0.0.1:8233' });
    expect(await (await ask('c-1/run')).json()).toEqual({
      ...{ workflowId: RUN.workflowId, namespace: 'default', status: 'gone' },
    });
    expect((await ask('c-9/run')).status).toBe(404);
    expect((await ask('c-1/run?x=1')).status).toBe(422);
  });
});

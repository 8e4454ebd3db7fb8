/** Model calls and runs over HTTP: who may look, and what a wrong place gets. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Identity } from '../../../src/http/identity/identity.js';
import { createStoreReader } from '../../../src/projection/index.js';
import {
  definitionFinder,
  definitionKeeper,
} from '../../../src/projection/model-calls/definitions.js';
import type { UsedDefinition } from '../../../src/protocol/conversation/context.js';
import { auditText } from '../../../src/protocol/model/audits.js';
import type { ModelDefinition } from '../../../src/protocol/model/definitions.js';
import type { ModelCallRead } from '../../../src/protocol/model/model-calls.js';
import { openSqliteStores } from '../../../src/store/sqlite/event-log.js';
import { TESTING } from '../../support/networks/test-identity.js';
import { promise } from '../../support/promise.js';
import { problemOf } from '../../support/samples/problems.js';
import { sampleLog, TURN } from '../../support/samples/sample-log.js';
import { startHttpApp } from '../../support/servers/http-app.js';
import { until } from '../../support/until.js';

const KEY = { tenant: 'default', conversationId: 'c-1' };
/** Seq of the model call. */
const SEQ = 4;

/** The sample log up to its first model call. */
function logWithCall(definition?: UsedDefinition) {
  const before = sampleLog('c-1').slice(0, 3);
  const named = definition === undefined ? {} : { definition };
  const context = { tokens: 1, budget: 100, messages: 1, ...named };
  const usage = { inputTokens: 1, outputTokens: 1 };
  const of = { turnId: TURN, step: 1, attempt: 1, model: 'm', finishReason: 'stop' };
  const at = '2026-01-01T00:00:02.000Z';
  return [...before, { type: 'model_call', seq: SEQ, at, ...of, usage, context } as const];
}

interface Set {
  readonly identity?: Partial<Identity>;
  readonly describe?: () => unknown;
  readonly temporalUi?: string;
  /** Named by the model call. */
  readonly definition?: UsedDefinition;
}

async function app({ identity = {}, describe: described, temporalUi, definition }: Set = {}) {
  const { log, blobs, documents } = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => log.close());
  await log.append({ ...KEY, runId: 'r-1', events: logWithCall(definition) });
  const reader = createStoreReader({ log, blobs, documents, source: 'none' });
  const ui = temporalUi === undefined ? {} : { temporalUi };
  const started = await startHttpApp(
    described === undefined ? {} : { describe: described },
    { reader, identify: () => ({ ...TESTING, ...identity }), ...ui },
    { reader },
  );
  const ask = async (path: string) => await started.request(`/v1/conversations/${path}`);
  return { ask, log, blobs, documents };
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

describe('the request of a model call whose definition is kept', promise('G421'), () => {
  const given: ModelDefinition = { system: 'Help.', tools: [] };
  const warned: string[] = [];
  const logger = { info: () => undefined, warn: (line: string) => warned.push(line) };

  it('is whole, without an audit and without a worker', async () => {
    const { ask, documents } = await app({ definition: { digest: 'd1' } });
    const path = `c-1/model-calls/${SEQ}`;
    expect(await (await ask(path)).json()).toMatchObject({
      unknown: [{}, {}].map(() => expect.any(String) as string),
    });
    definitionKeeper(documents, { logger })({ agent: 'support', digest: 'd1' }, given);
    const read = async () => (await (await ask(path)).json()) as ModelCallRead;
    const whole = await until('it is kept', read, { holds: ({ unknown }) => unknown.length === 0 });
    expect(whole).toMatchObject({ source: 'derived', request: { ...given, messages: [{}] } });
    expect(whole).not.toHaveProperty('definition');
    expect(whole).not.toHaveProperty('isDefined');
  });

  it('has the definition beside it where parts were changed for the call', async () => {
    const changed = ['tools'] as const;
    const { ask, documents } = await app({ definition: { digest: 'd1', changed } });
    definitionKeeper(documents, { logger })({ agent: 'support', digest: 'd1' }, given);
    const read = async () => (await (await ask(`c-1/model-calls/${SEQ}`)).json()) as ModelCallRead;
    const found = await until('it is kept', read, { holds: (each) => 'definition' in each });
    expect(found).toMatchObject({ definition: given, request: { system: 'Help.' } });
    expect(found.request).not.toHaveProperty('tools');
  });

  it('has nothing of an agent that is a document of another tenant', promise('G422'), async () => {
    const { ask, documents } = await app({ definition: { digest: 'd1' } });
    const keep = definitionKeeper(documents, { logger });
    const of = (tenant: string) => ({ tenant, agent: 'support', digest: 'd1' });
    keep(of('beta'), { system: 'CANARY', tools: [] });
    const find = definitionFinder(documents);
    await until('it is kept', async () => await find(of('beta')));
    const text = await (await ask(`c-1/model-calls/${SEQ}`)).text();
    expect(text).not.toContain('CANARY');
    keep(of('default'), given);
    await until('it is kept', async () => await find(of('default')));
    expect(await (await ask(`c-1/model-calls/${SEQ}`)).json()).toMatchObject({ unknown: [] });
    expect(warned).toEqual([]);
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

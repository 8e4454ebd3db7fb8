/** A deploy with failing workflow code: the view of readers, callers and operators, and proof that nothing is lost. */
import { expect, inject, onTestFinished, test } from 'vitest';
import { createApp } from '../../../src/http/app.js';
import { serve } from '../../../src/http/listen.js';
import { calls, says, script } from '../../../src/model/scripted/scripted.js';
import { TroubleWatch } from '../../../src/projection/duties/trouble-watch.js';
import { Projector } from '../../../src/projection/projector/projector.js';
import { Sweep } from '../../../src/projection/projector/sweep.js';
import { createWorkflowSource } from '../../../src/projection/source/workflow-source.js';
import { badBundle } from '../../support/bad-deploys/index.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { identifyAll } from '../../support/networks/test-identity.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const REFUND = calls('payments.refund', { paymentId: 'p1', cents: 500 });

/** Runs one pass of a sweep and returns its log lines. */
async function swept(engine: Engine): Promise<readonly string[]> {
  const lines: string[] = [];
  const note = (message: string) => void lines.push(message);
  const logger = { info: note, warn: note };
  const { log, live } = engine.opened;
  const source = createWorkflowSource(engine.temporal);
  const projector = new Projector({ log, live, source });
  const troubles = new TroubleWatch({ log, logger });
  const sweep = new Sweep({ log, source, projector, logger, troubles });
  await until('the sweep leads', () => sweep.pass(), { holds: (report) => report !== undefined });
  await sweep.stop();
  return lines;
}

test('a conversation whose tasks fail is `failing` for every reader, takes answers and messages as signals, and continues after the next deploy', {
  ...promise('G20'),
  timeout: patient(120_000),
}, async () => {
  const services = ledger();
  const engine = await startEngine({
    agents: [shop(script(REFUND, says('Refunded'), says('Welcome')))],
    services,
    tuning: { workflowBundle: await badBundle('throws-after-answers') },
  });
  const talk = engine.begin();
  // Waits long enough for a busy machine to start a worker.
  const result = await (await talk.send('refund')).result({ timeout: '60s' });
  if (result.status !== 'waiting') throw new Error(`the turn is ${result.status}`);
  const [call] = result.pending;
  const key = { tenant: 'default', conversationId: talk.id };

  const first = await talk.resolve(call?.toolCallId ?? '', { type: 'approve' });
  expect(first).toMatchObject({ verdict: 'queued', reason: 'workflow_failing' });
  expect(first.warning).toContain('no such plan');
  expect(first.warning).not.toContain('npx colloquy worker');

  const source = createWorkflowSource(engine.temporal);
  const trouble = await until(
    'more than three attempts have failed',
    async () => (await source.describe(key))?.trouble,
    { holds: (found) => (found?.attempts ?? 0) > 3, timeoutMs: 60_000 },
  );
  expect(trouble).toMatchObject({ kind: 'failing', error: 'no such plan' });
  await engine.stopWorker();
  expect((await swept(engine)).join('\n')).toMatch(
    /default\/\S+ fails: \d+ attempts .*no such plan/,
  );
  expect(await talk.snapshot()).toMatchObject({
    status: 'failing',
    trouble: { was: 'awaiting_input', error: 'no such plan' },
  });
  const { conversations } = await engine.client.list({ status: 'failing' });
  expect(conversations.map(({ conversationId }) => conversationId)).toContain(talk.id);

  const { client, reader, opened } = engine;
  const app = createApp({ client, reader, conversations: opened.log, identify: identifyAll });
  const server = await serve(app, { port: 0, host: '127.0.0.1' });
  onTestFinished(() => server.close());
  const post = async (path: string, body: object): Promise<unknown> => {
    const response = await fetch(`${server.url}/v1/conversations/${talk.id}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { httpStatus: response.status, ...((await response.json()) as object) };
  };
  const resolution = `tool-calls/${call?.toolCallId ?? ''}/resolution`;
  const queued = { httpStatus: 202, reason: 'workflow_failing' };
  expect(await post(resolution, { type: 'deny' })).toMatchObject({ verdict: 'queued', ...queued });
  expect(await post('messages', { text: 'And now?', onBusy: 'queue' })).toMatchObject({
    status: 'queued',
    ...queued,
  });

  await engine.startWorker({ workflowBundle: { codePath: inject('workflowBundlePath') } });
  expect(await first.final({ timeout: '30s' })).toMatchObject({ verdict: 'accepted' });
  await until('both turns have ended', () => engine.snapshot(talk), {
    holds: ({ status, queued: waiting }) => status === 'idle' && waiting.length === 0,
  });
  expect(services.runs.map(({ name }) => name)).toEqual(['payments.refund']);
  await engine.log(talk);
  expect(await talk.snapshot()).not.toHaveProperty('trouble');
  await engine.stopWorker();
  // Marks are removed here, unless the worker's own sweep did it first.
  await swept(engine);
  // Other tests share the server and its reports.
  const marked = await engine.opened.log.troubles({ limit: 100 });
  expect(marked.map(({ conversationId }) => conversationId)).not.toContain(talk.id);
});

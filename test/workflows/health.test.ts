/** The health port of a worker on a real server: ready only while it polls and can store, and not while it drains. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { openColloquy } from '../../src/engine/open-colloquy.js';
import { calls, says, script } from '../../src/model/scripted/scripted.js';
import { openEventLog } from '../../src/projection/source/open-log.js';
import { createColloquyWorker } from '../../src/worker/create-worker.js';
import { ledger, shop } from '../support/engine/agents.js';
import { CONVERTER } from '../support/engine/engine.js';
import { breakable } from '../support/fakes/breakable-log.js';
import { promise } from '../support/promise.js';
import { temporaryFolder } from '../support/temporary.js';
import { until } from '../support/until.js';

interface Seen {
  readonly status: number;
  readonly body: { readonly status: string; readonly checks: Readonly<Record<string, string>> };
}

const tuning = () => ({
  workflowBundle: { codePath: inject('workflowBundlePath') },
  dataConverter: { payloadConverterPath: CONVERTER },
});

test('a worker is ready while it polls and can store, and says why it is not', {
  ...promise('G345'),
}, async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const services = ledger({ stock: () => held.then(() => ({ left: 3 })) });
  const temporal = { address: inject('temporalAddress'), namespace: 'default', options: {} };
  const opened = await openEventLog(join(temporaryFolder(), 'log.db'));
  onTestFinished(() => opened.close());
  const store = breakable(opened.log);
  const shared = { temporal, taskQueue: `test-${randomUUID()}` };
  const worker = await createColloquyWorker({
    ...shared,
    agents: [shop(script(calls('stock', { item: 'lamp' }), says('Three are left.')))],
    services,
    eventLog: { ...opened, log: store.log },
    health: { port: 0 },
    tuning: tuning(),
  });
  const url = worker.healthUrl ?? '';
  const look = async (path = '/readyz'): Promise<Seen> => {
    const response = await fetch(url + path);
    return { status: response.status, body: (await response.json()) as Seen['body'] };
  };
  expect(await look()).toEqual({
    status: 503,
    body: { status: 'not_ready', checks: { worker: 'starting' } },
  });
  const running = worker.run();
  const ready = { status: 'ready', checks: { temporal: 'ok', polling: 'ok', store: 'ok' } };
  await until('the worker is ready', look, { holds: ({ status }) => status === 200 });
  expect(await look()).toEqual({ status: 200, body: ready });

  store.isDown = true;
  expect(await look()).toEqual({
    status: 503,
    body: { status: 'not_ready', checks: { ...ready.checks, store: 'the disk is gone' } },
  });
  store.isDown = false;
  expect((await look()).status).toBe(200);

  const colloquy = await openColloquy({ store: opened, ...shared });
  onTestFinished(() => colloquy.close());
  await colloquy.client.conversation(randomUUID(), { agent: 'shop' }).send('hello');
  await until('the tool runs', () => services.runs.length > 0);
  worker.shutdown();
  // Not ready before it stops to poll, and alive until its running call has ended.
  expect(worker.worker.getState()).toBe('RUNNING');
  const { status, body } = await look();
  expect(status).toBe(503);
  expect(body.checks).toEqual({ worker: expect.stringMatching(/^draining/) as string });
  expect((await look('/healthz')).status).toBe(200);
  release();
  await running;
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
});

test('a worker that is shut down before it runs ends at once, and closes its health port', async () => {
  const worker = await createColloquyWorker({
    temporal: { address: inject('temporalAddress'), namespace: 'default', options: {} },
    taskQueue: `test-${randomUUID()}`,
    agents: [shop(script(says('hello')))],
    services: ledger(),
    eventLog: join(temporaryFolder(), 'log.db'),
    health: { port: 0 },
    tuning: tuning(),
  });
  const url = worker.healthUrl ?? '';
  worker.shutdown();
  // A drain without work is over by then.
  await new Promise(setImmediate);
  await worker.run();
  expect(worker.worker.getState()).toBe('STOPPED');
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
});

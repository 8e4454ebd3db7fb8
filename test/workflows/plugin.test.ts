/** `ColloquyPlugin` on a real server: agents run beside a worker that the application already has. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { NativeConnection, Worker, type WorkerPlugin } from '@temporalio/worker';
import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { openColloquy } from '../../src/engine/open-colloquy.js';
import { says, script } from '../../src/model/scripted/scripted.js';
import { ColloquyPlugin } from '../../src/worker/plugin.js';
import { ledger, shop } from '../support/engine/agents.js';
import { CONVERTER } from '../support/engine/engine.js';
import { temporaryFolder } from '../support/temporary.js';
import { until } from '../support/until.js';

function options() {
  const address = inject('temporalAddress');
  return {
    agents: [shop(script(says('hello')))],
    services: ledger(),
    eventLog: join(temporaryFolder(), 'log.db'),
    temporal: { address, namespace: 'default', options: {} },
    taskQueue: `test-${randomUUID()}`,
    shutdownGraceMs: 500,
    tuning: {
      workflowBundle: { codePath: inject('workflowBundlePath') },
      dataConverter: { payloadConverterPath: CONVERTER },
    },
  };
}

/** A worker of the application, with an activity of its own. */
async function ownWorker(
  plugin: ColloquyPlugin<unknown>,
  taskQueue = `own-${randomUUID()}`,
  others: readonly WorkerPlugin[] = [],
) {
  const connection = await NativeConnection.connect({ address: inject('temporalAddress') });
  // A worker that never ran does not close its connection.
  onTestFinished(() => connection.close().catch(() => undefined));
  const activities = { greet: async (name: string) => `Hello ${name}` };
  return await Worker.create({ connection, taskQueue, activities, plugins: [plugin, ...others] });
}

/** Makes the worker of the agents fail as the SDK does, once it is created and runs. */
function failingAgentsWorker(taskQueue: string): () => Promise<void> {
  const created = vi.spyOn(Worker, 'create');
  onTestFinished(() => {
    created.mockRestore();
  });
  return async () => {
    const find = () =>
      created.mock.settledResults
        .map(({ value }) => value as unknown)
        .find((worker) => worker instanceof Worker && worker.options.taskQueue === taskQueue);
    const found = await until('the worker of the agents runs', async () => find(), {
      holds: (worker) => (worker as Worker | undefined)?.getState() === 'RUNNING',
    });
    const { unexpectedErrorSubject } = found as {
      readonly unexpectedErrorSubject: { error(error: Error): void };
    };
    unexpectedErrorSubject.error(new Error('the poller of the agents failed'));
  };
}

test("agents are served while the application's worker runs, and no longer", async () => {
  const given = options();
  const plugin = new ColloquyPlugin(given);
  const worker = await ownWorker(plugin as ColloquyPlugin<unknown>);
  const running = worker.run();
  const { eventLog: store, taskQueue, temporal } = given;
  const colloquy = await openColloquy({ store, taskQueue, temporal });
  onTestFinished(() => colloquy.close());
  await until('the agent is known', async () => (await colloquy.log.agents()).length > 0);
  const conversation = colloquy.client.conversation(randomUUID(), { agent: 'shop' });
  const sent = await conversation.send('hi');
  expect(await sent.result({ timeout: '30s' })).toMatchObject({
    status: 'completed',
    text: 'hello',
  });
  worker.shutdown();
  await running;
  expect(worker.getState()).toBe('STOPPED');
  expect((await conversation.send('again')).status).toBe('queued');
});

test('a store that cannot be opened fails the run before the worker polls', async () => {
  const eventLog = temporaryFolder();
  const worker = await ownWorker(new ColloquyPlugin({ ...options(), eventLog }) as never);
  await expect(worker.run()).rejects.toThrow(eventLog);
});

test('the plugin refuses the task queue of the worker itself', async () => {
  const given = options();
  const worker = await ownWorker(new ColloquyPlugin(given) as never, given.taskQueue);
  await expect(worker.run()).rejects.toThrow(
    `ColloquyPlugin: task queue "${given.taskQueue}" is that of the worker itself`,
  );
});

test("a failure of the agents' worker shuts the application's worker down, and its run rejects with the reason", async () => {
  const given = options();
  const fail = failingAgentsWorker(given.taskQueue);
  const worker = await ownWorker(new ColloquyPlugin(given) as never);
  const rejected = expect(worker.run()).rejects.toThrow('the poller of the agents failed');
  await until("the application's worker runs", async () => worker.getState(), {
    holds: (state) => state === 'RUNNING',
  });
  await fail();
  await rejected;
  expect(worker.getState()).toBe('STOPPED');
});

test("the application's worker is shut down, too, when the agents' worker fails before it runs", async () => {
  const given = options();
  const fail = failingAgentsWorker(given.taskQueue);
  let begin: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const slow: WorkerPlugin = {
    name: 'slow',
    runWorker: async (worker, next) => {
      await held;
      await next(worker);
    },
  };
  // The last step of its end.
  const drained = vi.spyOn(Connection.prototype, 'close');
  onTestFinished(() => {
    drained.mockRestore();
  });
  const worker = await ownWorker(new ColloquyPlugin(given) as never, undefined, [slow]);
  const rejected = expect(worker.run()).rejects.toThrow('the poller of the agents failed');
  await fail();
  await until("the agents' worker has ended", async () => drained.mock.calls.length, {
    holds: (closed) => closed > 0,
  });
  expect(worker.getState()).toBe('INITIALIZED');
  begin();
  await rejected;
  expect(worker.getState()).toBe('STOPPED');
});

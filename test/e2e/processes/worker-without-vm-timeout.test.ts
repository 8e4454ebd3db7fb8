/**
 * Temporal's worker as the engine runs it: without a VM timeout for each step and without promise stack traces
 * (decision 28).
 */
import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EngineHistory } from '../../support/engine/history.js';
import { promise } from '../../support/promise.js';
import { type DevServer, startDevServer } from '../../support/servers/dev-server.js';
import { until } from '../../support/until.js';
import { type Command, start } from '../support/processes.js';
import { startWorld } from '../support/world.js';

const WORKER = new URL('../fixtures/broken/odd-worker.ts', import.meta.url).pathname;

let server: DevServer;
let client: Client;
beforeAll(async () => {
  server = await startDevServer();
  client = new Client({ connection: await Connection.connect({ address: server.address }) });
});
afterAll(async () => {
  await client.connection.close();
  await server.stop();
});

async function oddWorker(env: Readonly<Record<string, string>> = {}): Promise<Command> {
  const worker = start(process.execPath, [WORKER], {
    env: { TEMPORAL_ADDRESS: server.address, ...env },
  });
  await worker.prints(/ready/);
  return worker;
}

const begin = (type: string, taskQueue = 'odd') =>
  client.workflow.start(type, { taskQueue, workflowId: `${type}-${randomUUID()}` });

it('a failed task reports its stack trace; promises have none', {
  ...promise('G19'),
}, async () => {
  await oddWorker();
  const broken = await begin('breaks');
  const history = new EngineHistory(client);
  const failures = (): Promise<readonly unknown[]> =>
    history.failedTasks(broken.workflowId, broken.firstExecutionRunId);
  await until('a task has failed', async () => (await failures()).length);
  const { events } = await broken.fetchHistory();
  const failed = events?.find((event) => event.workflowTaskFailedEventAttributes != null);
  const { failure } = failed?.workflowTaskFailedEventAttributes ?? {};
  expect(failure?.message).toMatch(/undefined/);
  expect(failure?.stackTrace).toMatch(/TypeError: .*\n +at .*odd-workflows\.ts:\d+/);
  const waiting = await begin('waits');
  const length = async (): Promise<number> => (await waiting.describe()).historyLength;
  await until('it waits', length, { holds: (seen) => seen >= 5 });
  expect(await waiting.query('__stack_trace')).toBe('');
});

it('a workflow that never yields ends its worker, which names the run', {
  ...promise('G19'),
}, async () => {
  const worker = await oddWorker();
  const { firstExecutionRunId } = await begin('loops');
  expect(await worker.ended).toBe(1);
  expect(worker.stdout()).toMatch(
    new RegExp(`WorkflowStuck: A step of run ${firstExecutionRunId} has not come to an end in 2 s`),
  );
});

it("with the SDK's guards promises have traces, and a workflow that never yields fails its task alone", {
  ...promise('G19'),
}, async () => {
  const worker = await oddWorker({ SDK_GUARDS: 'on' });
  const loop = await begin('loops', 'odd-guarded');
  const history = new EngineHistory(client);
  await until('a task of the loop has failed', async () => {
    const failed = await history.failedTasks(loop.workflowId, loop.firstExecutionRunId);
    return failed.length;
  });
  await loop.terminate();
  const waiting = await begin('waits', 'odd-guarded');
  expect(await waiting.query('__stack_trace')).toMatch(/waits .*odd-workflows\.ts/);
  expect(worker.stdout()).not.toMatch(/WorkflowStuck/);
});

it("`colloquy worker` keeps the SDK's guards where the environment wants them", {
  ...promise('G19'),
}, async () => {
  const world = await startWorld({ env: { COLLOQUY_SDK_GUARDS: 'on' } });
  try {
    const talk = world.talk('guarded');
    await talk.begin('support', 'refund me, please');
    await talk.waitingCalls(3);
    const handle = world.temporal.workflow.getHandle(talk.workflowId);
    expect(await handle.query('__stack_trace')).toMatch(/at .*conversation/);
  } finally {
    await world.stop();
  }
});

// A task without commands, followed by a task that no worker took: a replay joins it with what came later, and once an
// update was accepted, no replay agrees with the history any more.
//     temporal server start-dev --headless
//     TEMPORAL_ADDRESS=127.0.0.1:7233 node reproduce.mjs
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';

const address = process.env.TEMPORAL_ADDRESS ?? '127.0.0.1:7233';
Runtime.install({
  logger: new DefaultLogger('ERROR'),
  telemetryOptions: { logging: { forward: {}, filter: 'ERROR' } },
});
const workflowsPath = fileURLToPath(new URL('./workflows.mjs', import.meta.url));
const taskQueue = `heartbeats-${process.pid}`;
const client = new Client({ connection: await Connection.connect({ address }) });
const connection = await NativeConnection.connect({ address });

async function withWorker(work) {
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowsPath,
    stickyQueueScheduleToStartTimeout: '1s',
  });
  return await worker.runUntil(work);
}

async function until(what, look) {
  for (let left = 600; left > 0; left -= 1) {
    if (await look()) return;
    await sleep(50);
  }
  throw new Error(`never: ${what}`);
}

const handle = await client.workflow.start('recorder', {
  workflowId: `recorder-${process.pid}`,
  taskQueue,
});
const eventsOf = async () => (await handle.fetchHistory()).events ?? [];
const count = async (attributes) =>
  (await eventsOf()).filter((event) => event[attributes] != null).length;

await withWorker(async () => {
  await until(
    'the workflow has begun',
    async () => (await count('workflowTaskCompletedEventAttributes')) === 1,
  );
  await handle.signal('note', 'one');
  await until(
    'it has seen a signal',
    async () => (await count('workflowTaskCompletedEventAttributes')) === 2,
  );
  console.log(
    `entries before the worker was lost: ${JSON.stringify(await handle.query('entries'))}`,
  );
});
// Waits at the server in a task that is scheduled right after the one above, and times out.
const finishing = handle.executeUpdate('finish');
await until(
  'the task is given up',
  async () => (await count('workflowTaskTimedOutEventAttributes')) > 0,
);
await handle.signal('note', 'two');
await withWorker(async () => {
  await finishing;
  await until('timers are started', async () => (await count('timerStartedEventAttributes')) > 0);
  console.log(`entries with the next worker: ${JSON.stringify(await handle.query('entries'))}`);
});
const error = await Worker.runReplayHistory({ workflowsPath }, await handle.fetchHistory()).then(
  () => undefined,
  (reason) => reason,
);
await handle.terminate();
console.log(
  error === undefined
    ? 'replays'
    : (/\[TMPRL1100\][^"]*/.exec(String(error))?.[0] ?? String(error)),
);
process.exit(error === undefined ? 0 : 1);

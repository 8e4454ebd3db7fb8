// A query that waited for a worker is answered while a task of the run is started and lost: the workflow decides on what no
// task has recorded, and no replay agrees with the history any more. The server needs more than one partition, as real
// ones have, so that the task may be taken before older queries:
//     temporal server start-dev --headless --dynamic-config-value matching.numTaskqueueReadPartitions=8 \
//       --dynamic-config-value matching.numTaskqueueWritePartitions=8
//     TEMPORAL_ADDRESS=127.0.0.1:7233 node reproduce.mjs
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';

const address = process.env.TEMPORAL_ADDRESS ?? '127.0.0.1:7233';
const TRIES = 20;
const QUERIES = 8;
/** A worker that stops still polls for a while, and a query goes to the worker that held the run first. */
const SETTLE_MS = 1_500;

Runtime.install({
  logger: new DefaultLogger('ERROR'),
  telemetryOptions: { logging: { forward: {}, filter: 'ERROR' } },
});
const workflowsPath = fileURLToPath(new URL('./workflows.mjs', import.meta.url));
const connection = await NativeConnection.connect({ address });
const clientConnection = await Connection.connect({ address });
const client = new Client({ connection: clientConnection });

async function withWorker(taskQueue, work) {
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

/** Takes the task of the run as a worker that dies with it. Resolves with false when it comes after all queries. */
async function loseTask(handle, taskQueue) {
  for (let left = QUERIES; ; left -= 1) {
    const task = await clientConnection.withDeadline(Date.now() + 10_000, () =>
      client.workflowService.pollWorkflowTaskQueue({
        namespace: 'default',
        taskQueue: { name: taskQueue },
        identity: 'lost',
      }),
    );
    if (task.workflowExecution?.workflowId !== handle.workflowId) left += 1;
    else if (task.query == null) return left > 0;
  }
}

async function attempt(number) {
  const taskQueue = `queries-${process.pid}-${number}`;
  const handle = await client.workflow.start('recorder', {
    workflowId: taskQueue,
    taskQueue,
    workflowTaskTimeout: '3s',
  });
  const events = async () => (await handle.fetchHistory()).events ?? [];
  const timers = async () =>
    (await events()).filter((event) => event.timerStartedEventAttributes != null).length;
  await withWorker(taskQueue, async () => {
    await handle.signal('note', 'zero');
    await until('a timer is started', async () => (await timers()) === 1);
  });
  await sleep(SETTLE_MS);
  const answers = Array.from({ length: QUERIES }, () =>
    client.withDeadline(Date.now() + 30_000, () => handle.query('entries')).catch(() => undefined),
  );
  await sleep(SETTLE_MS);
  await handle.signal('note', 'one');
  if (!(await loseTask(handle, taskQueue))) return undefined;
  await withWorker(taskQueue, async () => {
    const found = await Promise.race([...answers, sleep(10_000)]);
    console.log(
      `try ${number}: a query is answered ${JSON.stringify(found)} while the task is lost`,
    );
    await handle.signal('note', 'two');
    await until('timers are started', async () => (await timers()) > 1);
    await sleep(SETTLE_MS);
  });
  const error = await Worker.runReplayHistory({ workflowsPath }, await handle.fetchHistory()).then(
    () => undefined,
    (reason) => reason,
  );
  await handle.terminate();
  return error;
}

for (let number = 1; number <= TRIES; number += 1) {
  const error = await attempt(number);
  if (error === undefined) continue;
  console.log(/\[TMPRL1100\][^"]*/.exec(String(error))?.[0] ?? String(error));
  process.exit(1);
}
console.log(`${TRIES} tries, and every history replays`);
process.exit(0);

// A query comes with the task that starts a local activity, which ends while the query is answered: the task is completed with a
// marker of what the workflow has not been given, and no replay agrees with the history.
//     temporal server start-dev --headless
//     TEMPORAL_ADDRESS=127.0.0.1:7233 node reproduce.mjs
// `node reproduce.mjs --no-query` does the same without the query.
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';

const address = process.env.TEMPORAL_ADDRESS ?? '127.0.0.1:7233';
const hasQuery = !process.argv.includes('--no-query');

Runtime.install({
  logger: new DefaultLogger('ERROR'),
  telemetryOptions: { logging: { forward: {}, filter: 'ERROR' } },
});
const workflowsPath = fileURLToPath(new URL('./workflows.mjs', import.meta.url));
const taskQueue = `local-${process.pid}`;
const client = new Client({ connection: await Connection.connect({ address }) });
const connection = await NativeConnection.connect({ address });

let tellLooked;
const looked = new Promise((resolve) => {
  tellLooked = resolve;
});
const activities = {
  look: async () => {
    tellLooked();
  },
  act: async () => {},
};

async function withWorker(work) {
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowsPath,
    activities,
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

const handle = await client.workflow.start('reader', {
  workflowId: `reader-${process.pid}`,
  taskQueue,
});
const count = async (attributes) =>
  ((await handle.fetchHistory()).events ?? []).filter((event) => event[attributes] != null).length;

await withWorker(() =>
  until(
    'the workflow has begun',
    async () => (await count('workflowTaskCompletedEventAttributes')) === 1,
  ),
);
// A query of a run that has a task to do comes with that task.
await handle.signal('read');
const answered = hasQuery ? handle.query('slow') : Promise.resolve();
await sleep(500);
await withWorker(async () => {
  await looked;
  await handle.signal('wait');
  await answered;
  await until('a timer is started', async () => (await count('timerStartedEventAttributes')) === 1);
  await until(
    'the workflow has acted',
    async () => (await count('activityTaskCompletedEventAttributes')) === 1,
  );
});
for (const event of (await handle.fetchHistory()).events ?? []) {
  const [kind] = Object.entries(event).find(
    ([name, value]) => name.endsWith('EventAttributes') && value != null,
  );
  console.log(`${event.eventId} ${kind.replace('EventAttributes', '')}`);
}
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

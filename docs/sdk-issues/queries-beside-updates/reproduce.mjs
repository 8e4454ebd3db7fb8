// A query that waited for a worker is answered while another worker has a task of the run that carries an update: when that worker
// has accepted the update, the next task of the run fails in the first. The server needs more than one partition, as real ones
// have, so that the task may be taken before older queries:
//     temporal server start-dev --headless --dynamic-config-value matching.numTaskqueueReadPartitions=8 \
//       --dynamic-config-value matching.numTaskqueueWritePartitions=8
//     TEMPORAL_ADDRESS=127.0.0.1:7233 node reproduce.mjs
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';

const { enums, update } = proto.temporal.api;
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
const service = client.workflowService;

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
    const seen = await look();
    if (seen) return seen;
    await sleep(50);
  }
  throw new Error(`never: ${what}`);
}

/** Takes the task of the run as another worker. Resolves with nothing when it comes after all queries. */
async function takeTask(handle, taskQueue) {
  for (let left = QUERIES; ; left -= 1) {
    const task = await clientConnection.withDeadline(Date.now() + 10_000, () =>
      service.pollWorkflowTaskQueue({
        namespace: 'default',
        taskQueue: { name: taskQueue },
        identity: 'other',
      }),
    );
    if (task.workflowExecution?.workflowId !== handle.workflowId) left += 1;
    else if (task.query == null) return left > 0 ? task : undefined;
  }
}

/** Accepts the update that came with the task, and completes it, as the workflow would. */
async function acceptUpdate({ taskToken, messages: [request] }) {
  const { protocolInstanceId } = request;
  const acceptedRequest = update.v1.Request.decode(request.body.value);
  const message = (name, value) => ({
    id: `${protocolInstanceId}/${name.toLowerCase()}`,
    protocolInstanceId,
    body: {
      type_url: `type.googleapis.com/temporal.api.update.v1.${name}`,
      value: update.v1[name].encode(value).finish(),
    },
  });
  const { meta } = acceptedRequest;
  const messages = [
    message('Acceptance', {
      acceptedRequestMessageId: request.id,
      acceptedRequestSequencingEventId: request.eventId,
      acceptedRequest,
    }),
    message('Response', { meta, outcome: { success: {} } }),
  ];
  await service.respondWorkflowTaskCompleted({
    namespace: 'default',
    taskToken,
    identity: 'other',
    messages,
    commands: messages.map(({ id }) => ({
      commandType: enums.v1.CommandType.COMMAND_TYPE_PROTOCOL_MESSAGE,
      protocolMessageCommandAttributes: { messageId: id },
    })),
  });
}

async function attempt(number) {
  const taskQueue = `updates-${process.pid}-${number}`;
  const handle = await client.workflow.start('recorder', { workflowId: taskQueue, taskQueue });
  const events = async () => (await handle.fetchHistory()).events ?? [];
  const completed = async () =>
    (await events()).filter((event) => event.workflowTaskCompletedEventAttributes != null).length;
  await withWorker(taskQueue, () =>
    until('the workflow has begun', async () => (await completed()) === 1),
  );
  await sleep(SETTLE_MS);
  const answers = Array.from({ length: QUERIES }, () =>
    client.withDeadline(Date.now() + 30_000, () => handle.query('entries')).catch(() => undefined),
  );
  await sleep(SETTLE_MS);
  const updated = handle.executeUpdate('add', { args: ['one'] });
  const task = await takeTask(handle, taskQueue);
  if (task === undefined) {
    updated.catch(() => undefined);
    await handle.terminate();
    return undefined;
  }
  const failure = await withWorker(taskQueue, async () => {
    const found = await Promise.race([...answers, sleep(10_000)]);
    console.log(`try ${number}: a query is answered ${JSON.stringify(found)} beside the update`);
    await acceptUpdate(task);
    await updated;
    await handle.signal('note', 'two');
    return await until('the task of the signal has ended', async () => {
      const after = await events();
      const failed = after.find((event) => event.workflowTaskFailedEventAttributes != null);
      if (failed !== undefined) return failed.workflowTaskFailedEventAttributes.failure;
      return (await completed()) > 2 ? { message: '' } : undefined;
    });
  });
  await handle.terminate();
  return failure.message === '' ? undefined : failure.message;
}

for (let number = 1; number <= TRIES; number += 1) {
  const message = await attempt(number);
  if (message === undefined) continue;
  console.log(/\[TMPRL1100\][^"]*/.exec(message)?.[0] ?? message);
  process.exit(1);
}
console.log(`${TRIES} tries, and no task failed`);
process.exit(0);

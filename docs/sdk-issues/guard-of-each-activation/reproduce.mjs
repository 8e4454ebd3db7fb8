// CPU of replaying one history, with the time limit that the SDK gives to each call of the sandbox and without it.
// It needs no server:
//     node reproduce.mjs
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker } from '@temporalio/worker';

const TIMERS = 1_500;
const REPLAYS = 3;

Runtime.install({ logger: new DefaultLogger('ERROR') });

class WorkerWithoutVmTimeout extends Worker {
  static async createWorkflowCreator(bundle, options, logger) {
    const { isolateExecutionTimeoutMs: _, ...rest } = options;
    return await super.createWorkflowCreator(bundle, rest, logger);
  }
}

const logger = new DefaultLogger('ERROR');
const workflowBundle = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(new URL('./workflows.mjs', import.meta.url)),
  logger,
});
/** The history of a workflow that waits for so many timers, one after the other. */
function historyOf(timers) {
  const events = [];
  const add = (eventType, attributes) => {
    const eventId = events.length + 1;
    events.push({
      eventId: `${eventId}`,
      eventTime: new Date(eventId).toISOString(),
      eventType,
      ...attributes,
    });
    return `${eventId}`;
  };
  const task = () => {
    const scheduledEventId = add('EVENT_TYPE_WORKFLOW_TASK_SCHEDULED', {
      workflowTaskScheduledEventAttributes: { taskQueue: { name: 'queue' }, attempt: 1 },
    });
    const startedEventId = add('EVENT_TYPE_WORKFLOW_TASK_STARTED', {
      workflowTaskStartedEventAttributes: { scheduledEventId },
    });
    return add('EVENT_TYPE_WORKFLOW_TASK_COMPLETED', {
      workflowTaskCompletedEventAttributes: { scheduledEventId, startedEventId },
    });
  };
  const count = { metadata: { encoding: btoa('json/plain') }, data: btoa(`${timers}`) };
  add('EVENT_TYPE_WORKFLOW_EXECUTION_STARTED', {
    workflowExecutionStartedEventAttributes: {
      workflowType: { name: 'timers' },
      taskQueue: { name: 'queue' },
      input: { payloads: [count] },
      originalExecutionRunId: 'run',
      firstExecutionRunId: 'run',
      workflowTaskTimeout: '10s',
      attempt: 1,
    },
  });
  for (let timer = 1; timer <= timers; timer += 1) {
    const workflowTaskCompletedEventId = task();
    const startedEventId = add('EVENT_TYPE_TIMER_STARTED', {
      timerStartedEventAttributes: {
        timerId: `${timer}`,
        startToFireTimeout: '0.001s',
        workflowTaskCompletedEventId,
      },
    });
    add('EVENT_TYPE_TIMER_FIRED', {
      timerFiredEventAttributes: { timerId: `${timer}`, startedEventId },
    });
  }
  const workflowTaskCompletedEventId = task();
  add('EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED', {
    workflowExecutionCompletedEventAttributes: { workflowTaskCompletedEventId },
  });
  return { events };
}

const history = historyOf(TIMERS);

async function measure(Class) {
  const before = process.cpuUsage();
  const startedAt = performance.now();
  for (let replay = 0; replay < REPLAYS; replay += 1)
    await Class.runReplayHistory({ workflowBundle }, history);
  const { user, system } = process.cpuUsage(before);
  const ms = (value) => Math.round(value / REPLAYS);
  return `${ms((user + system) / 1_000)} ms of CPU, ${ms(performance.now() - startedAt)} ms each`;
}
await measure(Worker);
console.log(`${history.events.length} events, ${REPLAYS} replays`);
console.log(`with the limit:    ${await measure(Worker)}`);
console.log(`without the limit: ${await measure(WorkerWithoutVmTimeout)}`);
process.exit(0);

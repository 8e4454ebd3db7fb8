// CPU of replaying one history, with the stack trace that the SDK takes for each promise and without it. Without: a module
// that is preloaded makes errors that are given no message, as those of the hook, have no trace.
// It needs no server:
//     node reproduce.mjs
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker } from '@temporalio/worker';

const TIMERS = 1_500;
const REPLAYS = 3;

Runtime.install({ logger: new DefaultLogger('ERROR') });
const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const bundle = (preloadModules) =>
  bundleWorkflowCode({
    workflowsPath: path('./workflows.mjs'),
    preloadModules,
    logger: new DefaultLogger('ERROR'),
  });
const traced = await bundle([]);
const untraced = await bundle([path('./untraced.mjs')]);

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

async function measure(workflowBundle) {
  const before = process.cpuUsage();
  for (let replay = 0; replay < REPLAYS; replay += 1)
    await Worker.runReplayHistory({ workflowBundle }, history);
  const { user, system } = process.cpuUsage(before);
  return `${Math.round((user + system) / 1_000 / REPLAYS)} ms of CPU each`;
}
await measure(traced);
console.log(`${history.events.length} events, ${REPLAYS} replays`);
console.log(`with traces:    ${await measure(traced)}`);
console.log(`without traces: ${await measure(untraced)}`);
process.exit(0);

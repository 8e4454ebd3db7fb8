// Signals that any client may send, and that fail the task of the workflow which receives them, in each attempt. Replays a
// history with one such signal; it needs no server:
//     node reproduce.mjs
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker } from '@temporalio/worker';

Runtime.install({
  logger: new DefaultLogger('ERROR', () => undefined),
  telemetryOptions: { logging: { forward: {}, filter: 'ERROR' } },
});
const workflowBundle = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(new URL('./workflows.mjs', import.meta.url)),
  logger: new DefaultLogger('ERROR'),
});

const SIGNALS = {
  'a text as JSON': { metadata: { encoding: btoa('json/plain') }, data: btoa('"hello"') },
  'broken JSON': { metadata: { encoding: btoa('json/plain') }, data: btoa('{"text": ') },
  'a foreign encoding': { metadata: { encoding: btoa('binary/other') }, data: btoa('xyz') },
  'a reference to external storage': {
    metadata: {
      encoding: btoa('json/protobuf'),
      messageType: btoa('temporal.api.sdk.v1.ExternalStorageReference'),
    },
    data: btoa('{"driverName": "s3", "claimData": {"key": "k"}}'),
  },
};

/** The history of a workflow that has received one signal with this payload. */
function historyWith(payload) {
  const events = [];
  const add = (eventType, attributes) => {
    const eventId = `${events.length + 1}`;
    const eventTime = new Date(events.length + 1).toISOString();
    events.push({ eventId, eventTime, eventType, ...attributes });
    return eventId;
  };
  const task = () => {
    const scheduledEventId = add('EVENT_TYPE_WORKFLOW_TASK_SCHEDULED', {
      workflowTaskScheduledEventAttributes: { taskQueue: { name: 'queue' }, attempt: 1 },
    });
    const startedEventId = add('EVENT_TYPE_WORKFLOW_TASK_STARTED', {
      workflowTaskStartedEventAttributes: { scheduledEventId },
    });
    add('EVENT_TYPE_WORKFLOW_TASK_COMPLETED', {
      workflowTaskCompletedEventAttributes: { scheduledEventId, startedEventId },
    });
  };
  add('EVENT_TYPE_WORKFLOW_EXECUTION_STARTED', {
    workflowExecutionStartedEventAttributes: {
      workflowType: { name: 'recorder' },
      taskQueue: { name: 'queue' },
      originalExecutionRunId: 'run',
      firstExecutionRunId: 'run',
      workflowTaskTimeout: '10s',
      attempt: 1,
    },
  });
  task();
  add('EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED', {
    workflowExecutionSignaledEventAttributes: {
      signalName: 'note',
      input: { payloads: [payload] },
    },
  });
  task();
  return { events };
}

let failed = 0;
for (const [name, payload] of Object.entries(SIGNALS)) {
  try {
    await Worker.runReplayHistory({ workflowBundle }, historyWith(payload));
    console.log(`${name}: taken`);
  } catch (error) {
    failed += 1;
    const [, reason = error.message] = /message: "([^"]*)"/.exec(error.message) ?? [];
    console.log(`${name}: the task fails: ${reason}`);
  }
}
process.exit(failed > 0 ? 1 : 0);

/** Trouble of a run, by its description and the end of its history. */
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { DefaultFailureConverter, defaultPayloadConverter } from '@temporalio/common';
import proto from '@temporalio/proto';
import { expect, test } from 'vitest';
import { troubleOf } from '../../../../src/client/temporal/find-trouble.js';
import { promise } from '../../../support/promise.js';

const { WorkflowTaskFailedCause: Cause } = proto.temporal.api.enums.v1;

const FAILED = { workflowTaskFailedEventAttributes: { failure: { message: 'boom' } } };
const COMPLETED = { workflowTaskCompletedEventAttributes: {} };
const SIGNALED = { workflowExecutionSignaledEventAttributes: {} };
const SCHEDULED = { workflowTaskScheduledEventAttributes: {} };

/** A run whose task is at this attempt, and the events of its history, newest first. */
async function troubleAt(attempt: number, events: readonly object[]) {
  const raw = { pendingWorkflowTask: { attempt, scheduledTime: { seconds: 1, nanos: 0 } } };
  const run = { raw, runId: 'run-1', workflowId: 'w', status: { name: 'RUNNING' } };
  const client = {
    options: {
      namespace: 'default',
      loadedDataConverter: {
        payloadConverter: defaultPayloadConverter,
        failureConverter: new DefaultFailureConverter(),
        payloadCodecs: [],
      },
    },
    workflowService: {
      getWorkflowExecutionHistoryReverse: () => Promise.resolve({ history: { events } }),
    },
  };
  return await troubleOf(
    client as unknown as Client,
    run as unknown as WorkflowExecutionDescription,
  );
}

test(
  'a run that fails is failing at the first attempt after a signal, too',
  promise('G20'),
  async () => {
    const events = [SCHEDULED, SIGNALED, FAILED, SCHEDULED, COMPLETED];
    expect(await troubleAt(1, events)).toMatchObject({
      kind: 'failing',
      attempts: 1,
      error: 'boom',
    });
  },
);

test('the error of a run is that of its code, not that of a task which the server failed', async () => {
  const cause = Cause.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW;
  const reset = { workflowTaskFailedEventAttributes: { cause, failure: { message: 'reset' } } };
  expect(await troubleAt(3, [SCHEDULED, reset, FAILED, SCHEDULED, COMPLETED])).toMatchObject({
    error: 'boom',
  });
});

test('a run is not failing at the first attempt of a task after one that was completed', async () => {
  expect(await troubleAt(1, [SCHEDULED, COMPLETED, FAILED])).toBeUndefined();
});

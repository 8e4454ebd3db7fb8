/** Trouble of a run, by its description and the end of its history. */
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { DefaultFailureConverter, defaultPayloadConverter } from '@temporalio/common';
import { expect, test } from 'vitest';
import { troubleOf } from '../../../../src/client/temporal/find-trouble.js';
import { promise } from '../../../support/promise.js';

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

test('a run is not failing at the first attempt of a task after one that was completed', async () => {
  expect(await troubleAt(1, [SCHEDULED, COMPLETED, FAILED])).toBeUndefined();
});

import proto from '@temporalio/proto';
import { describe, expect, test } from 'vitest';
import { type PendingTask, troubleIn } from '../../../../src/client/trouble/judge.js';
import { promise } from '../../../support/promise.js';

const { WorkflowTaskFailedCause: Cause, TimeoutType } = proto.temporal.api.enums.v1;

const at = (second: number) => ({ seconds: second, nanos: 500_000_000 }) as never;
const task = (attempt: number): PendingTask => ({
  runId: 'run-1',
  attempt,
  scheduledAt: '2030-01-01T00:00:00.000Z',
});
const failed = (
  second: number,
  message = 'boom',
  cause = Cause.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE,
) => ({
  eventTime: at(second),
  workflowTaskFailedEventAttributes: { cause, failure: { message } },
});
const timedOut = (second: number, timeoutType = TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE) => ({
  eventTime: at(second),
  workflowTaskTimedOutEventAttributes: { timeoutType },
});
const completed = { eventTime: at(0), workflowTaskCompletedEventAttributes: {} };
const signaled = { eventTime: at(5), workflowExecutionSignaledEventAttributes: {} };
const scheduled = { eventTime: at(5), workflowTaskScheduledEventAttributes: {} };

describe('trouble of a run', () => {
  test('is failing where an attempt failed, with its first line and all attempts that the server counts', () => {
    const events = [
      scheduled,
      failed(7, 'boom\nat line 2'),
      scheduled,
      completed,
      failed(1, 'old'),
    ];
    expect(troubleIn(task(5), events)).toEqual({
      kind: 'failing',
      runId: 'run-1',
      attempts: 4,
      since: '1970-01-01T00:00:07.500Z',
      error: 'boom',
    });
  });

  test('adds the attempts before a signal made the server count from one again, and has the newest error', {
    ...promise('G20'),
  }, () => {
    const events = [failed(9, 'new'), scheduled, signaled, failed(3, 'first'), completed];
    expect(troubleIn(task(2), events)).toMatchObject({
      attempts: 2,
      since: '1970-01-01T00:00:03.500Z',
      error: 'new',
    });
    expect(troubleIn(task(1), events)).toMatchObject({ attempts: 2 });
    expect(troubleIn(task(4), events)).toMatchObject({ attempts: 4 });
  });

  test('is slow where attempts only timed out', promise('G20'), () => {
    const events = [scheduled, timedOut(4), scheduled, completed];
    const found = troubleIn(task(5), events);
    expect(found).toMatchObject({ kind: 'slow', attempts: 4 });
    expect(found).not.toHaveProperty('error');
  });

  test('is none where no attempt failed since a task was completed', () => {
    expect(troubleIn(task(1), [scheduled, completed, failed(1)])).toBeUndefined();
    expect(troubleIn(task(0), [completed])).toBeUndefined();
  });

  test.each([
    [
      'an input came while the task was completed',
      Cause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND,
    ],
    [
      'an update came while the task was completed',
      Cause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_UPDATE,
    ],
    ['the run was reset', Cause.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW],
  ])('does not count a task that the server failed because %s', (_, cause) => {
    expect(troubleIn(task(1), [scheduled, failed(3, 'server', cause), completed])).toBeUndefined();
  });

  test('does not count a task that waited for a worker without result', () => {
    const waited = timedOut(4, TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_START);
    expect(troubleIn(task(1), [scheduled, waited, scheduled, completed])).toBeUndefined();
  });
});

/** Finds out whether the workflow tasks of a conversation never complete. Needs the server only, no worker. */
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { firstLineOf, type Trouble } from '../../protocol/values/trouble.js';
import { isoOf } from '../history/times.js';
import { decodedError } from '../history/values.js';
import { failureIn, type PendingTask, troubleIn } from '../trouble/judge.js';
import { isOpenRun } from './executions.js';

/** Events of the history that are read: each failed task is two, and so is the event that made the server try anew. */
const PAGE = 20;

/**
 * Set by servers that count failed tasks themselves (1.30 and newer), and removed by the next task that is completed.
 */
export const REPORTED_PROBLEMS = 'TemporalReportedProblems';

/**
 * The trouble of a run that was described, however few attempts failed; undefined when its tasks are completed. Reads
 * the end of the history if a task is pending: the attempts of the task begin at one with each signal.
 * @throws errors of the server. Callers set the deadline.
 */
export async function troubleOf(
  temporal: Client,
  run: WorkflowExecutionDescription,
): Promise<Trouble | undefined> {
  const task = isOpenRun(run) ? pendingTaskOf(run) : undefined;
  if (task === undefined) return undefined;
  const { history } = await temporal.workflowService.getWorkflowExecutionHistoryReverse({
    namespace: temporal.options.namespace,
    execution: { workflowId: run.workflowId, runId: run.runId },
    maximumPageSize: PAGE,
  });
  const events = history?.events ?? [];
  const found = troubleIn(task, events);
  if (found?.kind !== 'failing') return found;
  // A codec may have encoded the message.
  const { failure } = failureIn(events) ?? {};
  const error = await decodedError(temporal.options.loadedDataConverter, failure);
  return error === undefined ? found : { ...found, error: firstLineOf(error.message) };
}

function pendingTaskOf({ raw, runId }: WorkflowExecutionDescription): PendingTask | undefined {
  const { pendingWorkflowTask: task } = raw;
  if (task == null) return undefined;
  const scheduled = task.originalScheduledTime ?? task.scheduledTime;
  return {
    runId,
    attempt: task.attempt ?? 0,
    scheduledAt: isoOf(scheduled, 'originalScheduledTime'),
  };
}

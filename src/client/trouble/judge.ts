/** Judges by the end of a history whether workflow tasks never complete. Pure. */
import proto, { type temporal } from '@temporalio/proto';
import { firstLineOf, type Trouble } from '../../protocol/values/trouble.js';
import { msOf } from '../history/times.js';

const { WorkflowTaskFailedCause, TimeoutType } = proto.temporal.api.enums.v1;

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;
type FailedTask = NonNullable<HistoryEvent['workflowTaskFailedEventAttributes']>;

/** The pending task of the current run, by `describe`. */
export interface PendingTask {
  readonly runId: string;
  /** Attempt of the pending workflow task, from 1; 0 when none is pending. */
  readonly attempt: number;
  /** ISO 8601; when the pending task was scheduled first. */
  readonly scheduledAt: string;
}

/**
 * Causes that are not a fault of the workflow's code: the server makes a new task at once, because an event arrived
 * while the task was completed, because the run was reset, or because it moved to another cluster.
 */
const HARMLESS_CAUSES: readonly number[] = [
  WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND,
  WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_UPDATE,
  WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_FORCE_CLOSE_COMMAND,
  WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_FAILOVER_CLOSE_COMMAND,
  WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_RESET_STICKY_TASK_QUEUE,
  WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW,
];

/**
 * @param events The end of the history, newest first; earlier events are not read.
 * @returns Undefined when no attempt has failed or timed out since a task was last completed.
 *
 * The server records the first failed attempt of a task, and none of its later ones: those are only counted, and the
 * count begins again when a signal or another event makes it schedule the task anew (server 1.32). So recorded and
 * counted attempts are added. Their kind is that of the recorded attempt: the server's `TemporalReportedProblems` does
 * not have the kind of later ones, either.
 */
export function troubleIn(task: PendingTask, events: readonly HistoryEvent[]): Trouble | undefined {
  const recorded = sinceCompletion(events).filter(
    (event) => hasFailed(event) || hasTimedOut(event),
  );
  const failure = failureIn(events);
  const counted = Math.max(0, task.attempt - 1);
  const attempts = recorded.length + Math.max(0, counted - 1);
  const isTried = recorded.length > 0 || counted > 0;
  if (!isTried) return undefined;
  const message = failure?.failure?.message;
  return {
    kind: failure === undefined ? 'slow' : 'failing',
    runId: task.runId,
    attempts: Math.max(attempts, counted),
    since: timeOf(recorded.at(-1)) ?? task.scheduledAt,
    ...(message == null ? {} : { error: firstLineOf(message) }),
  };
}

/** The newest attempt that failed since a task was completed. */
export function failureIn(events: readonly HistoryEvent[]): FailedTask | undefined {
  return sinceCompletion(events).find(hasFailed)?.workflowTaskFailedEventAttributes ?? undefined;
}

function sinceCompletion(events: readonly HistoryEvent[]): readonly HistoryEvent[] {
  const end = events.findIndex((event) => event.workflowTaskCompletedEventAttributes != null);
  return end === -1 ? events : events.slice(0, end);
}

function hasFailed({ workflowTaskFailedEventAttributes: failed }: HistoryEvent): boolean {
  return failed != null && !HARMLESS_CAUSES.includes(failed.cause ?? 0);
}

/** A task that waited for a worker in vain, as on the queue of one that has ended, was never tried. */
function hasTimedOut({ workflowTaskTimedOutEventAttributes: timedOut }: HistoryEvent): boolean {
  return timedOut?.timeoutType === TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE;
}

function timeOf(event: HistoryEvent | undefined): string | undefined {
  const ms = msOf(event?.eventTime);
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

/** The run of a conversation in Temporal, for operators. */
import type { WorkflowExecutionDescription } from '@temporalio/client';

export interface ConversationRun {
  readonly workflowId: string;
  readonly namespace: string;
  /**
   * The newest run. Absent, like the next fields, with status `gone`: Temporal has none any more, and the log is what
   * is left.
   */
  readonly runId?: string;
  /** The status in Temporal, in lower case, such as `running` and `completed`. */
  readonly status: string;
  /** Counted for this run alone: a roll-over begins a new history. */
  readonly historyEvents?: number;
  readonly historyBytes?: number;
  /** ISO 8601 */
  readonly startedAt?: string;
  readonly closedAt?: string;
}

export function runOf(
  run: WorkflowExecutionDescription | undefined,
  of: Pick<ConversationRun, 'workflowId' | 'namespace'>,
): ConversationRun {
  if (run === undefined) return { ...of, status: 'gone' };
  const { runId, status, historyLength, historySize, startTime, closeTime } = run;
  return {
    ...of,
    runId,
    status: status.name.toLowerCase(),
    historyEvents: historyLength,
    ...(historySize === undefined ? {} : { historyBytes: historySize }),
    startedAt: startTime.toISOString(),
    ...(closeTime === undefined ? {} : { closedAt: closeTime.toISOString() }),
  };
}

/** The address of the run in a Temporal UI. Undefined where there is no run. @param ui address of the UI */
export function runAddress(
  ui: string,
  { workflowId, namespace, runId }: ConversationRun,
): string | undefined {
  if (runId === undefined) return undefined;
  const path = ['namespaces', namespace, 'workflows', workflowId, runId, 'history'];
  return `${ui.replace(/\/+$/, '')}/${path.map(encodeURIComponent).join('/')}`;
}

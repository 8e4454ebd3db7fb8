/** The run of a conversation in Temporal, for operators. */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import type { ConversationRun } from '../../protocol/workflow/run.js';

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

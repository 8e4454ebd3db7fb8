/**
 * Resets a run. Its signals are applied again; its updates are not, because a recovery holds those that were accepted.
 */
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import proto, { type temporal } from '@temporalio/proto';

const { ResetReapplyType, WorkflowTaskFailedCause } = proto.temporal.api.enums.v1;

interface ResetRequest {
  readonly workflowId: string;
  readonly runId: string;
  /** Id of the event that completed the task which is decided again, as the server has it. */
  readonly eventId: temporal.api.history.v1.IHistoryEvent['eventId'];
  readonly reason: string;
}

/** Id of the new run. Not safe to repeat: each call is one reset. */
export async function resetRun(
  client: Client,
  { workflowId, runId, eventId, reason }: ResetRequest,
): Promise<string> {
  const reset = await client.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId, runId },
    workflowTaskFinishEventId: eventId ?? null,
    requestId: randomUUID(),
    reason,
    resetReapplyType: ResetReapplyType.RESET_REAPPLY_TYPE_SIGNAL,
  });
  return reset.runId;
}

/** True for the event by which the history of a run shows that the run was reset at this place. */
export function isReset({
  workflowTaskFailedEventAttributes: failed,
}: temporal.api.history.v1.IHistoryEvent): boolean {
  return failed?.cause === WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW;
}

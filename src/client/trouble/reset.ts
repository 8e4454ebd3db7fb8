/**
 * Resets a run. Its signals are applied again; its updates are not, because a recovery holds those that were accepted.
 */
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import proto, { type temporal } from '@temporalio/proto';

const { ResetReapplyType } = proto.temporal.api.enums.v1;

export interface ResetRequest {
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

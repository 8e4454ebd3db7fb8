/** Has the Temporal server remove a run, and waits until it is gone. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, isGrpcServiceError } from '@temporalio/client';
import { until } from '../until.js';

const NOT_FOUND = 5;
/** The server forgets some requests for runs that have only just ended. */
const ASK_AGAIN_MS = 3_000;
const LOOK_EVERY_MS = 100;

export async function removeRun(
  temporal: Client,
  execution: { readonly workflowId: string; readonly runId: string },
): Promise<void> {
  const { workflowService: service, options } = temporal;
  const { namespace } = options;
  let askedAt = Number.NEGATIVE_INFINITY;
  const isGone = async (): Promise<boolean> => {
    try {
      if (performance.now() - askedAt > ASK_AGAIN_MS) {
        await service.deleteWorkflowExecution({ namespace, workflowExecution: execution });
        askedAt = performance.now();
      }
      await service.getWorkflowExecutionHistory({ namespace, execution });
      await sleep(LOOK_EVERY_MS);
      return false;
    } catch (error) {
      const code: number | undefined = isGrpcServiceError(error) ? error.code : undefined;
      return code === NOT_FOUND;
    }
  };
  await until('the run is gone', isGone, { timeoutMs: 200_000 });
}

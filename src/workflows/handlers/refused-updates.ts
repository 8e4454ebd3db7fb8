/**
 * Notices that an update was refused. Its sender may have seen an older state than the run has: a worker that was lost before it
 * stored its last events leaves readers behind, and their answers are refused until somebody looks.
 */
import type { Next, UpdateInput, WorkflowInboundCallsInterceptor } from '@temporalio/workflow';

let notice: (() => void) | undefined;

/** From here on `refused` is called after each refusal by a validator. One workflow has one; it must not change any state. */
export function onRefusedUpdate(refused: () => void): void {
  notice = refused;
}

/** The refusal itself goes its way, and leaves no history. */
export class RefusedUpdates implements WorkflowInboundCallsInterceptor {
  validateUpdate(
    input: UpdateInput,
    next: Next<WorkflowInboundCallsInterceptor, 'validateUpdate'>,
  ): void {
    try {
      next(input);
    } catch (refusal) {
      notice?.();
      throw refusal;
    }
  }
}

/**
 * Notices refused updates. The sender may have seen an older state than the run has: when a worker is lost before it
 * stores its last events, readers lag behind, and their answers are refused until the store is checked.
 */
import type { Next, UpdateInput, WorkflowInboundCallsInterceptor } from '@temporalio/workflow';

let notice: (() => void) | undefined;

/** Sets the callback that runs after each refusal by a validator. A workflow has one; it must not change any state. */
export function onRefusedUpdate(refused: () => void): void {
  notice = refused;
}

/** Passes the refusal on unchanged; refusals leave no history. */
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

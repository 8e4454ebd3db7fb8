/**
 * Renames signals and updates whose names the SDK reserves. Any client may send one, and the SDK throws at it where a
 * default handler is set, in each attempt: the workflow task would fail for ever. Under another name they are unknown.
 */
import type { ActivateInput, Next, WorkflowInternalsInterceptor } from '@temporalio/workflow';

const RESERVED = '__temporal_';

export class ReservedNames implements WorkflowInternalsInterceptor {
  activate(input: ActivateInput, next: Next<WorkflowInternalsInterceptor, 'activate'>): void {
    for (const { signalWorkflow, doUpdate } of input.activation.jobs ?? []) {
      if (signalWorkflow?.signalName?.startsWith(RESERVED) === true)
        signalWorkflow.signalName = `reserved:${signalWorkflow.signalName}`;
      if (doUpdate?.name?.startsWith(RESERVED) === true)
        doUpdate.name = `reserved:${doUpdate.name}`;
    }
    next(input);
  }
}

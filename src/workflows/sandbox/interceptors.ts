/**
 * The interceptors between the SDK and the workflow, bundled beside it. The SDK looks for the export name
 * `interceptors`.
 */
import type {
  ActivateInput,
  Next,
  WorkflowInterceptors,
  WorkflowInternalsInterceptor,
} from '@temporalio/workflow';
import { DetailsOnDemand } from '../activities/details.js';
import { RecoverFirst } from '../driver/recovery.js';
import { PlainReplies } from '../handlers/plain-replies.js';
import { RefusedUpdates } from '../handlers/refused-updates.js';
import { ReadableFailures } from './readable-failures.js';

export const interceptors = (): WorkflowInterceptors => ({
  inbound: [new RefusedUpdates()],
  internals: [
    new ReservedNames(),
    new ReadableFailures(),
    new RecoverFirst(),
    new DetailsOnDemand(),
    new PlainReplies(),
  ],
});

const RESERVED = '__temporal_';

/**
 * Renames signals and updates whose names the SDK reserves. Any client may send one, and the SDK throws at it where a
 * default handler is set, in each attempt: the workflow task would fail for ever. Under another name they are unknown.
 */
class ReservedNames implements WorkflowInternalsInterceptor {
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

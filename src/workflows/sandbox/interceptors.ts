/**
 * The interceptors between the SDK and the workflow, bundled beside it. The SDK looks for the export name
 * `interceptors`.
 */
import type { WorkflowInterceptors } from '@temporalio/workflow';
import { DetailsOnDemand } from '../activities/details.js';
import { RecoverFirst } from '../driver/recovery.js';
import { PlainReplies } from '../handlers/plain-replies.js';
import { RefusedUpdates } from '../handlers/refused-updates.js';
import { ReadableFailures } from './readable-failures.js';
import { ReservedNames } from './reserved-names.js';

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

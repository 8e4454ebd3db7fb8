/** What stands between the SDK and the workflow. Bundled beside it; the SDK looks for the name `interceptors`. */
import type { WorkflowInterceptors } from '@temporalio/workflow';
import { DetailsOnDemand } from './details.js';
import { RefusedUpdates } from './looks/refused-updates.js';
import { PlainReplies } from './plain-replies.js';
import { RecoverFirst } from './recovery.js';

export const interceptors = (): WorkflowInterceptors => ({
  inbound: [new RefusedUpdates()],
  internals: [new RecoverFirst(), new DetailsOnDemand(), new PlainReplies()],
});

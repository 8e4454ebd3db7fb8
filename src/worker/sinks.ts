/** The sink through which workflows notify the projector of the end of their log. */
import type { WorkerOptions } from '@temporalio/worker';
import type { StoreWatch } from '../projection/duties/store-watch.js';
import type { Projector } from '../projection/projector/projector.js';
import { workflowIdFor } from '../protocol/values/ids.js';
import type { Hint } from '../protocol/workflow/messaging.js';
import { HINT_SINK } from '../protocol/workflow/messaging.js';

/**
 * Also called during a replay: the worker that made the replayed decisions may have been lost before it stored them.
 */
export function hintSinks(
  projector: Projector,
  stores: StoreWatch,
): NonNullable<WorkerOptions['sinks']> {
  return {
    [HINT_SINK]: {
      hint: {
        fn: (_info: unknown, hint: Hint) => {
          projector.hint(hint);
          stores.moved({ workflowId: workflowIdFor(hint), runId: hint.runId });
        },
        callDuringReplay: true,
      },
    },
  };
}

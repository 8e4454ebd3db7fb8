/** The sink through which workflows tell the projector how far their log is. */
import type { WorkerOptions } from '@temporalio/worker';
import type { StoreWatch } from '../projection/duties/store-watch.js';
import type { Projector } from '../projection/projector/projector.js';
import { workflowIdFor } from '../protocol/values/ids.js';
import type { Hint } from '../protocol/workflow/messaging.js';
import { HINT_SINK } from '../protocol/workflow/messaging.js';

/** Also called during a replay: the worker that decided what is replayed may have been lost before it was stored. */
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

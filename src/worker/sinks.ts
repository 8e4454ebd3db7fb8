/** The sinks through which workflows notify the projector of the end of their log, and show it their transcripts. */
import type { WorkerOptions } from '@temporalio/worker';
import type { StoreWatch } from '../projection/duties/store-watch.js';
import type { Projector } from '../projection/projector/projector.js';
import type { RunOfSlices, ShownSlices } from '../projection/reading/shown-slices.js';
import { workflowIdFor } from '../protocol/values/ids.js';
import { HINT_SINK, type Hint } from '../protocol/workflow/messaging.js';
import type { TranscriptSlice } from '../protocol/workflow/transcript-delta.js';

export interface SinkTargets {
  readonly projector: Projector;
  readonly stores: StoreWatch;
  readonly slices: ShownSlices;
}

/**
 * Hints also come during a replay: the worker that made the replayed decisions may have been lost before it stored
 * them.
 */
export function workflowSinks({
  projector,
  stores,
  slices,
}: SinkTargets): NonNullable<WorkerOptions['sinks']> {
  return {
    [HINT_SINK]: {
      hint: {
        fn: (_info: unknown, hint: Hint) => {
          projector.hint(hint);
          stores.moved({ workflowId: workflowIdFor(hint), runId: hint.runId });
        },
        callDuringReplay: true,
      },
      transcript: {
        fn: ({ workflowId, runId }: RunOfSlices, shown: readonly TranscriptSlice[]) => {
          slices.show({ workflowId, runId }, shown);
        },
        callDuringReplay: false,
      },
    },
  };
}

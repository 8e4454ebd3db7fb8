/** Replay of recorded histories on the workflow code from source. */
import type { ReplayWorkerOptions } from '@temporalio/worker';
import { CompressionCodec } from '../../../src/client/payloads/payload-codec.js';
import { HINT_SINK } from '../../../src/protocol/workflow/messaging.js';
import { WorkerWithoutVmTimeout } from '../../../src/worker/sdk-workarounds/worker-without-vm-timeout.js';
import './quiet.js';
import '../typescript-hooks.mjs';
import { CONVERTER } from './workflow-bundle.js';

const ignore = (): void => undefined;
const OPTIONS = {
  dataConverter: { payloadConverterPath: CONVERTER, payloadCodecs: [new CompressionCodec()] },
  sinks: {
    [HINT_SINK]: {
      hint: { fn: ignore, callDuringReplay: false },
      transcript: { fn: ignore, callDuringReplay: false },
    },
  },
};
/** The same for many runs by one worker; the result names a run that is refused. */
export async function replayAll(
  workflowBundle: NonNullable<ReplayWorkerOptions['workflowBundle']>,
  histories: readonly { readonly workflowId: string; readonly history: unknown }[],
): Promise<void> {
  const results = WorkerWithoutVmTimeout.runReplayHistories(
    { workflowBundle, ...OPTIONS },
    histories,
  );
  for await (const { workflowId, runId, error } of results)
    if (error !== undefined)
      throw new Error(`${workflowId} ${runId}: ${error.message}`, { cause: error });
}

/** Resolves when the code makes the same decisions as the recorded run did. @throws DeterminismViolationError */
export async function replay(
  workflowBundle: NonNullable<ReplayWorkerOptions['workflowBundle']>,
  history: unknown,
): Promise<void> {
  await WorkerWithoutVmTimeout.runReplayHistory({ workflowBundle, ...OPTIONS }, history);
}

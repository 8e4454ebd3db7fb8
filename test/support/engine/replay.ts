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

interface NamedHistory {
  readonly workflowId: string;
  readonly history: unknown;
}

/** Replays many runs by one worker, which takes a fifth of the time of one for each. @yields the error of each run */
export async function* replayed(
  workflowBundle: NonNullable<ReplayWorkerOptions['workflowBundle']>,
  histories: readonly NamedHistory[],
): AsyncGenerator<{ readonly workflowId: string; readonly error: Error | undefined }> {
  const options = { workflowBundle, ...OPTIONS };
  for await (const { workflowId, runId, error } of WorkerWithoutVmTimeout.runReplayHistories(
    options,
    histories,
  ))
    yield {
      workflowId,
      error: error && new Error(`${workflowId} ${runId}: ${error.message}`, { cause: error }),
    };
}

/** @throws {Error} naming a run that is refused */
export async function replayAll(
  workflowBundle: NonNullable<ReplayWorkerOptions['workflowBundle']>,
  histories: readonly NamedHistory[],
): Promise<void> {
  for await (const { error } of replayed(workflowBundle, histories))
    if (error !== undefined) throw error;
}

/** Resolves when the code makes the same decisions as the recorded run did. @throws DeterminismViolationError */
export async function replay(
  workflowBundle: NonNullable<ReplayWorkerOptions['workflowBundle']>,
  history: unknown,
): Promise<void> {
  await WorkerWithoutVmTimeout.runReplayHistory({ workflowBundle, ...OPTIONS }, history);
}

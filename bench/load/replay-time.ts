/** The time that a worker takes to replay a run: the delay of a conversation after the loss of its worker. */
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { CompressionCodec } from 'colloquy/client';
import { HINT_SINK } from '#dist/protocol/workflow/messaging.js';
import { WorkerWithoutVmTimeout } from '#dist/worker/sdk-workarounds/worker-without-vm-timeout.js';
import { PAYLOAD_CONVERTER_PATH, workflowCode } from '#dist/worker/temporal/bundle.js';
import { median } from '../shared/stats.js';
import type { History } from './histories.js';

const IGNORED = { fn: (): void => undefined, callDuringReplay: false };

/** The first replay is not counted, because the worker compiles the workflow code in it. */
const REPLAYS = 6;

/**
 * Median in milliseconds, including the transfer of the history to the worker. @throws when the history does not replay
 */
export async function replayTime(history: History): Promise<number> {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const times: number[] = [];
  let startedAt = 0;
  // Each replay starts after the one before it.
  function* repeats() {
    for (let count = 0; count < REPLAYS; count += 1) {
      startedAt = performance.now();
      yield { workflowId: 'replayed', history };
    }
  }
  const options = {
    workflowBundle: await workflowCode(),
    dataConverter: {
      payloadConverterPath: PAYLOAD_CONVERTER_PATH,
      payloadCodecs: [new CompressionCodec()],
    },
    sinks: { [HINT_SINK]: { hint: IGNORED, transcript: IGNORED } },
  };
  for await (const { error } of WorkerWithoutVmTimeout.runReplayHistories(options, repeats())) {
    if (error !== undefined) throw error;
    times.push(performance.now() - startedAt);
  }
  return median(times.slice(1));
}

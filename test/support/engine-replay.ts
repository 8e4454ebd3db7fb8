/** Replay of recorded histories on the workflow code from source. */
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type ReplayWorkerOptions, Worker } from '@temporalio/worker';
import { CompressionCodec } from '../../src/client/payload-codec.js';
import { HINT_SINK } from '../../src/protocol/messaging.js';
import './engine-quiet.js';
import './typescript-hooks.mjs';

const WORKFLOWS = fileURLToPath(new URL('../../src/workflows/', import.meta.url));
const CONVERTER = `${WORKFLOWS}payload-converter.ts`;

const ignore = (): void => undefined;
const OPTIONS = {
  dataConverter: { payloadConverterPath: CONVERTER, payloadCodecs: [new CompressionCodec()] },
  sinks: { [HINT_SINK]: { hint: { fn: ignore, callDuringReplay: false } } },
};
const QUIET = {
  log: ignore,
  trace: ignore,
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
};

/** The workflow bundle as `npm run build` would make it now. */
export async function bundleFromSource(): Promise<string> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: `${WORKFLOWS}index.ts`,
    workflowInterceptorModules: ['query-guard', 'interceptors'].map(
      (module) => `${WORKFLOWS}${module}.ts`,
    ),
    payloadConverterPath: CONVERTER,
    logger: QUIET,
  });
  return code;
}

/** The same for many runs by one worker; a run that is refused is named. */
export async function replayAll(
  workflowBundle: NonNullable<ReplayWorkerOptions['workflowBundle']>,
  histories: readonly { readonly workflowId: string; readonly history: unknown }[],
): Promise<void> {
  const results = Worker.runReplayHistories({ workflowBundle, ...OPTIONS }, histories);
  for await (const { workflowId, runId, error } of results)
    if (error !== undefined)
      throw new Error(`${workflowId} ${runId}: ${error.message}`, { cause: error });
}

/** Resolves when the code makes the same decisions as the recorded run did. @throws DeterminismViolationError */
export async function replay(
  workflowBundle: NonNullable<ReplayWorkerOptions['workflowBundle']>,
  history: unknown,
): Promise<void> {
  await Worker.runReplayHistory({ workflowBundle, ...OPTIONS }, history);
}

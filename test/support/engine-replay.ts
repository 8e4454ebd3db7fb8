/** Replay of recorded histories on the workflow code from source. */
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type ReplayWorkerOptions, Worker } from '@temporalio/worker';
import { HINT_SINK } from '../../src/protocol/messaging.js';
import './engine-quiet.js';
import './typescript-hooks.mjs';

const WORKFLOWS = fileURLToPath(new URL('../../src/workflows/', import.meta.url));
const CONVERTER = `${WORKFLOWS}payload-converter.ts`;

const ignore = (): void => undefined;
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
    payloadConverterPath: CONVERTER,
    logger: QUIET,
  });
  return code;
}

/** Resolves when the code makes the same decisions as the recorded run did. @throws DeterminismViolationError */
export async function replay(
  workflowBundle: NonNullable<ReplayWorkerOptions['workflowBundle']>,
  history: unknown,
): Promise<void> {
  const dataConverter = { payloadConverterPath: CONVERTER };
  const hint = { fn: ignore, callDuringReplay: false };
  const sinks = { [HINT_SINK]: { hint } };
  await Worker.runReplayHistory({ workflowBundle, dataConverter, sinks }, history);
}

/**
 * Temporal's worker without the time limit that the SDK sets around every step of a workflow (decision 28). Node's `vm`
 * measures a call in a thread that it creates for that call and joins after it, and the SDK makes four or five calls
 * for each activation.
 */
import {
  type CompiledWorkerOptions,
  type Logger,
  type Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import type { WorkflowBundleWithSourceMapAndFilename } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input.js';
import { WorkerWithoutReferences } from './storage-references.js';
import { StuckWatch } from './stuck-watch.js';

type Creation = readonly [
  bundle: WorkflowBundleWithSourceMapAndFilename,
  options: CompiledWorkerOptions,
  logger: Logger,
];

export class WorkerWithoutVmTimeout extends WorkerWithoutReferences {
  protected static override async createWorkflowCreator(
    ...[bundle, options, logger]: Creation
  ): Promise<WorkflowCreator> {
    const { isolateExecutionTimeoutMs: _, ...unguarded } = options;
    // Without a timeout `vm` starts no thread. The SDK passes the option through, but its type requires a number.
    return await super.createWorkflowCreator(bundle, unguarded as CompiledWorkerOptions, logger);
  }
}

export interface Surroundings {
  readonly watch?: StuckWatch;
  /** Wraps the creator of the workflows. */
  readonly over?: (creator: WorkflowCreator) => WorkflowCreator;
  /** Keeps the SDK's time limit. @defaultValue false */
  readonly sdkGuards?: boolean;
}

/**
 * Creates a worker whose workflows are watched instead. `stuck` rejects when one does not yield: the process must then
 * exit.
 */
export async function createWatchedWorker(
  options: WorkerOptions,
  { watch = new StuckWatch(), over = (creator) => creator, sdkGuards = false }: Surroundings = {},
): Promise<{ readonly worker: Worker; readonly stuck: Promise<never> }> {
  class WatchedWorker extends (sdkGuards ? WorkerWithoutReferences : WorkerWithoutVmTimeout) {
    protected static override async createWorkflowCreator(
      ...given: Creation
    ): Promise<WorkflowCreator> {
      return over(watch.over(await super.createWorkflowCreator(...given)));
    }
  }
  return { worker: await WatchedWorker.create(options), stuck: watch.stuck };
}

/**
 * Temporal's worker without the guard that the SDK sets around every step of a workflow (decision 28). Node's `vm` times a call
 * in a thread that it makes for that call and joins after it, and the SDK makes four or five calls for each activation.
 */
import {
  type CompiledWorkerOptions,
  type Logger,
  Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import type { WorkflowBundleWithSourceMapAndFilename } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input.js';
import { StuckWatch } from './stuck-watch.js';

type Creation = readonly [
  bundle: WorkflowBundleWithSourceMapAndFilename,
  options: CompiledWorkerOptions,
  logger: Logger,
];

export class UnguardedWorker extends Worker {
  protected static override async createWorkflowCreator(
    ...[bundle, options, logger]: Creation
  ): Promise<WorkflowCreator> {
    const { isolateExecutionTimeoutMs: _, ...unguarded } = options;
    // Without a time `vm` sets no guard; the SDK hands on what it is given, but its type wants a number.
    return await super.createWorkflowCreator(bundle, unguarded as CompiledWorkerOptions, logger);
  }
}

export interface Surroundings {
  readonly watch?: StuckWatch;
  /** Around what makes the workflows. */
  readonly over?: (creator: WorkflowCreator) => WorkflowCreator;
}

/**
 * A worker whose workflows are watched instead. `stuck` rejects when one does not yield: then the process has to end.
 */
export async function createWatchedWorker(
  options: WorkerOptions,
  { watch = new StuckWatch(), over = (creator) => creator }: Surroundings = {},
): Promise<{ readonly worker: Worker; readonly stuck: Promise<never> }> {
  class WatchedWorker extends UnguardedWorker {
    protected static override async createWorkflowCreator(
      ...given: Creation
    ): Promise<WorkflowCreator> {
      return over(watch.over(await super.createWorkflowCreator(...given)));
    }
  }
  return { worker: await WatchedWorker.create(options), stuck: watch.stuck };
}

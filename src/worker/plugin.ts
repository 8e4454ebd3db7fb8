/** Runs agents beside a worker that an application already has, as a plugin of its `Worker.create`. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker, WorkerPlugin } from '@temporalio/worker';
import { DEFAULT_TASK_QUEUE } from '../protocol/workflow/messaging.js';
import { createColloquyWorker } from './create-worker.js';
import type { ColloquyWorkerOptions } from './options.js';

/**
 * A worker of its own in the same process, since conversations need a task queue, workflow code and safeguards of their
 * own. It starts when the application's worker runs, drains when that one has ended, and ends it when it fails itself:
 * `worker.run()` then rejects with the reason.
 * @example
 * const worker = await Worker.create({
 *   taskQueue: 'orders', workflowsPath, activities,
 *   plugins: [new ColloquyPlugin({ agents: [support], services, eventLog: 'postgres://…' })],
 * });
 * await worker.run();
 */
export class ColloquyPlugin<Services> implements WorkerPlugin {
  readonly #options: ColloquyWorkerOptions<Services>;

  constructor(options: ColloquyWorkerOptions<Services>) {
    this.#options = options;
  }

  get name(): string {
    return 'colloquy';
  }

  /**
   * Called by the SDK.
   * @throws {TypeError} when both workers would poll the same task queue; otherwise what `createColloquyWorker` throws,
   *   before the application's worker has begun to poll
   */
  async runWorker(worker: Worker, next: (worker: Worker) => Promise<void>): Promise<void> {
    const { taskQueue = DEFAULT_TASK_QUEUE } = this.#options;
    if (worker.options.taskQueue === taskQueue)
      throw new TypeError(
        `ColloquyPlugin: task queue "${taskQueue}" is that of the worker itself; conversations need one of their own`,
      );
    const colloquy = await createColloquyWorker(this.#options);
    const failures: unknown[] = [];
    const ended = new AbortController();
    const running = colloquy.run().catch(async (error: unknown) => {
      failures.push(error);
      await shutDown(worker, ended.signal);
    });
    try {
      await next(worker);
    } finally {
      ended.abort();
      colloquy.shutdown();
      await running;
    }
    if (failures.length > 0) throw failures[0];
  }
}

const STATE_POLL_MS = 50;

/** A worker refuses to be shut down before it runs, and other plugins may let it begin later than this one. */
async function shutDown(worker: Worker, ended: AbortSignal): Promise<void> {
  while (!ended.aborted && worker.getState() === 'INITIALIZED') await sleep(STATE_POLL_MS);
  if (worker.getState() === 'RUNNING') worker.shutdown();
}

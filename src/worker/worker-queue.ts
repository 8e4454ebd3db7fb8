/**
 * A task queue that only this worker process polls, for runs that need state which only this process has. Most workers
 * never need one, so polling starts on first use.
 */
import { randomBytes } from 'node:crypto';
import type { Worker } from '@temporalio/worker';
import type { Logger } from '../define/tool/context.js';

/** The part of a Temporal worker that is used here, before it is run. */
export type QueueWorker = Pick<Worker, 'run' | 'shutdown' | 'getState'>;

interface WorkerQueueDeps {
  /** Creates a worker for the queue, without running it. */
  readonly create: (taskQueue: string) => Promise<QueueWorker>;
  readonly logger: Logger;
}

interface Polling {
  readonly worker: QueueWorker;
  readonly ended: Promise<void>;
}

export class WorkerQueue {
  readonly #name: string;
  readonly #deps: WorkerQueueDeps;
  #polling: Promise<Polling> | undefined;
  #isStopped = false;

  /** `taskQueue`: the task queue of all workers. */
  constructor(taskQueue: string, deps: WorkerQueueDeps) {
    this.#name = `${taskQueue}-held-${randomBytes(8).toString('hex')}`;
    this.#deps = deps;
  }

  /**
   * Returns the name of the queue, which is polled from then on. A failed start is repeated by the next call. @throws
   * the error that prevents polling
   */
  async poll(): Promise<string> {
    this.#check();
    await (this.#polling ?? this.#begin());
    // `stop` may have been called meanwhile.
    this.#check();
    return this.#name;
  }

  /** Drains the running work of the queue. Never throws. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const polling = await this.#polling?.catch(() => undefined);
    if (polling?.worker.getState() === 'RUNNING') polling.worker.shutdown();
    await polling?.ended.catch(() => undefined);
  }

  #check(): void {
    if (this.#isStopped) throw new Error('the worker is stopping');
  }

  #begin(): Promise<Polling> {
    const polling = this.#start();
    this.#polling = polling;
    polling
      .then(({ ended }) => ended)
      .then(
        () => {
          // A worker ends this way only when it is stopped; a signal to the process stops all of them.
          this.#isStopped = true;
        },
        (error: unknown) => {
          this.#polling = undefined;
          const reason = error instanceof Error ? error.message : String(error);
          const about = { taskQueue: this.#name, reason };
          this.#deps.logger.error("this worker's own task queue is not polled", about);
        },
      );
    return polling;
  }

  async #start(): Promise<Polling> {
    const worker = await this.#deps.create(this.#name);
    return { worker, ended: worker.run() };
  }
}

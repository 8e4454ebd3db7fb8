/**
 * A task queue that one worker process polls and no other, for runs that go on with what only that process has. Most workers never need
 * it: it is polled from the first time on.
 */
import { randomBytes } from 'node:crypto';
import type { Worker } from '@temporalio/worker';
import type { Logger } from '../define/tool/context.js';

/** What is needed of a worker that has not been run. */
export type QueueWorker = Pick<Worker, 'run' | 'shutdown' | 'getState'>;

interface OwnQueueMeans {
  /** A worker for the queue, which has not been run. */
  readonly create: (taskQueue: string) => Promise<QueueWorker>;
  readonly logger: Logger;
}

interface Polling {
  readonly worker: QueueWorker;
  readonly ended: Promise<void>;
}

export class OwnQueue {
  readonly #name: string;
  readonly #means: OwnQueueMeans;
  #polling: Promise<Polling> | undefined;
  #isStopped = false;

  /** `taskQueue`: that of all workers. */
  constructor(taskQueue: string, means: OwnQueueMeans) {
    this.#name = `${taskQueue}-held-${randomBytes(8).toString('hex')}`;
    this.#means = means;
  }

  /** The name of the queue, which is polled. Where that has failed it is begun anew. @throws what keeps it from being so */
  async poll(): Promise<string> {
    this.#check();
    await (this.#polling ?? this.#begin());
    // It may have been stopped meanwhile.
    this.#check();
    return this.#name;
  }

  /** What is under way there is drained. Never throws. */
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
          // Only who stops a worker ends it so; a signal to the process stops all of them.
          this.#isStopped = true;
        },
        (error: unknown) => {
          this.#polling = undefined;
          const reason = error instanceof Error ? error.message : String(error);
          const about = { taskQueue: this.#name, reason };
          this.#means.logger.error('the queue of this worker alone is not polled', about);
        },
      );
    return polling;
  }

  async #start(): Promise<Polling> {
    const worker = await this.#means.create(this.#name);
    return { worker, ended: worker.run() };
  }
}

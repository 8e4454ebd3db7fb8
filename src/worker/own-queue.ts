/**
 * A task queue that one worker process polls and no other, for runs that go on with what only that process has. Most workers never need
 * it: it is polled from the first time on.
 */
import { randomBytes } from 'node:crypto';
import type { Worker } from '@temporalio/worker';

export class OwnQueue {
  readonly #name: string;
  readonly #create: (taskQueue: string) => Promise<Worker>;
  #polling: Promise<{ readonly worker: Worker; readonly ended: Promise<void> }> | undefined;
  #isStopped = false;

  /** `create`: a worker for the queue that has not been run. `taskQueue`: that of all workers. */
  constructor(taskQueue: string, create: (taskQueue: string) => Promise<Worker>) {
    this.#name = `${taskQueue}-held-${randomBytes(8).toString('hex')}`;
    this.#create = create;
  }

  /** The name of the queue, which is polled. @throws what kept it from being so */
  async poll(): Promise<string> {
    if (this.#isStopped) throw new Error('the worker is stopping');
    this.#polling ??= this.#start();
    await this.#polling;
    return this.#name;
  }

  /** What is under way there is drained. Never throws. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const polling = await this.#polling?.catch(() => undefined);
    if (polling?.worker.getState() === 'RUNNING') polling.worker.shutdown();
    await polling?.ended.catch(() => undefined);
  }

  async #start(): Promise<{ readonly worker: Worker; readonly ended: Promise<void> }> {
    const worker = await this.#create(this.#name);
    const ended = worker.run();
    ended.catch(() => undefined);
    return { worker, ended };
  }
}

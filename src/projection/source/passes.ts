/** Passes of a watch, one after the other with a pause between them, until they are stopped. They do not keep the process alive. */
import type { Outages } from './outages.js';

export interface PassesDeps {
  /** It may reject; the next one comes all the same. */
  readonly pass: () => Promise<unknown>;
  /** Whose they are, as outages name them: `watch of leases`. */
  readonly name: string;
  /** Absent: what one pass could not do, the next one does, and nothing is said. */
  readonly outages?: Outages;
  readonly intervalMs: number;
  /** Before the first one. @defaultValue `intervalMs` */
  readonly firstAfterMs?: number;
}

export class Passes {
  readonly #deps: PassesDeps;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<unknown> = Promise.resolve();
  #started = false;
  #stopping = false;

  constructor(deps: PassesDeps) {
    this.#deps = deps;
  }

  /** From `stop` on, until they are started again: a long pass should end early. */
  get isStopping(): boolean {
    return this.#stopping;
  }

  start(): void {
    if (this.#started) return;
    this.#started = true;
    this.#stopping = false;
    this.#next(this.#deps.firstAfterMs ?? this.#deps.intervalMs);
  }

  /** Resolves after the pass that runs. Never throws. */
  async stop(): Promise<void> {
    this.#started = false;
    this.#stopping = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #next(afterMs: number): void {
    const { pass, name, outages, intervalMs } = this.#deps;
    this.#timer = setTimeout(() => {
      this.#running = pass()
        .then(
          () => {
            outages?.succeeded();
          },
          (error: unknown) => {
            outages?.failed(error, `(${name})`);
          },
        )
        .finally(() => {
          if (this.#started) this.#next(intervalMs);
        });
    }, afterMs);
    this.#timer.unref();
  }
}

/**
 * Runs passes of a watch, one after the other with a pause between them, until they are stopped. Does not keep the
 * process alive.
 */
import type { Outages } from './outages.js';

export interface PassesDeps {
  /** May reject; the next pass runs nevertheless. */
  readonly pass: () => Promise<unknown>;
  /** Name of the watch in outages: `watch of leases`. */
  readonly name: string;
  /** Absent: failures are not logged; the next pass repeats the work. */
  readonly outages?: Outages;
  /** Asked before each pause, if it changes. */
  readonly intervalMs: number | (() => number);
  /** Milliseconds before the first pass. @defaultValue `intervalMs` */
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

  /** True from `stop` on, until the passes are started again: a long pass should end early. */
  get isStopping(): boolean {
    return this.#stopping;
  }

  start(): void {
    if (this.#started) return;
    this.#started = true;
    this.#stopping = false;
    this.#next(this.#deps.firstAfterMs ?? this.#intervalMs());
  }

  /** Resolves after the running pass. Never throws. */
  async stop(): Promise<void> {
    this.#started = false;
    this.#stopping = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #intervalMs(): number {
    const { intervalMs } = this.#deps;
    return typeof intervalMs === 'number' ? intervalMs : intervalMs();
  }

  #next(afterMs: number): void {
    const { pass, name, outages } = this.#deps;
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
          if (this.#started) this.#next(this.#intervalMs());
        });
    }, afterMs);
    this.#timer.unref();
  }
}

/**
 * Detects that another worker was lost and not replaced: a run that it served waits for an input, so that no task makes
 * another worker replay it, and only the sweep would find the events that it had not stored. Each worker reports
 * regularly that it is alive; all others search for the losses of one that falls silent without having stopped, and
 * share one search. Runs in workers, beside the sweep.
 *
 * W1  Each silence causes one search. A worker that was only held up costs a check of recent changes, and nothing else.
 * W2  While the store is down no silence is detected, and no event could be stored; the sweep reports the outage.
 */
import { WORKER_BEAT_MS, WORKER_SILENT_MS } from '../../protocol/limits/service-limits.js';
import type { EventLog } from '../../store/ports/log.js';
import { Passes } from '../source/passes.js';

export interface LossWatchDeps {
  readonly log: Pick<EventLog, 'beatWorker' | 'silentWorkers'>;
  /** Id under which this worker announces itself. */
  readonly id: string;
  /** Searches for events that a lost worker may not have stored. Must not reject. */
  readonly check: () => Promise<unknown>;
  /** @defaultValue `WORKER_BEAT_MS` */
  readonly beatMs?: number;
}

export class LossWatch {
  readonly #deps: Required<LossWatchDeps>;
  /** Undefined before the first beat: the search at the start of this worker covers earlier losses. */
  #silent: ReadonlySet<string> | undefined;
  #looking: Promise<unknown> = Promise.resolve();
  readonly #beats: Passes;

  constructor(deps: LossWatchDeps) {
    this.#deps = { beatMs: WORKER_BEAT_MS, ...deps };
    this.#beats = new Passes({
      pass: () => this.beat(),
      name: 'beat of a worker',
      intervalMs: this.#deps.beatMs,
    });
  }

  /** Does not keep the process alive. */
  start(): void {
    this.#beats.start();
  }

  /** Ends after the running search. Never throws. */
  async stop(): Promise<void> {
    await this.#beats.stop();
    await this.#looking;
  }

  /** Sends one beat; resolves to whether a worker has fallen silent since the last. @throws {StoreUnavailable} */
  async beat(): Promise<boolean> {
    const { log, id } = this.#deps;
    await log.beatWorker(id);
    const silent = new Set(await log.silentWorkers(WORKER_SILENT_MS));
    silent.delete(id);
    const before = this.#silent;
    this.#silent = silent;
    if (before === undefined || [...silent].every((other) => before.has(other))) return false;
    this.#looking = this.#deps.check();
    return true;
  }
}

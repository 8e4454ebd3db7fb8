/**
 * Sees that another worker was lost, where nobody replaces it: a run that it served waits for somebody, so that no task has it replayed, and
 * only the sweep would find what it had not stored. Each worker says again and again that it is there; those that fall silent without
 * having stopped are looked for by all others, which share one look. Runs in workers, beside the sweep.
 *
 * W1  Each silence is looked for once. A worker that was only held up costs a look at what changed lately, and nothing else.
 * W2  While the store is down nothing is seen, and nothing could be stored; the sweep says that it is.
 */
import { WORKER_BEAT_MS, WORKER_SILENT_MS } from '../../protocol/limits/service-limits.js';
import type { EventLog } from '../../store/ports/log.js';
import { Passes } from '../source/passes.js';

export interface LossWatchDeps {
  readonly log: Pick<EventLog, 'beatWorker' | 'silentWorkers'>;
  /** Under which this worker announces itself. */
  readonly id: string;
  /** Looks at what a lost worker may have left. Must not reject. */
  readonly look: () => Promise<unknown>;
  /** @defaultValue `WORKER_BEAT_MS` */
  readonly beatMs?: number;
}

export class LossWatch {
  readonly #deps: Required<LossWatchDeps>;
  /** Undefined before the first beat: whatever was lost before this worker started, it has looked for then. */
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

  /** Ends after the look that runs. Never throws. */
  async stop(): Promise<void> {
    await this.#beats.stop();
    await this.#looking;
  }

  /** One beat now: whether a worker has fallen silent since the last. @throws {StoreUnavailable} */
  async beat(): Promise<boolean> {
    const { log, id } = this.#deps;
    await log.beatWorker(id);
    const silent = new Set(await log.silentWorkers(WORKER_SILENT_MS));
    silent.delete(id);
    const before = this.#silent;
    this.#silent = silent;
    if (before === undefined || [...silent].every((other) => before.has(other))) return false;
    this.#looking = this.#deps.look();
    return true;
  }
}

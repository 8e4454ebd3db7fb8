/**
 * Detects that another worker was lost and not replaced: a run that it served waits for an input, so that no task makes
 * another worker replay it, and only the sweep would find the events that it had not stored. Each worker reports
 * regularly that it is alive; all others search for the losses of one that falls silent without having stopped, and
 * share one search. Runs in workers, beside the sweep.
 *
 * W1  Each silence causes one search. A worker that was only held up costs a check of recent changes, and nothing else.
 * W2  A watcher whose own beat is late allows the others the same delay: on a machine that was held up as a whole, no
 * worker is taken for lost.
 * W3  All workers together send a bounded number of beats: from some number of live workers on, each sends fewer, and is
 * given more time.
 * W4  While the store is down no silence is detected, and no event could be stored; the sweep reports the outage.
 */
import {
  MAX_BEATS_A_BEAT,
  WORKER_BEAT_MS,
  WORKER_SILENT_MS,
} from '../../protocol/limits/service-limits.js';
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
  /** Milliseconds of a steady clock. */
  readonly now?: () => number;
}

/** The live workers are counted again after this many beats. */
const BEATS_PER_COUNT = 10;

export class LossWatch {
  readonly #deps: Required<LossWatchDeps>;
  /** Undefined before the first beat: the search at the start of this worker covers earlier losses. */
  #silent: ReadonlySet<string> | undefined;
  #looking: Promise<unknown> = Promise.resolve();
  #lastBeatAt: number | undefined;
  #sent = 0;
  /** Factor of both times: 1 for few workers. */
  #stretch = 1;
  readonly #beats: Passes;

  constructor(deps: LossWatchDeps) {
    this.#deps = { beatMs: WORKER_BEAT_MS, now: () => performance.now(), ...deps };
    this.#beats = new Passes({
      pass: () => this.beat(),
      name: 'beat of a worker',
      intervalMs: () => this.beatMs,
    });
  }

  /** Milliseconds until the next beat. */
  get beatMs(): number {
    return this.#deps.beatMs * this.#stretch;
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
    const { log, id, now } = this.#deps;
    const sinceMs = now() - (this.#lastBeatAt ?? now());
    this.#lastBeatAt = now();
    await log.beatWorker(id);
    const silentMs = WORKER_SILENT_MS * this.#stretch + Math.max(0, sinceMs - this.beatMs);
    const silent = new Set(await log.silentWorkers(silentMs));
    silent.delete(id);
    if (this.#sent % BEATS_PER_COUNT === 0) {
      const all = await log.silentWorkers(0);
      this.#stretch = Math.max(1, (all.length - silent.size) / MAX_BEATS_A_BEAT);
    }
    this.#sent += 1;
    const before = this.#silent;
    this.#silent = silent;
    if (before === undefined || [...silent].every((other) => before.has(other))) return false;
    this.#looking = this.#deps.check();
    return true;
  }
}

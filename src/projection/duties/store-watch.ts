/**
 * Logs when processes of one application keep different event logs: once when it is found, and once when it is over.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { storeIdIn } from '../../client/workers/identity.js';
import { otherStoreText, type WorkerElsewhere } from '../../client/workers/workers-elsewhere.js';
import type { HistoryEvent, Run } from '../source/history-tail.js';
import type { ProjectionLogger } from '../source/outages.js';

/** Milliseconds between two checks, each of which is one cheap request to the server. */
const CHECK_INTERVAL_MS = 15_000;
/** Milliseconds. A hint comes just before its task is completed; after this time the history has it. */
const SETTLE_MS = 1_000;
/** Milliseconds. Older events of a history may be from before the configuration was corrected. */
const RECENT_MS = 60_000;

export interface StoreWatchDeps {
  /** Id of the event log of this process. */
  readonly storeId: string;
  /** Workers of the task queue with another event log; may reject. */
  readonly check: () => Promise<readonly WorkerElsewhere[]>;
  /** The newest events of a run; may reject. Absent = histories are not checked. */
  readonly newest?: (run: Run) => Promise<readonly HistoryEvent[]>;
  readonly logger: ProjectionLogger;
  /** @defaultValue 15000 */
  readonly checkMs?: number;
  /** @defaultValue 1000 */
  readonly settleMs?: number;
}

export class StoreWatch {
  readonly #deps: Required<Omit<StoreWatchDeps, 'newest'>> & Pick<StoreWatchDeps, 'newest'>;
  readonly #stopping = new AbortController();
  readonly #clients = new Set<string>();
  #workers = new Set<string>();
  #latest: Run | undefined;
  #isSampling = false;

  #looking: Promise<void> | undefined;
  #sampling: Promise<void> | undefined;

  constructor(deps: StoreWatchDeps) {
    this.#deps = { checkMs: CHECK_INTERVAL_MS, settleMs: SETTLE_MS, ...deps };
  }

  /** Checks at once, and then repeatedly. Does not keep the process alive. */
  start(): void {
    this.#looking = (async () => {
      while (!this.#isStopped) {
        await this.run();
        await this.#pause(this.#deps.checkMs);
      }
    })();
  }

  /** Resolves when no check is under way any more: the connection that it uses may be closed then. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#looking, this.#sampling]);
  }

  /** One check of the workers. Never throws: other code reports whether Temporal is available. */
  async run(): Promise<void> {
    const { storeId, check, logger } = this.#deps;
    const seen = await check().catch(() => undefined);
    if (seen === undefined || this.#isStopped) return;
    const others = new Set(seen.map((worker) => worker.storeId));
    if ([...others].some((id) => !this.#workers.has(id)))
      logger.warn(otherStoreText(seen), { storeId, otherStores: [...others] });
    else if (others.size === 0 && this.#workers.size > 0)
      logger.info('All workers of the task queue keep the event log of this process again', {
        storeId,
      });
    this.#workers = others;
  }

  /**
   * Notes that a run of a conversation has moved on, so that a client may have written to it. Checks its history a
   * moment later, or that of a run that moves on meanwhile; one check in `checkMs`, however many runs move on. Never
   * throws.
   */
  moved(run: Run): void {
    const { newest, checkMs, settleMs } = this.#deps;
    if (newest === undefined) return;
    this.#latest = run;
    if (this.#isSampling || this.#isStopped) return;
    this.#isSampling = true;
    this.#sampling = (async () => {
      while (this.#latest !== undefined && !this.#isStopped) {
        await this.#pause(settleMs);
        const latest: Run = this.#latest;
        this.#latest = undefined;
        this.#judge(await newest(latest).catch(() => []));
        await this.#pause(checkMs);
      }
      this.#isSampling = false;
    })();
  }

  #judge(events: readonly HistoryEvent[]): void {
    const { storeId, logger } = this.#deps;
    for (const event of events) {
      const identity = senderOf(event);
      const theirs = storeIdIn(identity);
      if (theirs === undefined || theirs === storeId || this.#clients.has(theirs)) continue;
      if (Date.now() - Number(event.eventTime?.seconds ?? 0) * 1_000 > RECENT_MS) continue;
      this.#clients.add(theirs);
      logger.warn(
        `A client of these conversations keeps another event log (store ${theirs}) than this worker, and cannot read what is stored here. ` +
          `Give all processes the same COLLOQUY_DATA or COLLOQUY_DATABASE_URL. Seen: ${identity}`,
        { storeId, otherStores: [theirs] },
      );
    }
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  async #pause(milliseconds: number): Promise<void> {
    const { signal } = this.#stopping;
    await sleep(milliseconds, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

/** Identity of the sender of an event; empty for an event of a worker or of the server. */
function senderOf(event: HistoryEvent): string {
  return (
    event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.meta?.identity ??
    event.workflowExecutionSignaledEventAttributes?.identity ??
    event.workflowExecutionStartedEventAttributes?.identity ??
    ''
  );
}

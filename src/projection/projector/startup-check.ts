/**
 * Checks conversations when a worker starts, and when another one is lost: a lost worker may not have reported their
 * last events. The sweep finds them, too, but readers would wait for its next pass.
 *
 * L1  A bounded number of conversations: those with recently stored events, newest first, then those that began last.
 * L2  Workers of a task queue that start together share one check: events lost before a worker started are found by any
 * check that begins after that.
 * L3  A run that has moved may have been in the memory of the lost worker: the server is to offer its query to all
 * workers at once. One that a living worker has is replayed once more.
 * L4  A conversation that does not answer is queried again for about a minute (`Projector.check`).
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import {
  STARTUP_CHECK_INTERVAL_MS,
  SWEEP_CHECKS,
  SWEEP_RECENT_MS,
} from '../../protocol/limits/service-limits.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { conversationKey } from '../../protocol/values/ids.js';
import type { OpenHead } from '../../store/ports/lists.js';
import type { EventLog } from '../../store/ports/log.js';
import type { ProjectionLogger } from '../source/outages.js';
import { Outages, SILENT } from '../source/outages.js';
import { leaseName, type WorkflowSource } from '../source/workflow-source.js';
import type { Projector } from './projector.js';

export interface StartupCheckDeps {
  readonly log: EventLog;
  readonly source: WorkflowSource;
  readonly projector: Projector;
  readonly logger?: ProjectionLogger;
  /** @defaultValue `STARTUP_CHECK_INTERVAL_MS` */
  readonly intervalMs?: number;
  /** Maximum of conversations that are checked. @defaultValue `SWEEP_CHECKS` */
  readonly maxConversations?: number;
}

const LEASE = 'startup-check';
const TRIES_IN_INTERVAL = 5;
/** Milliseconds. If several workers were killed in turn, the newest losses are among the latest changes. */
const JUST_NOW_MS = 30_000;
const MAX_PAGES = 10;
const CHECKS_AT_ONCE = 16;

export class StartupCheck {
  readonly #deps: Required<StartupCheckDeps>;
  readonly #outages: Outages;
  readonly #limited = pLimit(CHECKS_AT_ONCE);
  readonly #stopping = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  constructor(deps: StartupCheckDeps) {
    this.#deps = {
      logger: SILENT,
      intervalMs: STARTUP_CHECK_INTERVAL_MS,
      maxConversations: SWEEP_CHECKS,
      ...deps,
    };
    this.#outages = new Outages(this.#deps.logger);
  }

  /**
   * Resolves to the number of conversations that had moved, once the catch-up of each has begun; undefined if another
   * worker's check covers it, or when it was stopped before. Never throws: the sweep follows.
   */
  async run(): Promise<number | undefined> {
    const run = this.#run();
    this.#running = Promise.all([this.#running, run]).then(() => undefined);
    return await run;
  }

  /** Resolves after the requests that are under way; a later run ends at once. Never throws. Safe to repeat. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<number | undefined> {
    try {
      return (await this.#acquires()) ? await this.#check() : undefined;
    } catch (error) {
      this.#outages.failed(error, '(check at startup)');
      return undefined;
    }
  }

  /** False once the lease must have changed hands since this worker started: so another check has begun since then. */
  async #acquires(): Promise<boolean> {
    const { log, intervalMs, source } = this.#deps;
    const { signal } = this.#stopping;
    const lease = { name: leaseName(LEASE, source), holder: randomUUID(), ttlMs: intervalMs };
    for (let tried = 0; tried <= TRIES_IN_INTERVAL && !signal.aborted; tried += 1) {
      if (await log.acquireLease(lease)) return true;
      const pauseMs = (intervalMs / TRIES_IN_INTERVAL) * 1.1;
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
    return false;
  }

  async #check(): Promise<number> {
    const { log, maxConversations } = this.#deps;
    const justNow = await this.#changedJustNow();
    const lately =
      justNow.length < maxConversations
        ? await log.recentHeads({ limit: maxConversations, withinMs: SWEEP_RECENT_MS })
        : [];
    const heads = new Map(
      [...newestFirst(justNow), ...newestFirst(lately)].map((head) => [
        conversationKey(head),
        head,
      ]),
    );
    const known = [...heads.values()]
      .slice(0, maxConversations)
      .map((head) => this.#compare(head, head));
    const [moved, begun] = await Promise.all([Promise.all(known), this.#begunLast()]);
    return [...moved, ...begun].filter(Boolean).length;
  }

  /** In pages, since the store returns the oldest first. */
  async #changedJustNow(): Promise<readonly OpenHead[]> {
    const { log, maxConversations } = this.#deps;
    let heads: readonly OpenHead[] = [];
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const after = heads.at(-1);
      const next = await log.recentHeads({
        limit: maxConversations,
        withinMs: JUST_NOW_MS,
        ...(after === undefined ? {} : { after }),
      });
      heads = [...heads, ...next];
      if (next.length < maxConversations) break;
    }
    return heads;
  }

  /** The store may know nothing at all of a conversation whose first worker was lost. */
  async #begunLast(): Promise<readonly boolean[]> {
    const { log, source, maxConversations } = this.#deps;
    if (source.running === undefined) return [];
    const keys: ConversationKey[] = [];
    for await (const key of source.running())
      if (keys.push(key) >= maxConversations || this.#stopping.signal.aborted) break;
    const unknown = await log.notOpen(keys);
    return await Promise.all(unknown.map((key) => this.#compare(key, undefined)));
  }

  /** Whether the run is another or has continued since it was stored; its events are then fetched. */
  async #compare(
    { tenant, conversationId }: ConversationKey,
    head: OpenHead | undefined,
  ): Promise<boolean> {
    const key = { tenant, conversationId };
    const { source, projector } = this.#deps;
    try {
      const found = await this.#limited(async () =>
        this.#stopping.signal.aborted ? undefined : await source.describe(key),
      );
      if (found === undefined || this.#stopping.signal.aborted) return false;
      const { runId, historyLength, status } = found;
      if (runId === head?.runId && historyLength === head.historyLength) return false;
      // Where events are being read already, this worker has the run, or a check is under way.
      if (status === 'running' && !projector.follows(key))
        await this.#limited(() => this.#forgetWorker(key, runId));
      projector.check(key, found);
      return true;
    } catch (error) {
      this.#outages.failed(error, conversationKey(key));
      return false;
    }
  }

  /** The query that follows only takes longer where the server refuses this. */
  async #forgetWorker(key: ConversationKey, runId: string): Promise<void> {
    await this.#deps.source.forgetWorker?.(key, runId).catch(() => undefined);
  }
}

function newestFirst(heads: readonly OpenHead[]): readonly OpenHead[] {
  return [...heads].sort((one, other) => other.changedAtMs - one.changedAtMs);
}

/**
 * Repairs lost hints: one process at a time looks at every open conversation, and asks those whose run or history length
 * moved since they were last projected. One that has been still for an hour is looked at in every tenth pass only. Closes
 * the logs of conversations whose run was ended from outside. Runs in workers, beside the projector.
 */
import { randomUUID } from 'node:crypto';

import type { ConversationKey } from '../protocol/ids.js';
import { conversationKey } from '../protocol/ids.js';
import { SWEEP_INTERVAL_MS } from '../protocol/limits.js';
import type { EventLog, LogHead } from '../store/port.js';
import { Gate } from './gate.js';
import type { ProjectionLogger } from './outages.js';
import { Outages, SILENT } from './outages.js';
import type { Projector } from './projector.js';
import { ENDED_TEXTS } from './run-ended.js';
import type { EndedBy, WorkflowSource } from './workflow-source.js';

export interface SweepDeps {
  readonly log: EventLog;
  readonly source: WorkflowSource;
  readonly projector: Projector;
  readonly logger?: ProjectionLogger;
  /** @defaultValue `SWEEP_INTERVAL_MS` */
  readonly intervalMs?: number;
}

/** What one pass found. */
export interface SweepReport {
  /** Without those that have been still for long, when it is not their turn. */
  readonly looked: number;
  /** Conversations whose workflow was asked, because it had moved. */
  readonly asked: number;
  /** Conversations that run, but were not in the store, or closed there. */
  readonly found: number;
  /** Open in the store, but Temporal does not know the workflow (any more). */
  readonly gone: number;
  /** Open in the store, but the workflow ended without saying so. Terminated, timed out, failed: closed in the store now. */
  readonly endedSilently: number;
  /** Looked at in vain: the store or the workflow did not answer. */
  readonly failed: number;
}

const LEASE = 'sweep';
/**
 * The lease is renewed so often between two passes, and lost after two renewals that were missed. What a killed worker told
 * last is in no store; if it was the leader, the next one has to find that soon.
 */
const BEATS = 6;
const LEASE_BEATS = 3;
const PAGE_SIZE = 200;
const LOOKS_AT_ONCE = 8;
/** Conversations that the store has never heard of are searched for less often: listing costs the server more. */
const SEARCH_EVERY_PASSES = 10;
/** Conversations may wait for people for weeks: what has not moved for `STILL_MS` is looked at every tenth pass. */
const STILL_MS = 60 * 60 * 1_000;
const LOOK_AT_STILL_EVERY_PASSES = 10;
const MAX_REPORTED = 10_000;

type Finding = 'still' | 'asked' | 'gone' | 'endedSilently' | 'failed';

export class Sweep {
  readonly #deps: Required<SweepDeps>;
  readonly #holder = randomUUID();
  readonly #outages: Outages;
  readonly #gate = new Gate(LOOKS_AT_ONCE);
  readonly #reported = new Set<string>();
  #passes = 0;
  #isLeading = false;
  #passedAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<unknown> = Promise.resolve();
  #started = false;
  #stopping = false;

  constructor(deps: SweepDeps) {
    this.#deps = { logger: SILENT, intervalMs: SWEEP_INTERVAL_MS, ...deps };
    this.#outages = new Outages(this.#deps.logger);
  }

  /** Begins to sweep, the first time as soon as it leads. Does not keep the process alive. */
  start(): void {
    if (this.#started) return;
    this.#started = true;
    this.#stopping = false;
    this.#next();
  }

  /** Ends after the pass that runs, and hands the lease on. Never throws. */
  async stop(): Promise<void> {
    this.#started = false;
    this.#stopping = true;
    clearTimeout(this.#timer);
    await this.#running;
    await this.#deps.log.releaseLease({ name: LEASE, holder: this.#holder }).catch(() => undefined);
  }

  /** One pass now. Undefined when another process leads. @throws {StoreUnavailable} when the store cannot be read. */
  async pass(): Promise<SweepReport | undefined> {
    const counts: Record<Finding, number> = {
      still: 0,
      asked: 0,
      gone: 0,
      endedSilently: 0,
      failed: 0,
    };
    let after: ConversationKey | undefined;
    do {
      if (!(await this.#lead())) return undefined;
      const heads = await this.#deps.log.openHeads({
        limit: PAGE_SIZE,
        ...(after === undefined ? {} : { after }),
      });
      const findings = heads
        .filter((head) => this.#isDue(head))
        .map((head) => this.#gate.run(async () => await this.#look(head)));
      for (const finding of await Promise.all(findings)) counts[finding] += 1;
      after = heads.length < PAGE_SIZE ? undefined : heads.at(-1);
    } while (after !== undefined && !this.#stopping);
    const { still, asked, gone, endedSilently, failed } = counts;
    const looked = still + asked + gone + endedSilently + failed;
    const found = this.#passes % SEARCH_EVERY_PASSES === 0 ? await this.#search() : 0;
    this.#passes += 1;
    return { looked, asked, found, gone, endedSilently, failed };
  }

  #next(): void {
    this.#timer = setTimeout(() => {
      this.#running = this.#beat()
        .then(
          () => {
            this.#outages.succeeded();
          },
          (error: unknown) => {
            this.#outages.failed(error, '(sweep)');
          },
        )
        .finally(() => {
          if (this.#started) this.#next();
        });
    }, this.#deps.intervalMs / BEATS);
    this.#timer.unref();
  }

  /** Keeps or gets the lease; whoever has just got it, or led for an interval, makes a pass. */
  async #beat(): Promise<void> {
    const hasLed = this.#isLeading;
    this.#isLeading = false;
    this.#isLeading = await this.#lead();
    if (!this.#isLeading) return;
    const now = performance.now();
    if (hasLed && now - this.#passedAt < this.#deps.intervalMs) return;
    this.#passedAt = now;
    await this.pass();
  }

  async #lead(): Promise<boolean> {
    const ttlMs = Math.round((this.#deps.intervalMs / BEATS) * LEASE_BEATS);
    return await this.#deps.log.acquireLease({ name: LEASE, holder: this.#holder, ttlMs });
  }

  #isDue(head: LogHead): boolean {
    const isStill = Date.now() - Date.parse(head.snapshot.updatedAt) > STILL_MS;
    return !isStill || this.#passes % LOOK_AT_STILL_EVERY_PASSES === 0;
  }

  async #look(head: LogHead): Promise<Finding> {
    const { log, source, projector } = this.#deps;
    try {
      const found = await source.describe(head);
      if (found === undefined) return this.#silent(head, 'gone');
      const key = { tenant: head.tenant, conversationId: head.conversationId };
      const { runId, historyLength, status } = found;
      if (found.endedBy !== undefined) {
        const { outcome } = await projector.catchUp(key, found);
        return outcome === 'ended' ? this.#silent(head, 'endedSilently', found.endedBy) : 'asked';
      }
      const hasMoved = runId !== head.runId || historyLength !== head.historyLength;
      if (!hasMoved) return status === 'closed' ? this.#silent(head, 'endedSilently') : 'still';
      const progress = await projector.catchUp(key, { runId, historyLength });
      // Otherwise the head keeps the run that may still have what is missing.
      if (progress.outcome === 'caught_up') await log.touch(key, { runId, historyLength });
      return 'asked';
    } catch (error) {
      this.#outages.failed(error, conversationKey(head));
      return 'failed';
    }
  }

  /** Said once. The log says what the conversation decided; only what ended it from outside is added. */
  #silent(head: LogHead, finding: 'gone' | 'endedSilently', endedBy?: EndedBy): Finding {
    const conversation = conversationKey(head);
    if (!this.#reported.has(conversation)) {
      if (this.#reported.size >= MAX_REPORTED) this.#reported.clear();
      this.#reported.add(conversation);
      const ended = endedBy === undefined ? 'ended without closing' : ENDED_TEXTS[endedBy];
      const what = finding === 'gone' ? 'is not known to Temporal' : ended;
      const then = endedBy === undefined ? 'stays as it is' : 'is closed';
      this.#deps.logger.warn(`The workflow of ${conversation} ${what}; its log ${then}`, {
        conversation,
        runId: head.runId,
      });
    }
    return finding;
  }

  /** Finds running conversations that are not in the store, or closed there: all their hints were lost. */
  async #search(): Promise<number> {
    const { log, source, projector } = this.#deps;
    if (source.running === undefined) return 0;
    let count = 0;
    try {
      for await (const key of source.running()) {
        if (this.#stopping) break;
        const head = await log.head(key);
        if (head !== undefined && head.snapshot.status !== 'closed') continue;
        const found = await source.describe(key);
        if (found === undefined) continue;
        count += 1;
        await projector.catchUp(key, found);
      }
    } catch (error) {
      this.#outages.failed(error, '(search for unknown conversations)');
    }
    return count;
  }
}

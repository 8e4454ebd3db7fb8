/**
 * Repairs lost hints: one worker of a task queue at a time describes open conversations, and queries those whose run or
 * history length moved since they were last projected. Closes the logs of conversations whose run was ended from
 * outside. Runs in workers, beside the projector.
 *
 * S1  A pass describes a bounded number of conversations, however many there are: those with recently stored events,
 * for which a hint may just have been lost, and the others in turn.
 * S2  If all open conversations fit into one pass, each pass describes all of them.
 */
import { randomUUID } from 'node:crypto';
import pLimit from 'p-limit';
import {
  SWEEP_BEAT_MS,
  SWEEP_CHECKS,
  SWEEP_INTERVAL_MS,
  SWEEP_PAUSE_MS,
  SWEEP_RECENT_CHECKS,
  SWEEP_RECENT_MS,
} from '../../protocol/limits/service-limits.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { conversationKey } from '../../protocol/values/ids.js';
import type { OpenHead } from '../../store/ports/lists.js';
import type { EventLog } from '../../store/ports/log.js';
import { ENDED_TEXTS } from '../catch-up/run-ended.js';
import type { TroubleWatch } from '../duties/trouble-watch.js';
import type { ProjectionLogger } from '../source/outages.js';
import { Outages, SILENT } from '../source/outages.js';
import { Passes } from '../source/passes.js';
import {
  type EndedBy,
  leaseName,
  type WorkflowDescription,
  type WorkflowSource,
} from '../source/workflow-source.js';
import { ClosedSearch } from './closed-search.js';
import type { Projector } from './projector.js';
import { noteOf, type SweepReport } from './sweep-note.js';

export interface SweepDeps {
  readonly log: EventLog;
  /** The workers of each task queue have a leader, because each source lists its own conversations. */
  readonly source: WorkflowSource;
  readonly projector: Projector;
  readonly logger?: ProjectionLogger;
  /** @defaultValue `SWEEP_INTERVAL_MS` */
  readonly intervalMs?: number;
  /** Maximum of conversations described in one pass. @defaultValue `SWEEP_CHECKS` */
  readonly checksPerPass?: number;
  /** Keeps marks of conversations whose tasks never complete. Absent: there are none. */
  readonly troubles?: TroubleWatch | undefined;
  /** Further duties of a leader after each pass; they begin nothing more once `isStopping()`. */
  readonly afterPass?: (isStopping: () => boolean) => Promise<void>;
  /** Names the process as the leader; no other may have the same. @defaultValue a random one */
  readonly holder?: string;
}

const LEASE = 'sweep';
/** The lease is renewed at least this often between two passes, and lost after two renewals that were missed. */
const BEATS = 6;
const LEASE_BEATS = 3;
/** The lease is renewed after this many descriptions. */
const CHECKS_PER_RENEWAL = 100;
/** Keys in one statement to the store. */
const KEYS_AT_ONCE = 500;
const CHECKS_AT_ONCE = 8;
/** Conversations that the store does not have are searched for less often: listing costs the server more. */
const SEARCH_EVERY_PASSES = 10;
const MAX_REPORTED = 10_000;

type Finding = 'still' | 'asked' | 'gone' | 'endedSilently' | 'failed';

export class Sweep {
  readonly #deps: Required<SweepDeps>;
  /** The position where the next pass continues; undefined = at the first. */
  #recentAfter: OpenHead | undefined;
  #openAfter: OpenHead | undefined;
  readonly #lease: string;
  /** The newest pass, for those who look at the lease: the next beat writes it. */
  #note: string | undefined;
  readonly #outages: Outages;
  readonly #limited = pLimit(CHECKS_AT_ONCE);
  readonly #reported = new Set<string>();
  readonly #closed: ClosedSearch;
  readonly #beats: Passes;
  #passes = 0;
  #isLeading = false;
  #passedAt = 0;
  #passing: Promise<unknown> | undefined;

  constructor(deps: SweepDeps) {
    this.#deps = {
      logger: SILENT,
      intervalMs: SWEEP_INTERVAL_MS,
      checksPerPass: SWEEP_CHECKS,
      afterPass: () => Promise.resolve(),
      troubles: undefined,
      holder: randomUUID(),
      ...deps,
    };
    this.#lease = leaseName(LEASE, deps.source);
    this.#outages = new Outages(this.#deps.logger);
    this.#closed = new ClosedSearch(this.#deps);
    this.#beats = new Passes({
      pass: () => this.#beat(),
      name: 'sweep',
      outages: this.#outages,
      intervalMs: this.#beatMs(),
    });
  }

  /** Begins to sweep, the first time as soon as it leads. Does not keep the process alive. */
  start(): void {
    this.#beats.start();
  }

  /** Ends after the requests that are under way, and releases the lease. Never throws. */
  async stop(): Promise<void> {
    await this.#beats.stop();
    await this.#passing;
    await this.#deps.log
      .releaseLease({ name: this.#lease, holder: this.#deps.holder })
      .catch(() => undefined);
  }

  /** Runs one pass. Undefined when another process leads. @throws {StoreUnavailable} when the store cannot be read. */
  async pass(): Promise<SweepReport | undefined> {
    const counts: Record<Finding, number> = {
      still: 0,
      asked: 0,
      gone: 0,
      endedSilently: 0,
      failed: 0,
    };
    const begunAt = performance.now();
    if (!(await this.#lead())) return undefined;
    const heads = await this.#chosen();
    for (let from = 0; from < heads.length && !this.#beats.isStopping; from += CHECKS_PER_RENEWAL) {
      if (from > 0 && !(await this.#lead())) return undefined;
      const findings = heads
        .slice(from, from + CHECKS_PER_RENEWAL)
        .map((head) => this.#limited(async () => await this.#check(head)));
      for (const finding of await Promise.all(findings))
        if (finding !== undefined) counts[finding] += 1;
    }
    const { still, asked, gone, endedSilently, failed } = counts;
    const checked = still + asked + gone + endedSilently + failed;
    const isSearchDue = this.#passes % SEARCH_EVERY_PASSES === 0 && !this.#beats.isStopping;
    const found = isSearchDue ? (await this.#search()) + (await this.#searchClosed()) : 0;
    await this.#recheckTroubles();
    this.#passes += 1;
    if (!this.#beats.isStopping) await this.#deps.afterPass(() => this.#beats.isStopping);
    const report = { checked, asked, found, gone, endedSilently, failed };
    this.#note = noteOf(report, performance.now() - begunAt);
    return report;
  }

  #beatMs(): number {
    return Math.min(this.#deps.intervalMs / BEATS, SWEEP_BEAT_MS);
  }

  /**
   * Keeps or gets the lease; a process that has just got it, or led for an interval, starts a pass. A pass may take
   * longer than the lease lasts, so the beat does not wait for it.
   */
  async #beat(): Promise<void> {
    const hasLed = this.#isLeading;
    this.#isLeading = false;
    this.#isLeading = await this.#lead();
    if (!this.#isLeading) return;
    const now = performance.now();
    const { intervalMs } = this.#deps;
    const pauseMs = hasLed ? intervalMs : Math.min(intervalMs, SWEEP_PAUSE_MS);
    const isTooSoon = this.#passedAt > 0 && now - this.#passedAt < pauseMs;
    if (isTooSoon || this.#passing !== undefined) return;
    this.#passedAt = now;
    this.#passing = this.pass().then(
      () => {
        this.#passing = undefined;
      },
      (error: unknown) => {
        this.#passing = undefined;
        this.#outages.failed(error, '(sweep)');
      },
    );
  }

  async #lead(): Promise<boolean> {
    const ttlMs = Math.round(this.#beatMs() * LEASE_BEATS);
    const note = this.#note;
    const isLeading = await this.#deps.log.acquireLease({
      ...{ name: this.#lease, holder: this.#deps.holder, ttlMs },
      ...(note === undefined ? {} : { note }),
    });
    // Without the lease, the pass of the next leader is the newest.
    if (this.#note === note) this.#note = undefined;
    return isLeading;
  }

  /** S1: two statements for any number of conversations. */
  async #chosen(): Promise<readonly OpenHead[]> {
    const { log, checksPerPass } = this.#deps;
    const recentLimit = Math.min(SWEEP_RECENT_CHECKS, Math.ceil((checksPerPass * 2) / 3));
    const recent = await log.recentHeads({
      limit: recentLimit,
      withinMs: SWEEP_RECENT_MS,
      ...(this.#recentAfter === undefined ? {} : { after: this.#recentAfter }),
    });
    this.#recentAfter = recent.length < recentLimit ? undefined : recent.at(-1);
    const limit = checksPerPass - recent.length;
    const { tenant, conversationId } = this.#openAfter ?? {};
    const inTurn = await log.openHeads({
      limit,
      ...(tenant === undefined || conversationId === undefined
        ? {}
        : { after: { tenant, conversationId } }),
    });
    this.#openAfter = inTurn.length < limit ? undefined : inTurn.at(-1);
    return [
      ...new Map([...inTurn, ...recent].map((head) => [conversationKey(head), head])).values(),
    ];
  }

  /** Undefined when the sweep stops before the check has begun. */
  async #check(head: OpenHead): Promise<Finding | undefined> {
    if (this.#beats.isStopping) return undefined;
    const { log, source, projector } = this.#deps;
    try {
      const found = await source.describe(head);
      if (found === undefined) return this.#silent(head, 'gone');
      await this.#noteTrouble(head, found);
      const key = { tenant: head.tenant, conversationId: head.conversationId };
      const { runId, historyLength, status } = found;
      if (found.endedBy !== undefined) {
        const { outcome } = await projector.catchUp(key, found);
        return outcome === 'ended' ? this.#silent(head, 'endedSilently', found.endedBy) : 'asked';
      }
      const hasMoved = runId !== head.runId || historyLength !== head.historyLength;
      if (!hasMoved) return status === 'closed' ? this.#silent(head, 'endedSilently') : 'still';
      // The events that this worker decides come with hints; a query would take the time of its tasks.
      if (projector.follows(key)) return 'still';
      const progress = await projector.catchUp(key, { runId, historyLength });
      // Otherwise the head keeps the run that may still have the missing events.
      if (progress.outcome === 'caught_up')
        await log.touch(key, { runId, historyLength, wasRunId: head.runId });
      return 'asked';
    } catch (error) {
      this.#outages.failed(error, conversationKey(head));
      return 'failed';
    }
  }

  async #noteTrouble(key: ConversationKey, { trouble }: WorkflowDescription): Promise<void> {
    const { tenant, conversationId } = key;
    if (trouble !== undefined)
      await this.#deps.troubles?.found({ tenant, conversationId }, trouble);
  }

  /**
   * Finds those that the server reports at once, however many conversations there are; a server that reports none
   * returns an empty list.
   */
  async #recheckTroubles(): Promise<void> {
    const { troubles, source } = this.#deps;
    const isStopping = (): boolean => this.#beats.isStopping;
    if (troubles === undefined || isStopping()) return;
    try {
      for await (const key of source.reported?.() ?? []) {
        if (isStopping()) return;
        const found = await source.describe(key);
        if (found !== undefined) await this.#noteTrouble(key, found);
      }
    } catch {
      // The server does not know the search attribute, or cannot be reached now: the descriptions above find them, only
      // later.
    }
    await troubles.recheck({
      describe: async (key) => (await source.describe(key))?.trouble,
      isStopping,
    });
  }

  /** Logs once. The stored log holds the decisions of the conversation; only an end from outside is added. */
  #silent(head: OpenHead, finding: 'gone' | 'endedSilently', endedBy?: EndedBy): Finding {
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
    const { log, source } = this.#deps;
    if (source.running === undefined) return 0;
    let count = 0;
    const compare = async (keys: readonly ConversationKey[]): Promise<void> => {
      const unknown = await log.notOpen(keys);
      const found = await Promise.all(
        unknown.map((key) => this.#limited(async () => await this.#bringIn(key))),
      );
      count += found.filter(Boolean).length;
    };
    try {
      let keys: ConversationKey[] = [];
      for await (const key of source.running()) {
        if (this.#beats.isStopping) break;
        if (keys.push(key) < KEYS_AT_ONCE) continue;
        await compare(keys);
        keys = [];
      }
      await compare(keys);
    } catch (error) {
      this.#outages.failed(error, '(search for unknown conversations)');
    }
    return count;
  }

  async #searchClosed(): Promise<number> {
    if (this.#beats.isStopping) return 0;
    try {
      const keys = await this.#closed.next();
      const found = keys.map((key) => this.#limited(async () => await this.#bringIn(key)));
      return (await Promise.all(found)).filter(Boolean).length;
    } catch (error) {
      this.#outages.failed(error, '(search for closed conversations)');
      return 0;
    }
  }

  /** One whose worker is gone fails after the deadline of a query, which must not hold up the others. */
  async #bringIn(key: ConversationKey): Promise<boolean> {
    if (this.#beats.isStopping) return false;
    const { source, projector } = this.#deps;
    try {
      const found = await source.describe(key);
      if (found === undefined) return false;
      await this.#noteTrouble(key, found);
      return (await projector.catchUp(key, found)).outcome !== 'deleted';
    } catch (error) {
      this.#outages.failed(error, conversationKey(key));
      return false;
    }
  }
}

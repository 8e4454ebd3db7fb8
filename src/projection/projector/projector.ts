/**
 * Copies canonical events from workflows into the event log: worker side, off the critical path. Hints name
 * conversations that have moved; only committed events are stored (`event-source.ts`). Nothing here ever stops a turn.
 *
 * J1  One catch-up of a conversation at a time.
 * J2  A hint that arrives while its conversation is being queried is followed afterwards, never dropped.
 * J3  A store outage loses nothing: hints are kept and tried again until the process ends; then the sweep finds them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { PROJECTION_DELAY_MS } from '../../protocol/limits/service-limits.js';
import { changesWaitingCalls } from '../../protocol/log/urgency.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { conversationKey } from '../../protocol/values/ids.js';
import type { Hint } from '../../protocol/workflow/messaging.js';
import { type LiveChannel, tenantKey } from '../../store/ports/live.js';
import type { EventLog } from '../../store/ports/log.js';
import { StoreUnavailable } from '../../store/ports/log.js';
import type { Progress, Target } from '../catch-up/catch-up.js';
import { CatchUp } from '../catch-up/catch-up.js';
import type { ProjectionLogger } from '../source/outages.js';
import { Outages, SILENT } from '../source/outages.js';
import type { WorkflowSource } from '../source/workflow-source.js';
import { RunningCheck } from './running-check.js';
import { SettledDoubts } from './settled-doubts.js';
import { doubtOf, isCheck, isDoubtful, joined, type Wanted } from './wanted.js';

export interface ProjectorDeps {
  readonly log: EventLog;
  readonly live: LiveChannel;
  readonly source: WorkflowSource;
  readonly logger?: ProjectionLogger;
}

/**
 * Milliseconds. The events that callers wait for (a turn's end, a suspension) are fetched at once when a watcher is
 * subscribed, along with all earlier ones; the events that only people wait for while the turn continues, soon. A watcher
 * of the tenant, who reads its worklist or offers, counts for the events that open or end calls: those with which calls
 * of machines open are fetched at once, the others soon. The rest waits a little, and longer the more conversations move
 * at once: a catch-up after every task of a short turn would cost more than the turn.
 */
const SOON_MS = 250;
const DELAY_PER_LANE_MS = 25;
const MAX_DELAY_MS = 1_000;
const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 5_000;
/**
 * The same after a query without an answer in its time: a worker may answer at any moment, and readers wait for the
 * events. A query that is refused at once, as by a workflow whose tasks fail, is repeated less often.
 */
const MAX_QUERY_RETRY_MS = 500;
const WITHOUT_ANSWER_MS = 900;
/** A worker that was lost is usually replaced by then. Conversations without a worker are queried less often. */
const SOON_REPLACED_MS = 20_000;
/** A workflow that does not answer for this long (no worker, a broken task) is left to the sweep. */
const MAX_SILENCE_MS = 60_000;
/** After an outage all conversations come at once; workers have turns to run, too. */
const MAX_QUERIES_AT_ONCE = 32;
/** Checks have their own limit: conversations that do not answer must not hold up those that move. */
const MAX_CHECKS_AT_ONCE = 16;
const DRAIN_MS = 5_000;
/** Part of it for checks: a run without a worker does not answer, and other workers check it as well. */
const DRAIN_CHECKS_MS = 1_000;
const FLUSH_TRIES = 6;
const FLUSH_RETRY_MS = 100;

/** Pending work of one conversation; exists only while there is some. */
interface Lane {
  readonly key: ConversationKey;
  readonly name: string;
  wanted?: Wanted | undefined;
  timer?: NodeJS.Timeout | undefined;
  dueAt: number;
  running?: Promise<void> | undefined;
  failures: number;
  /** Longest pause before the next try. */
  maxRetryMs: number;
  check?: RunningCheck | undefined;
  /** Checks that were given up in a row. */
  givenUp: number;
  /** Present while the store works and the workflow does not answer: since when, on the steady clock. */
  silentSince?: number | undefined;
}

export class Projector {
  readonly #deps: Required<ProjectorDeps>;
  readonly #catchUp: CatchUp;
  readonly #outages: Outages;
  readonly #limited = pLimit(MAX_QUERIES_AT_ONCE);
  readonly #limitedChecks = pLimit(MAX_CHECKS_AT_ONCE);
  readonly #settled = new SettledDoubts();
  readonly #lanes = new Map<string, Lane>();
  #draining = false;
  /** Checks are given up as they begin: they would outlast the drain. */
  #checksEnded = false;

  constructor(deps: ProjectorDeps) {
    this.#deps = { logger: SILENT, ...deps };
    this.#catchUp = new CatchUp(this.#deps);
    this.#outages = new Outages(this.#deps.logger);
  }

  /** Notes a hint that a conversation has got further. Never throws, never waits; repeats are free. */
  hint(hint: Hint): void {
    const { runId, seq, urgency, tenant, conversationId, doubt } = hint;
    const key = { tenant, conversationId };
    if (doubt === true) {
      // The newest stored event, too: the others are compared with it.
      if (this.#catchUp.mayLack(key, { runId, seq: seq + 1 })) this.#deps.source.pushed?.(hint);
      if (this.#settled.has({ runId, seq })) return;
      if (hint.pushed !== undefined && this.#catchUp.mayLack(key, { runId, seq }))
        this.#lanes.get(conversationKey(key))?.check?.giveUp();
      this.check(key, { runId, seq, doubt });
      return;
    }
    this.#deps.source.pushed?.(hint);
    const calls = hint.pushed?.events.some(changesWaitingCalls) === true;
    this.#want(key, { runId, seq, urgency, ...(calls ? { calls } : {}) });
  }

  /**
   * Catches up with one conversation at once, and again while it does not answer: for events that may have been lost
   * with another worker. Never throws, never waits; repeats are free.
   */
  check(key: ConversationKey, target: Target): void {
    this.#want(key, { ...target, urgency: 'now' });
  }

  /** Whether events of the conversation are being fetched, or will be. */
  follows(key: ConversationKey): boolean {
    return this.#lanes.has(conversationKey(key));
  }

  #want(key: ConversationKey, wanted: Wanted): void {
    const lane = this.#laneOf(key);
    lane.wanted = joined(lane.wanted, wanted);
    if (isCheck(wanted) && wanted.doubt !== true) lane.check?.isWantedAgain();
    else lane.check?.runIsHere();
    // The workflow may answer now.
    if (lane.silentSince !== undefined) lane.failures = 0;
    if (lane.running === undefined && lane.failures === 0) this.#schedule(lane);
  }

  /**
   * Makes sure that the store has everything through a seq, with or without hints: for the step before a roll-over or a
   * close. Safe to repeat.
   * @throws {StoreUnavailable} when it does not have it after about three seconds and as many tries as fit.
   */
  async flush(key: ConversationKey, throughSeq: number): Promise<{ readonly storedSeq: number }> {
    let failure: unknown;
    for (let attempt = 1; attempt <= FLUSH_TRIES; attempt += 1) {
      try {
        const current = await this.#deps.source.describe(key);
        if (current === undefined) throw new Error('the workflow does not exist any more');
        const { storedSeq, outcome } = await this.catchUp(key, { runId: current.runId });
        // A deleted conversation has no readers, so nothing has to be stored before the run may end.
        if (outcome === 'deleted') return { storedSeq: throughSeq };
        if (storedSeq >= throughSeq) return { storedSeq };
        failure = new Error(`stored through seq ${storedSeq}`);
      } catch (error) {
        failure = error;
      }
      if (attempt < FLUSH_TRIES) await sleep(FLUSH_RETRY_MS * 2 ** (attempt - 1));
    }
    const reason = failure instanceof Error ? failure.message : String(failure);
    throw new StoreUnavailable(
      `The event log does not have ${conversationKey(key)} through seq ${throughSeq}: ${reason}`,
      { cause: failure },
    );
  }

  /**
   * Catches up with one workflow now, in turn with its hints. For the sweep. @throws errors of the store and of the
   * source
   */
  async catchUp(key: ConversationKey, target: Target): Promise<Progress> {
    let lane = this.#laneOf(key);
    while (lane.running !== undefined) {
      await lane.running;
      // Lanes end with their work; another one may have begun.
      lane = this.#laneOf(key);
    }
    const work = this.#limited(async () => await this.#catchUp.run(key, target));
    lane.running = work.then(
      () => undefined,
      () => undefined,
    );
    try {
      return await work;
    } finally {
      this.#finish(lane);
    }
  }

  /**
   * Fetches at once everything hinted so far and waits for it, one try each: for shutdown, while a worker still answers
   * queries. Never throws, ends after five seconds at most; later hints are followed as usual.
   */
  async drain(): Promise<void> {
    this.#draining = true;
    const giveUpAt = performance.now() + DRAIN_MS;
    const endChecks = setTimeout(() => {
      this.#checksEnded = true;
      for (const lane of this.#lanes.values()) lane.check?.abandon();
    }, DRAIN_CHECKS_MS);
    try {
      // A worker that still runs brings new hints for ever.
      while (this.#lanes.size > 0 && performance.now() < giveUpAt) {
        for (const lane of this.#lanes.values()) this.#start(lane);
        const running = [...this.#lanes.values()].map(async (lane) => await lane.running);
        const leftMs = giveUpAt - performance.now();
        await Promise.race([Promise.all(running), sleep(leftMs, undefined, { ref: false })]);
      }
    } finally {
      clearTimeout(endChecks);
      this.#draining = false;
      this.#checksEnded = false;
    }
  }

  #laneOf(key: ConversationKey): Lane {
    const name = conversationKey(key);
    const known = this.#lanes.get(name);
    if (known !== undefined) return known;
    const dueAt = Number.POSITIVE_INFINITY;
    const lane: Lane = { key, name, dueAt, failures: 0, maxRetryMs: MAX_RETRY_MS, givenUp: 0 };
    this.#lanes.set(name, lane);
    return lane;
  }

  #schedule(lane: Lane): void {
    if (lane.wanted === undefined) return;
    const delayMs = lane.failures > 0 ? retryDelay(lane) : this.#delayFor(lane);
    if (delayMs === 0) {
      // A timer takes a millisecond at least. The task that hints goes to the server first.
      setImmediate(() => {
        if (lane.wanted !== undefined) this.#start(lane);
      });
      return;
    }
    const dueAt = performance.now() + delayMs;
    if (lane.timer !== undefined && lane.dueAt <= dueAt) return;
    clearTimeout(lane.timer);
    lane.dueAt = dueAt;
    lane.timer = setTimeout(() => {
      this.#start(lane);
    }, delayMs);
    // The sweep of another process finds the events that are not stored when this one ends.
    lane.timer.unref();
  }

  #delayFor(lane: Lane): number {
    const { wanted, key } = lane;
    const { urgency = 'later', again, calls } = wanted ?? {};
    const { live } = this.#deps;
    const delayMs = PROJECTION_DELAY_MS + this.#lanes.size * DELAY_PER_LANE_MS;
    if (wanted !== undefined && isCheck(wanted)) return 0;
    if (wanted?.soon === true) return Math.min(delayMs, SOON_MS);
    const isWaitedFor =
      again !== true &&
      ((urgency !== 'later' && live.watched(key) !== undefined) ||
        (calls === true && live.watched(tenantKey(key.tenant)) !== undefined));
    if (!isWaitedFor) return Math.min(delayMs, MAX_DELAY_MS);
    return urgency === 'now' ? 0 : Math.min(delayMs, SOON_MS);
  }

  #start(lane: Lane): void {
    clearTimeout(lane.timer);
    lane.timer = undefined;
    if (lane.running !== undefined) return;
    const { wanted } = lane;
    lane.wanted = undefined;
    lane.running = (wanted === undefined ? Promise.resolve() : this.#project(lane, wanted)).then(
      () => {
        this.#finish(lane);
      },
    );
  }

  async #project(lane: Lane, wanted: Wanted): Promise<void> {
    const doubt = doubtOf(wanted);
    if (doubt !== undefined && this.#settled.has(doubt)) return;
    const limited = isDoubtful(wanted) ? this.#limitedChecks : this.#limited;
    try {
      const progress = await limited(async () => await this.#catchUpFor(lane, wanted));
      lane.failures = 0;
      lane.givenUp = 0;
      lane.silentSince = undefined;
      this.#outages.succeeded();
      // The hint may have overtaken its own task: one more catch-up, unless the task was lost and there is no more.
      const isShort = isBelow(progress.workflowSeq, wanted.seq);
      if (isShort && progress.outcome === 'caught_up' && wanted.again !== true)
        lane.wanted = joined({ ...wanted, again: true }, lane.wanted);
      else if (doubt !== undefined) this.#settled.settle(doubt);
    } catch (error) {
      if (lane.check?.isGivenUp === true) {
        lane.givenUp += 1;
        // The news says how far the run is; together with a check it would have to be queried.
        if (!this.#draining) lane.wanted ??= wanted;
      } else this.#hasFailed(lane, wanted, error);
    }
  }

  async #catchUpFor(lane: Lane, wanted: Wanted): Promise<Progress> {
    if (!isDoubtful(wanted)) return await this.#catchUp.run(lane.key, wanted);
    const check = new RunningCheck(lane.givenUp);
    lane.check = check;
    if (this.#checksEnded) check.abandon();
    try {
      return await this.#catchUp.run(lane.key, { ...wanted, signal: check.signal });
    } finally {
      check.end();
    }
  }

  #hasFailed(lane: Lane, wanted: Wanted, error: unknown): void {
    this.#outages.failed(error, lane.name);
    const now = performance.now();
    const isOutage = error instanceof StoreUnavailable;
    lane.failures += 1;
    lane.givenUp = 0;
    const tookMs = lane.check?.tookMs ?? 0;
    lane.silentSince = isOutage ? undefined : (lane.silentSince ?? now);
    const silentMs = now - (lane.silentSince ?? now);
    const isSoon = !isOutage && tookMs >= WITHOUT_ANSWER_MS && silentMs < SOON_REPLACED_MS;
    lane.maxRetryMs = isSoon ? MAX_QUERY_RETRY_MS : MAX_RETRY_MS;
    const isHopeless = silentMs >= MAX_SILENCE_MS;
    if (!isHopeless && !this.#draining) lane.wanted = joined(wanted, lane.wanted);
  }

  /** After any work for a conversation: continues with later hints, or removes the lane. */
  #finish(lane: Lane): void {
    lane.running = undefined;
    lane.check = undefined;
    if (lane.wanted !== undefined) this.#schedule(lane);
    else if (lane.timer === undefined) this.#lanes.delete(lane.name);
  }
}

function isBelow(seq: number | undefined, wanted: number | undefined): boolean {
  return seq !== undefined && wanted !== undefined && seq < wanted;
}

function retryDelay({ failures, maxRetryMs }: Lane): number {
  return Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), maxRetryMs);
}

/**
 * Brings the stored log of one conversation up to its workflow. The caller runs one catch-up per conversation at a
 * time.
 *
 * C1  The first event requested is the newest stored one: if it differs, the log has diverged, however far it got
 * since.
 * C2  After a change of run, or if C1 fails, everything that the current run still has is compared.
 * C3  A current run that ends its log earlier than the events another run left in the store was reset: the rest is
 * removed.
 * C4  A current run that was ended from outside is never queried (`RunEndedFromOutside`): its log ends with a marker,
 * as soon as no run before it may have more events.
 * C5  Events that the current run does not have are requested from the runs before it; those that no run has any more
 * are marked (`older-runs.ts`).
 */
import type { ConversationKey } from '../../protocol/values/ids.js';
import { conversationKey } from '../../protocol/values/ids.js';
import { type LiveChannel, tenantKey } from '../../store/ports/live.js';
import type { AppendBatch, EventLog } from '../../store/ports/log.js';
import type { EventsWanted } from '../source/events-query.js';
import type { ProjectionLogger } from '../source/outages.js';
import type { EndedBy, SourcePage, WorkflowSource } from '../source/workflow-source.js';
import { RunEndedFromOutside } from '../source/workflow-source.js';
import { OlderRuns } from './older-runs.js';
import type { EndedRun } from './run-ended.js';
import { markRunEnded } from './run-ended.js';
import type { StoredHead } from './stored-heads.js';
import { StoredHeads } from './stored-heads.js';

/** The assumed state of a workflow, from a hint or from a description of it. */
export interface Target {
  readonly runId: string;
  /** Absent when not known: query in any case. */
  readonly seq?: number;
  /** Read before the events are requested, so that a later change is noticed. */
  readonly historyLength?: number;
  /** The run was found to be ended from outside. */
  readonly endedBy?: EndedBy;
  /** The run is this far at least, and has nothing new: a store that has as much is not compared with it. */
  readonly doubt?: true;
  /** Gives its queries up. */
  readonly signal?: AbortSignal;
}

export interface Progress {
  /** Stored seq; 0 when nothing is stored. */
  readonly storedSeq: number;
  /** Newest seq of the workflow, when it was queried. */
  readonly workflowSeq?: number;
  /**
   * `gap`: the run no longer has the events that the store lacks, and a run that may have them does not answer;
   * permanent if more events are lost at one place than the log is marked for (`older-runs.ts`). `gone`: there is no
   * such workflow. `ended`: the run was ended from outside, and its stored log, if any, is closed. `deleted`: no event
   * of it is to be stored.
   */
  readonly outcome: 'caught_up' | 'gap' | 'gone' | 'ended' | 'deleted';
}

export interface CatchUpDeps {
  readonly log: EventLog;
  readonly live: LiveChannel;
  readonly source: WorkflowSource;
  readonly logger: ProjectionLogger;
}

/** Fresh tries when another process moves the log while pages are fetched. */
const MAX_GAPS = 3;
/** Conversations with a gap are remembered, so that each is reported once. */
const MAX_REPORTED_GAPS = 1_000;

interface Round {
  readonly runId: string;
  readonly after: number;
  readonly historyLength?: number;
  /** Later pages need not go further. */
  readonly upTo?: number;
  readonly patient?: true;
  readonly signal?: AbortSignal;
  /** The head before the run was described, when the run is current and another one than the head's. */
  readonly replaces?: StoredHead;
}

export class CatchUp {
  readonly #deps: CatchUpDeps;
  readonly #heads: StoredHeads;
  readonly #older: OlderRuns;
  readonly #reportedGaps = new Set<string>();

  constructor(deps: CatchUpDeps) {
    this.#deps = deps;
    this.#heads = new StoredHeads(deps.log);
    this.#older = new OlderRuns({
      ...deps,
      heads: this.#heads,
      publish: (head) => {
        this.#publish(head);
      },
    });
  }

  /** Safe to repeat; events stored before an error stay stored. @throws errors of the store and of the source */
  async run(key: ConversationKey, target: Target): Promise<Progress> {
    try {
      return target.endedBy === undefined
        ? await this.#advance(key, target)
        : await this.#compareAll(key, target);
    } catch (error) {
      if (!(error instanceof RunEndedFromOutside)) throw error;
      // A newer run may have begun; that one can be queried.
      return await this.#compareAll(key, target);
    }
  }

  /** False when the store is known to have the log of a run through a seq. */
  mayLack(key: ConversationKey, { runId, seq }: { readonly runId: string; readonly seq: number }) {
    const known = this.#heads.known(key);
    return known?.runId !== runId || known.lastSeq < seq;
  }

  async #advance(key: ConversationKey, target: Target): Promise<Progress> {
    const stored = await this.#heads.get(key);
    const isSameRun = stored?.runId === target.runId;
    if (stored !== undefined && isSameRun && stored.lastSeq === target.seq)
      return { storedSeq: stored.lastSeq, outcome: 'caught_up' };
    if (target.doubt === true && (await this.#isIdle(key, target, stored)))
      return { storedSeq: stored?.lastSeq ?? 0, outcome: 'caught_up' };
    const isBehind = stored !== undefined && (target.seq ?? stored.lastSeq) < stored.lastSeq;
    if (stored === undefined) {
      const page = await this.#deps.source.events(key, wantedOf(target, 0));
      return await this.#follow(key, roundOf(target, 0), page);
    }
    if (isSameRun && !isBehind) {
      const progress = await this.#continue(key, target, stored);
      if (progress !== undefined) return progress;
    }
    return await this.#compareAll(key, target);
  }

  /** True when the store has as much, or the doubt is about an older run, whose query would replay it. */
  async #isIdle(
    key: ConversationKey,
    { runId, seq = 0 }: Target,
    stored: StoredHead | undefined,
  ): Promise<boolean> {
    if (stored !== undefined && stored.lastSeq >= seq) return true;
    return (await this.#deps.source.describe(key))?.runId !== runId;
  }

  /** Continues from the stored events. Undefined when the newest stored event is not the workflow's: see C1. */
  async #continue(
    key: ConversationKey,
    target: Target,
    stored: StoredHead,
  ): Promise<Progress | undefined> {
    const { source } = this.#deps;
    const after = Math.max(0, stored.lastSeq - 1);
    const page = await source.events(key, {
      ...wantedOf(target, after),
      stored: stored.lastSeq,
    });
    const first = page.events[0];
    if (first?.seq === stored.lastSeq) {
      if (!(await this.#heads.isTail(key, stored, first))) return undefined;
    } else if (page.lastSeq < stored.lastSeq) return undefined;
    return await this.#follow(key, roundOf(target, after), page);
  }

  async #compareAll(key: ConversationKey, target: Target): Promise<Progress> {
    // The order matters: a head that is read before the run is found to be current cannot be of a later run.
    const stored = await this.#heads.refresh(key);
    const current = await this.#deps.source.describe(key);
    if (current === undefined) return { storedSeq: stored?.lastSeq ?? 0, outcome: 'gone' };
    const { runId, historyLength, endedBy } = current;
    if (endedBy !== undefined) return await this.#end(key, { ...current, endedBy }, stored);
    const isOtherRun = stored !== undefined && stored.runId !== runId;
    return await this.#follow(key, {
      runId,
      ...patienceOf(target),
      historyLength:
        runId === target.runId ? (target.historyLength ?? historyLength) : historyLength,
      after: 0,
      ...(isOtherRun ? { replaces: stored } : {}),
    });
  }

  /** C4. `stored` was read before the run was described, so no event of a later run is behind the marker. */
  async #end(
    key: ConversationKey,
    run: EndedRun,
    stored: StoredHead | undefined,
  ): Promise<Progress> {
    if (stored === undefined) return { storedSeq: 0, outcome: 'ended' };
    // The run before it may have ended by itself, so the events that it still has are valid.
    const { seq, isAll } = await this.#older.fill(key, run.runId, stored.lastSeq);
    if (!isAll) return { storedSeq: seq, outcome: 'gap' };
    const position = seq > stored.lastSeq ? ((await this.#heads.get(key)) ?? stored) : stored;
    if (position.runId === stored.runId || position.runId === run.runId) {
      const head = await markRunEnded(this.#deps.log, { key, run, position });
      if (head !== undefined) this.#publish(head);
    }
    const { lastSeq } = (await this.#heads.refresh(key)) ?? stored;
    return { storedSeq: lastSeq, outcome: 'ended' };
  }

  async #follow(key: ConversationKey, round: Round, firstPage?: SourcePage): Promise<Progress> {
    const { log, source } = this.#deps;
    let after = round.after;
    let storedSeq = (await this.#heads.get(key))?.lastSeq ?? 0;
    let page = firstPage;
    for (let gaps = 0; ; page = undefined) {
      page ??= await source.events(key, pageWanted(round, after));
      const batch = batchOf(key, round, page);
      // A run that begins with events that its predecessor did not get stored has no page for this seq, but reports how
      // far it is.
      const isEmptyAhead = batch === undefined && page.lastSeq > storedSeq;
      if (batch === undefined && !isEmptyAhead)
        return { storedSeq, workflowSeq: page.lastSeq, outcome: 'caught_up' };
      const result =
        batch === undefined
          ? ({ outcome: 'gap', lastSeq: storedSeq } as const)
          : await log.append(batch);
      if (result.outcome === 'gap') {
        this.#heads.forget(key);
        gaps += 1;
        storedSeq = result.lastSeq;
        // Another process rewrote the log, or it was lost: its present rows have not been compared with this run.
        after = 0;
        const isLost = isEmptyAhead || page.firstSeq > storedSeq + 1;
        const reached =
          isLost && gaps === 1
            ? (await this.#older.fill(key, round.runId, storedSeq)).seq
            : storedSeq;
        const isFilled = reached > storedSeq;
        storedSeq = reached;
        if ((isLost && !isFilled) || gaps > MAX_GAPS)
          return this.#gap(key, { page, storedSeq, runId: round.runId });
        continue;
      }
      if (result.outcome === 'deleted') {
        this.#heads.forget(key);
        return { storedSeq: 0, workflowSeq: page.lastSeq, outcome: 'deleted' };
      }
      const { head } = result;
      storedSeq = head.lastSeq;
      this.#heads.remember(head, page.events.at(-1));
      if (result.added > 0 || result.outcome === 'rewritten') this.#publish(head);
      if (!page.more) return { storedSeq, workflowSeq: page.lastSeq, outcome: 'caught_up' };
      after = page.events.at(-1)?.seq ?? after;
    }
  }

  #publish(
    head: ConversationKey & { readonly generation: number; readonly lastSeq: number },
  ): void {
    const { tenant, conversationId, generation, lastSeq } = head;
    const { live } = this.#deps;
    const appended = { type: 'appended', generation, lastSeq } as const;
    live.publish({ ...appended, tenant, conversationId });
    live.publish({ ...appended, ...tenantKey(tenant), moved: conversationId });
  }

  #gap(
    key: ConversationKey,
    found: { readonly page: SourcePage; readonly storedSeq: number; readonly runId: string },
  ): Progress {
    const { page, storedSeq, runId } = found;
    const conversation = conversationKey(key);
    if (!this.#reportedGaps.has(conversation)) {
      if (this.#reportedGaps.size >= MAX_REPORTED_GAPS) this.#reportedGaps.clear();
      this.#reportedGaps.add(conversation);
      this.#deps.logger.warn(
        `The event log of ${conversation} ends at seq ${storedSeq}, its run begins at ${page.firstSeq}: the events between are lost, unless an older run answers again`,
        { conversation, runId },
      );
    }
    return { storedSeq, workflowSeq: page.lastSeq, outcome: 'gap' };
  }
}

function roundOf(target: Target, after: number): Round {
  const { seq } = target;
  return { ...target, ...patienceOf(target), after, ...(seq && { upTo: seq }) };
}

function pageWanted(round: Round, after: number): EventsWanted {
  const { runId, upTo } = round;
  return {
    after,
    runId,
    ...(upTo !== undefined && upTo > after && { upTo }),
    ...patienceOf(round),
  };
}

function wantedOf(target: Target, after: number): EventsWanted {
  const { runId, seq } = target;
  return { after, runId, ...(seq && { upTo: seq }), ...patienceOf(target) };
}

/** Without a hint, the worker that held the run may be gone. */
function patienceOf(round: Target | Round): Pick<EventsWanted, 'patient' | 'signal'> {
  const isCheck = 'after' in round ? round.patient === true : isCheckFor(round);
  const { signal } = round;
  return { ...(isCheck ? { patient: true } : {}), ...(signal === undefined ? {} : { signal }) };
}

function isCheckFor({ seq, doubt }: Target): boolean {
  return seq === undefined || doubt === true;
}

/** Undefined when the store needs no append. */
function batchOf(key: ConversationKey, round: Round, page: SourcePage): AppendBatch | undefined {
  const { tenant, conversationId } = key;
  const { runId, replaces } = round;
  const historyLength = round.historyLength ?? (page.more ? undefined : page.historyLength);
  const endsEarlier = replaces !== undefined && !page.more && page.lastSeq < replaces.lastSeq;
  // A run that admitted nothing yet does not decide about the log of its predecessor.
  const cutsOff =
    endsEarlier && page.lastSeq > 0 ? { lastSeq: page.lastSeq, head: replaces } : undefined;
  if (page.events.length === 0 && cutsOff === undefined) return undefined;
  return {
    tenant,
    conversationId,
    runId,
    events: page.events,
    ...(historyLength === undefined ? {} : { historyLength }),
    ...(cutsOff === undefined ? {} : { cutsOff }),
  };
}

/**
 * Fetches events beyond the store from runs before the current one: after a lost hint, or when the store was restored
 * from an old backup. Closed runs answer until their retention is over. Events that no run has any more are marked in
 * the log, so that readers see the gap.
 *
 * O1  No event is marked as lost while a run may still have it: every run that could must have answered, be unknown to
 * Temporal, or have been ended from outside (such runs are never queried). Nor are more than `MAX_MARKED_EVENTS`
 * marked: the log ends there.
 * O2  Repeats, and several processes at once, leave one mark: it is written at the position that was read, or not at
 * all.
 */
import { fromCarryOver } from '../../core/context/carry-over.js';
import { snapshotOf } from '../../core/view/snapshot.js';
import type { CanonicalEvent, EventsLost } from '../../protocol/log/events.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { conversationKey } from '../../protocol/values/ids.js';
import type { EventsPage } from '../../protocol/workflow/messaging.js';
import type { AppendBatch, AppendResult, EventLog } from '../../store/ports/log.js';
import type { LogHead } from '../../store/ports/log-head.js';
import type { ProjectionLogger } from '../source/outages.js';
import type { RunStart, WorkflowSource } from '../source/workflow-source.js';
import { RunEndedFromOutside, RunUnknown } from '../source/workflow-source.js';
import type { StoredHeads } from './stored-heads.js';

export interface OlderRunsDeps {
  readonly log: EventLog;
  readonly source: WorkflowSource;
  readonly logger: ProjectionLogger;
  readonly heads: StoredHeads;
  /** Called with every new head. */
  readonly publish: (head: LogHead) => void;
}

/** Runs that are queried for events that a restored store lacks; a run holds some fifty turns at least. */
const MAX_OLDER_RUNS = 1_000;
/**
 * Marks are held in memory together, and appended in one transaction. A larger loss, as after a disaster, is only
 * reported by the warning of a gap.
 */
const MAX_MARKED_EVENTS = 50_000;

export interface Reached {
  readonly seq: number;
  /** O1: every run that could have more was queried. */
  readonly isAll: boolean;
}

export class OlderRuns {
  readonly #deps: OlderRunsDeps;

  constructor(deps: OlderRunsDeps) {
    this.#deps = deps;
  }

  /**
   * Appends the events of runs before `runId` behind a seq, and marks those that no run has up to the beginning of
   * `runId`. Events filled before an error stay, and the next call continues from there. Rejects only with errors of
   * the store.
   */
  async fill(key: ConversationKey, runId: string, after: number): Promise<Reached> {
    const stored = await this.#deps.heads.refresh(key);
    // The copy with which a fork begins has the run of the fork, and no run has its events.
    const isOwn = stored?.runId === runId;
    const older = isOwn
      ? { seq: after, isAll: true }
      : await this.#askAll(key, { storedRunId: stored?.runId, runId }, after);
    if (!older.isAll) return older;
    const seq = await this.#markLost(key, runId, older.seq).catch(() => older.seq);
    return { seq, isAll: true };
  }

  async #askAll(
    key: ConversationKey,
    runs: { readonly storedRunId: string | undefined; readonly runId: string },
    after: number,
  ): Promise<Reached> {
    let seq = after;
    try {
      const between = await this.#runsBetween(key, runs);
      if (between === undefined) return { seq, isAll: false };
      for (const runId of between) seq = await this.#askRun(key, runId, seq);
      return { seq, isAll: true };
    } catch {
      return { seq, isAll: false };
    }
  }

  /** Oldest first, from the run of the stored events; without the last. Undefined when that cannot be known. */
  async #runsBetween(
    key: ConversationKey,
    runs: { readonly storedRunId: string | undefined; readonly runId: string },
  ): Promise<readonly string[] | undefined> {
    const { source } = this.#deps;
    const { storedRunId } = runs;
    const runIds: string[] = [];
    for (let runId: string | undefined = runs.runId; ; ) {
      runId = await source.previousRun?.(key, runId);
      if (runId === undefined || runId === storedRunId) break;
      if (runIds.push(runId) >= MAX_OLDER_RUNS) return undefined;
    }
    return [...(storedRunId === undefined ? [] : [storedRunId]), ...runIds.reverse()];
  }

  /**
   * Appends the events of one older run behind a seq; resolves to the seq that is reached. @throws when the run may
   * have events that it does not return now
   */
  async #askRun(key: ConversationKey, runId: string, after: number): Promise<number> {
    for (let seq = after; ; ) {
      const page = await this.#deps.source.events(key, { after: seq, runId }).catch(unlessOver);
      const last = page?.events.at(-1);
      if (page === undefined || last === undefined) return seq;
      const result = await this.#append({ ...key, runId, events: page.events });
      if (result.outcome === 'deleted') return seq;
      if (result.outcome === 'gap') {
        const marked = await this.#markLost(key, runId, seq);
        if (marked === seq) throw new Error('a run begins later than the log ends');
        seq = marked;
        continue;
      }
      seq = last.seq;
      if (!page.more) return seq;
    }
  }

  /**
   * Marks the events lost between a seq and the beginning of a run. Resolves to the seq that is reached; the same when
   * nothing is lost.
   */
  async #markLost(key: ConversationKey, runId: string, after: number): Promise<number> {
    const start = await this.#deps.source.startOf?.(key, runId);
    const events = start === undefined ? [] : lostBefore(start, after);
    const [first] = events;
    if (first === undefined) return after;
    const head = await this.#deps.log.head(key);
    if ((head?.lastSeq ?? 0) !== after) return after;
    const at = head === undefined ? {} : { onlyAt: head };
    const result = await this.#append({ ...key, runId, events, ...at });
    if (!('head' in result)) return after;
    const conversation = conversationKey(key);
    const { through } = first;
    this.#deps.logger.warn(
      `The events ${after + 1} to ${through} of ${conversation} are missing from the store and from every run: the log records them as lost`,
      { conversation, runId },
    );
    return result.head.lastSeq;
  }

  async #append(batch: AppendBatch): Promise<AppendResult> {
    const { log, heads, publish } = this.#deps;
    const result = await log.append(batch);
    if (!('head' in result)) return result;
    heads.remember(result.head, batch.events.at(-1));
    publish(result.head);
    return result;
  }
}

type LostEvent = EventsLost & Pick<CanonicalEvent, 'seq' | 'at'>;

/**
 * One mark for each lost seq, then the events that the run began with because the store had not confirmed them. Empty
 * when nothing is lost, or too much. In one batch: the snapshot of the first mark already includes the events that
 * follow, which must not be folded into it once more.
 */
function lostBefore(
  { carried, at }: RunStart,
  after: number,
): readonly [] | readonly [LostEvent, ...CanonicalEvent[]] {
  if (carried === undefined) return [];
  const { version, state, events: unconfirmed } = carried;
  const memory = { version, state };
  const snapshot = snapshotOf(fromCarryOver(memory));
  const through = (unconfirmed[0]?.seq ?? snapshot.seq + 1) - 1;
  if (through <= after || through - after > MAX_MARKED_EVENTS) return [];
  const from = after + 1;
  const gap = { type: 'events_lost', from, through, at } as const;
  const rest = Array.from({ length: through - from }, (_, nth) => ({
    ...gap,
    seq: from + 1 + nth,
  }));
  return [{ ...gap, seq: from, snapshot, carried: memory }, ...rest, ...unconfirmed];
}

/** A run that is over or unknown returns nothing more. */
function unlessOver(error: unknown): EventsPage | undefined {
  if (error instanceof RunEndedFromOutside || error instanceof RunUnknown) return undefined;
  throw error;
}

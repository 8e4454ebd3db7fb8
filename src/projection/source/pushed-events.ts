/**
 * Events that the tasks of this worker pushed along with their hints. Such events are not facts yet: a task may be lost
 * after it pushed. A caller that uses a page of them must first find its task completed in the history
 * (`task-commit.ts`).
 *
 * T1  Only events without a gap, of one run, and of one unbroken life of the workflow's instance are kept: before the
 * last of its tasks could be completed, all the earlier ones had to be.
 * T2  A task that is tried again pushes its events again; the later push counts.
 * T3  Events of a replay are kept apart. Their task was completed by any worker, and proves those that the same replay
 * pushed before it; it does not prove later ones, nor do those prove it.
 */
import { LRUCache } from 'lru-cache';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { conversationKey } from '../../protocol/values/ids.js';
import type { EventsPage, Hint } from '../../protocol/workflow/messaging.js';
import type { TaskAttempt } from './history-tail.js';

/** Conversations that are dropped here are queried. */
const MAX_CONVERSATIONS = 2_000;
const MAX_EVENTS = 500;
/** The same of replays, the newest events: a lost worker has not stored those of a second at most. */
const MAX_REPLAYED_CONVERSATIONS = 300;
const MAX_REPLAYED_EVENTS = 100;

interface PushedTask {
  readonly runId: string;
  /** The task that pushed the newest event. */
  readonly task: TaskAttempt;
  /** By `performance.now()`. */
  readonly pushedAt: number;
  readonly events: readonly CanonicalEvent[];
}

export interface PushedPage {
  readonly page: EventsPage;
  readonly task: TaskAttempt;
  readonly pushedAt: number;
  /** T3. */
  readonly replayed?: true;
}

interface Wanted {
  readonly runId: string;
  readonly after: number;
  readonly upTo: number;
}

export class PushedEvents {
  readonly #tasks = new LRUCache<string, PushedTask>({ max: MAX_CONVERSATIONS });
  readonly #replayed = new LRUCache<string, PushedTask>({ max: MAX_REPLAYED_CONVERSATIONS });

  take(hint: Hint): void {
    const name = conversationKey(hint);
    if (hint.doubt === true) {
      const all = joined(this.#replayed.get(name), hint);
      if (all === undefined) return;
      this.#replayed.set(name, { ...all, events: all.events.slice(-MAX_REPLAYED_EVENTS) });
      return;
    }
    const all = joined(this.#tasks.get(name), hint);
    if (all === undefined || all.events.length > MAX_EVENTS) this.#tasks.delete(name);
    else this.#tasks.set(name, all);
  }

  /**
   * Everything after a seq, if it was pushed without a gap and at least through `upTo`. A page of a replay may be
   * followed by one of later tasks.
   */
  page(key: ConversationKey, query: Wanted): PushedPage | undefined {
    const name = conversationKey(key);
    const pushed = this.#tasks.get(name);
    if (pushed !== undefined && reaches(pushed, query)) {
      const events = pushed.events.filter(({ seq }) => seq > query.after);
      // Older events are not requested again, unless an error occurs, and then by query.
      this.#tasks.set(name, { ...pushed, events });
      return pageOf(pushed, events);
    }
    const replayed = this.#replayed.get(name);
    const last = replayed?.events.at(-1);
    if (replayed === undefined || last === undefined || last.seq <= query.after) return undefined;
    const isEnough = last.seq >= query.upTo;
    const rest = { ...query, after: last.seq };
    if (!isEnough && (pushed === undefined || !reaches(pushed, rest))) return undefined;
    if (!reaches(replayed, { ...query, upTo: last.seq })) return undefined;
    const found = pageOf(
      replayed,
      replayed.events.filter(({ seq }) => seq > query.after),
    );
    return { ...found, page: { ...found.page, more: !isEnough }, replayed: true };
  }
}

/** Joins the events of a hint to those of the same instance. Undefined when the hint has none. */
function joined(before: PushedTask | undefined, hint: Hint): PushedTask | undefined {
  const { runId, pushed } = hint;
  const first = pushed?.events[0];
  if (pushed === undefined || first === undefined) return undefined;
  const kept = before?.runId === runId ? before.events : [];
  const earlier = kept.filter(({ seq }) => seq >= pushed.liveFrom && seq < first.seq);
  const isWhole = earlier.at(-1)?.seq === first.seq - 1;
  const events = isWhole ? [...earlier, ...pushed.events] : pushed.events;
  const { task: id, startedAt } = pushed;
  return { runId, task: { id, startedAt }, pushedAt: performance.now(), events };
}

function reaches(pushed: PushedTask, { runId, after, upTo }: Wanted): boolean {
  const first = pushed.events[0];
  const last = pushed.events.at(-1);
  if (first === undefined || last === undefined) return false;
  return pushed.runId === runId && first.seq <= after + 1 && last.seq >= upTo;
}

function pageOf(pushed: PushedTask, events: readonly CanonicalEvent[]): PushedPage {
  const { task, pushedAt } = pushed;
  const firstSeq = pushed.events[0]?.seq ?? 0;
  const lastSeq = events.at(-1)?.seq ?? 0;
  return { page: { events, lastSeq, firstSeq, more: false }, task, pushedAt };
}

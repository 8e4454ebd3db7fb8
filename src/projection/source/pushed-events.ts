/**
 * Events that the tasks of this worker pushed along with their hints. Such events are not facts yet: a task may be lost
 * after it pushed. A caller that uses a page of them must first find its task completed in the history
 * (`task-commit.ts`).
 *
 * T1  Only events without a gap, of one run, and of one unbroken life of the workflow's instance are kept: before the
 * last of its tasks could be completed, all the earlier ones had to be.
 * T2  A task that is tried again pushes its events again; the later push counts.
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
}

export class PushedEvents {
  readonly #tasks = new LRUCache<string, PushedTask>({ max: MAX_CONVERSATIONS });

  take(hint: Hint): void {
    const name = conversationKey(hint);
    const before = this.#tasks.get(name);
    this.#tasks.delete(name);
    const { runId, pushed: pushed } = hint;
    const first = pushed?.events[0];
    if (pushed === undefined || first === undefined) return;
    const kept = before?.runId === runId ? before.events : [];
    const earlier = kept.filter(({ seq }) => seq >= pushed.liveFrom && seq < first.seq);
    const isWhole = earlier.at(-1)?.seq === first.seq - 1;
    const events = isWhole ? [...earlier, ...pushed.events] : pushed.events;
    if (events.length > MAX_EVENTS) return;
    const { task: id, startedAt } = pushed;
    this.#tasks.set(name, { runId, task: { id, startedAt }, pushedAt: performance.now(), events });
  }

  /** Everything after a seq, if it was pushed without a gap and at least through `upTo`. */
  page(
    key: ConversationKey,
    query: { readonly runId: string; readonly after: number; readonly upTo: number },
  ): PushedPage | undefined {
    const name = conversationKey(key);
    const pushed = this.#tasks.get(name);
    const first = pushed?.events[0];
    const last = pushed?.events.at(-1);
    if (pushed === undefined || first === undefined || last === undefined) return undefined;
    const { runId, after, upTo } = query;
    if (pushed.runId !== runId || first.seq > after + 1 || last.seq < upTo) return undefined;
    const events = pushed.events.filter(({ seq }) => seq > after);
    // Older events are not requested again, unless an error occurs, and then by query.
    this.#tasks.set(name, { ...pushed, events });
    return {
      page: { events, lastSeq: last.seq, firstSeq: first.seq, more: false },
      task: pushed.task,
      pushedAt: pushed.pushedAt,
    };
  }
}

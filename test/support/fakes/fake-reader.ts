/** A reader over a list of events in memory, for tests of code that is built on readers. */

import type {
  BeforePosition,
  ConversationPage,
  ConversationReader,
  LogCursor,
  LogPage,
  ReadPosition,
  WatchFrame,
} from '../../../src/client/ports/reader.js';
import { resultOfEnd } from '../../../src/client/reading/workflow-reader.js';
import { foldView } from '../../../src/core/view/view.js';
import type {
  ConversationSnapshot,
  TurnResult,
} from '../../../src/protocol/conversation/conversation.js';
import { waitingResult } from '../../../src/protocol/conversation/waiting.js';
import { type CanonicalEvent, turnIdOf } from '../../../src/protocol/log/events.js';
import type { LiveEvent } from '../../../src/protocol/log/live-events.js';
import type { ConversationKey } from '../../../src/protocol/values/ids.js';

const GENERATION = 1;

export class FakeReader implements ConversationReader {
  readonly #logs = new Map<string, CanonicalEvent[]>();
  readonly #waiters = new Set<() => void>();
  /** Live events, by the seq that they follow. */
  readonly live = new Map<number, LiveEvent[]>();
  /** Events that only workflows have: a caller that knows that one was recorded gets them. */
  readonly unstored = new Map<string, readonly CanonicalEvent[]>();
  /** The seqs that callers of `snapshot` knew to be recorded. */
  readonly asked: number[] = [];
  failure: Error | undefined;
  /** The only tenant with conversations. Absent: every tenant has all of them. */
  tenant: string | undefined;
  /** Frames that were taken from `watch`. */
  taken = 0;
  /** Seq before which `watch` breaks off. */
  breaksBefore: number | undefined;

  add(conversationId: string, events: readonly CanonicalEvent[]): void {
    this.#logs.set(conversationId, [...(this.#logs.get(conversationId) ?? []), ...events]);
    for (const wake of this.#waiters) wake();
  }

  get watchers(): number {
    return this.#waiters.size;
  }

  snapshot(
    key: ConversationKey,
    options: { atLeastSeq?: number; answered?: (seq: number) => void } = {},
  ): Promise<ConversationSnapshot | undefined> {
    if (options.atLeastSeq !== undefined) this.asked.push(options.atLeastSeq);
    if (this.failure !== undefined) return Promise.reject(this.failure);
    const { conversationId } = key;
    const asked = options.atLeastSeq === undefined ? [] : this.unstored.get(conversationId);
    let view: ConversationSnapshot | undefined;
    for (const event of [...(this.#logOf(key) ?? []), ...(asked ?? [])])
      view = foldView(view, event);
    if ((view?.seq ?? 0) < (options.atLeastSeq ?? 0)) options.answered?.(view?.seq ?? 0);
    return Promise.resolve(view);
  }

  events(
    key: ConversationKey,
    options: ReadPosition & { limit?: number; before?: BeforePosition } = {},
  ): Promise<LogPage | undefined> {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    const log = this.#logOf(key);
    if (log === undefined) return Promise.resolve(undefined);
    const { before } = options;
    if (before !== undefined) return Promise.resolve(pageBefore(log, before, options.limit));
    const after = options.after?.seq ?? 0;
    const rest = log.filter((event) => event.seq > after);
    const events = rest.slice(0, options.limit ?? 1000);
    const seq = events.at(-1)?.seq ?? after;
    const cursor: LogCursor = { generation: GENERATION, seq };
    return Promise.resolve({
      generation: GENERATION,
      events,
      cursor,
      more: events.length < rest.length,
    });
  }

  list(): Promise<ConversationPage> {
    return Promise.resolve({ conversations: [] });
  }

  async turnResult(
    key: ConversationKey,
    turnId: string,
    options: {
      timeoutMs: number;
      signal?: AbortSignal;
      returnWhenWaiting?: boolean;
      atLeastSeq?: number;
    },
  ): Promise<TurnResult | undefined> {
    const late = AbortSignal.timeout(options.timeoutMs);
    for (;;) {
      const log = this.#logOf(key) ?? [];
      const end = log.find((event) => event.type === 'turn_ended' && event.turnId === turnId);
      if (end?.type === 'turn_ended') return resultOfEnd(end);
      const view = await this.snapshot(key);
      const isRecent = (view?.seq ?? 0) >= (options.atLeastSeq ?? 0);
      const waiting =
        view !== undefined && isRecent && options.returnWhenWaiting === true
          ? waitingResult(view, turnId)
          : undefined;
      if (waiting !== undefined || view === undefined) return waiting;
      if (late.aborted) return { status: 'timeout', turnId };
      await this.#change(late);
    }
  }

  async *watch(
    key: ConversationKey,
    options: ReadPosition & { signal: AbortSignal },
  ): AsyncGenerator<WatchFrame> {
    let seq = options.after?.seq ?? 0;
    while (!options.signal.aborted) {
      const log = this.#logOf(key) ?? [];
      const event = log.find((candidate) => candidate.seq > seq);
      if (event === undefined) {
        await this.#change(options.signal);
        continue;
      }
      if (event.seq === this.breaksBefore) throw new Error('the store went away');
      seq = event.seq;
      this.taken += 1;
      yield { type: 'event', cursor: { generation: GENERATION, seq }, event };
      for (const live of this.live.get(seq) ?? []) yield { type: 'live', event: live };
    }
  }

  turnEvents(key: ConversationKey, turnId: string): Promise<readonly CanonicalEvent[]> {
    const log = this.#logOf(key) ?? [];
    return Promise.resolve(log.filter((event) => turnIdOf(event) === turnId));
  }

  findTurn(turnId: string): Promise<ConversationKey | undefined> {
    for (const [conversationId, log] of this.#logs)
      if (log.some((event) => 'turnId' in event && event.turnId === turnId))
        return Promise.resolve({ tenant: 'default', conversationId });
    return Promise.resolve(undefined);
  }

  #logOf({ tenant, conversationId }: ConversationKey): CanonicalEvent[] | undefined {
    return (this.tenant ?? tenant) === tenant ? this.#logs.get(conversationId) : undefined;
  }

  async #change(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        this.#waiters.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiters.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }
}

function pageBefore(log: readonly CanonicalEvent[], before: BeforePosition, limit = 1000): LogPage {
  const older = before === 'end' ? log : log.filter((event) => event.seq < before.seq);
  const events = older.slice(-limit).reverse();
  return {
    generation: GENERATION,
    events,
    cursor: { generation: GENERATION, seq: events.at(-1)?.seq ?? 0 },
    more: events.length < older.length,
    ...(before === 'end' ? { tail: { generation: GENERATION, seq: log.at(-1)?.seq ?? 0 } } : {}),
  };
}

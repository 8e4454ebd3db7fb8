/**
 * Follows the waiting calls of one tenant for all readers of its worklist in this process: one subscription and one
 * reading loop, however many readers there are.
 *
 * W1  Hints and polls only name conversations that may have changed; the state itself is always read from the store.
 * W2  One read at a time, so a later read never shows an older state.
 * W3  A hint that is lost is made up for: by the poll of conversations that have moved within a second or two, by a read
 *     of all calls (a closed or deleted conversation is not polled) within half a minute.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { WaitingItem } from '../../protocol/log/worklist.js';
import type { ConversationId } from '../../protocol/values/ids.js';
import { type LiveChannel, tenantKey } from '../../store/ports/live.js';
import type { EventLog } from '../../store/ports/log.js';
import { MAX_MIRRORED, Mirror } from './mirror.js';

export interface HubDeps {
  readonly log: Pick<EventLog, 'waiting' | 'waitingIn' | 'recentHeads'>;
  /** Without it all changes are found by polls. */
  readonly live?: LiveChannel | undefined;
  /** The most calls that are kept. @defaultValue 10,000 */
  readonly maxCalls?: number;
  /** Milliseconds between two reads of all calls. @defaultValue 30,000 */
  readonly readAllMs?: number;
}

/** Milliseconds between two reads: changes that come together are read together. */
const GAP_MS = 100;
const POLL_MS = 1_000;
/** A poll looks back so far: longer than an append takes to commit, and than a poll may be late. */
const POLL_WINDOW_MS = 10_000;
const POLL_PAGE = 1_000;
const READ_ALL_MS = 30_000;
const PAGE = 1_000;
const CONVERSATIONS_AT_ONCE = 200;
const MAX_PAUSE_MS = 5_000;
/** A hub without readers is kept for those that come again after a cut. */
const LINGER_MS = 5_000;

/** Called with the refs of calls that have changed. Must not throw. */
export type Listener = (refs: readonly string[]) => void;

export class WorklistHub {
  readonly mirror: Mirror;
  readonly #deps: HubDeps;
  readonly #tenant: string;
  readonly #listeners = new Set<Listener>();
  readonly #dirty = new Set<ConversationId>();
  /** When each conversation that the poll has found had moved. */
  #seen = new Map<ConversationId, number>();
  readonly #end = new AbortController();
  readonly #ended: () => void;
  #wake: (() => void) | undefined;
  #leaving: NodeJS.Timeout | undefined;
  #first: Promise<void> | undefined;
  #readAllAt = Number.NEGATIVE_INFINITY;
  #pollAt = 0;

  /** @param ended Called once, when no reader is left and none may come any more. */
  constructor(deps: HubDeps, tenant: string, ended: () => void) {
    this.#deps = deps;
    this.#tenant = tenant;
    this.#ended = ended;
    this.mirror = new Mirror(deps.maxCalls ?? MAX_MIRRORED);
  }

  /** Registers a reader from now on. Returns a function that ends it. */
  join(listener: Listener): () => void {
    clearTimeout(this.#leaving);
    this.#listeners.add(listener);
    return () => {
      if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return;
      this.#leaving = setTimeout(() => {
        this.#end.abort();
        this.#wake?.();
        this.#ended();
      }, LINGER_MS).unref();
    };
  }

  /** Resolves once all calls have been read. @throws {StoreUnavailable} when they cannot be; a repeat tries again. */
  async ready(): Promise<void> {
    this.#first ??= this.#begin();
    try {
      await this.#first;
    } catch (error) {
      this.#first = undefined;
      throw error;
    }
  }

  async #begin(): Promise<void> {
    const stop = this.#deps.live?.subscribe(tenantKey(this.#tenant), { live: false }, (message) => {
      if (message.type === 'appended' && message.moved !== undefined) this.#touch(message.moved);
    });
    try {
      await this.#readAll();
    } catch (error) {
      stop?.();
      throw error;
    }
    void this.#follow().finally(() => stop?.());
  }

  #touch(id: ConversationId): void {
    this.#dirty.add(id);
    this.#wake?.();
  }

  async #follow(): Promise<void> {
    let pauseMs = GAP_MS;
    while (!isAborted(this.#end.signal)) {
      try {
        if (performance.now() >= this.#pollAt) await this.#poll();
        if (performance.now() >= this.#readAllAt || this.mirror.isThin) await this.#readAll();
        else if (this.#dirty.size > 0) await this.#readDirty();
        pauseMs = GAP_MS;
      } catch {
        // The store is away: readers keep what they have, and the loop goes on.
        pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
      }
      await sleep(pauseMs, undefined, { ref: false });
      if (this.#dirty.size === 0 && pauseMs === GAP_MS) await this.#wait();
    }
  }

  /** Until a hint comes, the next poll is due, or the hub ends. */
  async #wait(): Promise<void> {
    const leftMs = Math.min(this.#pollAt, this.#readAllAt) - performance.now();
    if (leftMs <= 0 || this.#dirty.size > 0 || this.#end.signal.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, leftMs).unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }

  /** Finds conversations that have moved without a hint. */
  async #poll(): Promise<void> {
    const seen = new Map<ConversationId, number>();
    let after: Awaited<ReturnType<EventLog['recentHeads']>>[number] | undefined;
    do {
      const heads = await this.#deps.log.recentHeads({
        limit: POLL_PAGE,
        withinMs: POLL_WINDOW_MS,
        ...(after === undefined ? {} : { after }),
      });
      for (const { tenant, conversationId, changedAtMs } of heads) {
        if (tenant !== this.#tenant) continue;
        seen.set(conversationId, changedAtMs);
        if (this.#seen.get(conversationId) !== changedAtMs) this.#dirty.add(conversationId);
      }
      after = heads.length < POLL_PAGE ? undefined : heads.at(-1);
    } while (after !== undefined);
    this.#seen = seen;
    this.#pollAt = performance.now() + POLL_MS;
  }

  async #readDirty(): Promise<void> {
    const ids = [...this.#dirty].slice(0, CONVERSATIONS_AT_ONCE);
    // Before the read: a hint that comes meanwhile asks for another one.
    for (const id of ids) this.#dirty.delete(id);
    try {
      this.#tell(this.mirror.takeOf(ids, await this.#deps.log.waitingIn(this.#tenant, ids)));
    } catch (error) {
      for (const id of ids) this.#dirty.add(id);
      throw error;
    }
  }

  async #readAll(): Promise<void> {
    const max = this.#deps.maxCalls ?? MAX_MIRRORED;
    this.#dirty.clear();
    const items: WaitingItem[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.#deps.log.waiting({
        tenant: this.#tenant,
        limit: Math.min(PAGE, max - items.length),
        ...(cursor === undefined ? {} : { cursor }),
      });
      items.push(...page.items);
      cursor = page.nextCursor;
    } while (cursor !== undefined && items.length < max);
    this.#readAllAt = performance.now() + (this.#deps.readAllMs ?? READ_ALL_MS);
    this.#tell(this.mirror.takeAll(items, cursor !== undefined));
  }

  #tell(refs: readonly string[]): void {
    if (refs.length === 0) return;
    for (const listener of this.#listeners) listener(refs);
  }
}

/** A function, because the compiler would treat a property that it saw once as constant. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

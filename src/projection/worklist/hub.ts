/**
 * Follows the waiting calls of one tenant for all readers of its worklist in this process: one subscription and one
 * reading loop, however many readers there are.
 *
 * W1  Hints and polls only name conversations that may have changed; the state itself is always read from the store.
 * W2  One read at a time, so a later read never shows an older state.
 * W3  A hint that is lost is made up for by the poll, within a second or two. All calls are read each half minute
 *     nevertheless, and after a poll that found too much.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { WaitingItem } from '../../protocol/log/worklist.js';
import type { ConversationId } from '../../protocol/values/ids.js';
import type { EventLog } from '../../store/ports/log.js';
import { followTenant, Readers, type Sources } from '../changes/tenant.js';
import type { Outages } from '../source/outages.js';
import { MAX_MIRRORED, Mirror } from './mirror.js';

export interface HubDeps extends Sources {
  readonly log: Pick<EventLog, 'waiting' | 'waitingIn'>;
  readonly outages: Outages;
  /** The most calls that are kept. @defaultValue 10,000 */
  readonly maxCalls?: number;
  /** Milliseconds between two reads of all calls. @defaultValue 30,000 */
  readonly readAllMs?: number;
}

/** Milliseconds between two reads: changes that come together are read together. */
const GAP_MS = 100;
const READ_ALL_MS = 30_000;
const PAGE = 1_000;
const CONVERSATIONS_AT_ONCE = 200;
const MAX_PAUSE_MS = 5_000;

/** Called with the refs of calls that have changed. Must not throw. */
export type Listener = (refs: readonly string[]) => void;

export class WorklistHub {
  readonly mirror: Mirror;
  readonly #deps: HubDeps;
  readonly #tenant: string;
  readonly #readers: Readers<Listener>;
  readonly #dirty = new Set<ConversationId>();
  readonly #end = new AbortController();
  #wake: (() => void) | undefined;
  #first: Promise<void> | undefined;
  #readAllAt = Number.NEGATIVE_INFINITY;

  /** @param ended Called once, when no reader is left and none may come any more. */
  constructor(deps: HubDeps, tenant: string, ended: () => void) {
    this.#deps = deps;
    this.#tenant = tenant;
    this.#readers = new Readers(() => {
      this.#end.abort();
      this.#wake?.();
      ended();
    });
    this.mirror = new Mirror(deps.maxCalls ?? MAX_MIRRORED);
  }

  /** Registers a reader from now on. Returns a function that ends it. */
  join(listener: Listener): () => void {
    return this.#readers.join(listener);
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
    const touch = (id: ConversationId): void => {
      this.#dirty.add(id);
      this.#wake?.();
    };
    // Before the first read, so that no change is missed between them.
    const stop = followTenant(this.#deps, this.#tenant, {
      hinted: touch,
      moved: ({ conversationId }) => {
        touch(conversationId);
      },
      polled: ({ isCut }) => {
        if (!isCut) return;
        this.#readAllAt = Number.NEGATIVE_INFINITY;
        this.#wake?.();
      },
    });
    try {
      await this.#readAll();
    } catch (error) {
      stop();
      throw error;
    }
    void this.#follow().finally(stop);
  }

  async #follow(): Promise<void> {
    let pauseMs = GAP_MS;
    while (!isAborted(this.#end.signal)) {
      try {
        if (performance.now() >= this.#readAllAt || this.mirror.isThin) await this.#readAll();
        else if (this.#dirty.size > 0) await this.#readDirty();
        pauseMs = GAP_MS;
      } catch (error) {
        this.#deps.outages.failed(error, undefined, 'waiting_calls');
        pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
      }
      await sleep(pauseMs, undefined, { ref: false });
      if (this.#dirty.size === 0 && pauseMs === GAP_MS) await this.#wait();
    }
  }

  /** Until a conversation has moved, the next read of all calls is due, or the hub ends. */
  async #wait(): Promise<void> {
    const leftMs = this.mirror.isThin ? 0 : this.#readAllAt - performance.now();
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

  async #readDirty(): Promise<void> {
    const ids = [...this.#dirty].slice(0, CONVERSATIONS_AT_ONCE);
    // Before the read: a hint that comes meanwhile asks for another one.
    for (const id of ids) this.#dirty.delete(id);
    try {
      const items = await this.#deps.log.waitingIn(this.#tenant, ids);
      this.#deps.outages.succeeded();
      this.#tell(this.mirror.takeOf(ids, items));
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
    this.#deps.outages.succeeded();
    this.#readAllAt = performance.now() + (this.#deps.readAllMs ?? READ_ALL_MS);
    this.#tell(this.mirror.takeAll(items, cursor !== undefined));
  }

  #tell(refs: readonly string[]): void {
    if (refs.length === 0) return;
    for (const listener of this.#readers) listener(refs);
  }
}

/** A function, because the compiler would treat a property that it saw once as constant. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

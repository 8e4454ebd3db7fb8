/**
 * Rows of one tenant's conversations, as lists have them, for all readers in this process.
 *
 * R1  One read at a time, and a pause between two: changes and readers that come together are served by one read.
 * R2  A kept row is as new as the last time that `forget` was called for it, or newer.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { ConversationId } from '../../protocol/values/ids.js';
import type { ListedConversation } from '../../store/ports/lists.js';

/** Milliseconds between two reads. */
const GAP_MS = 100;
const CONVERSATIONS_AT_ONCE = 200;
/** Characters of rows that are kept for readers that come to them later. */
const MAX_KEPT_CHARS = 4_000_000;

/** A row; without one, the store does not have the conversation. */
export interface FoundRow {
  readonly row?: ListedConversation;
}

type FoundRows = ReadonlyMap<ConversationId, FoundRow>;

export interface RowsParts {
  readonly read: (ids: readonly ConversationId[]) => Promise<readonly ListedConversation[]>;
  /** Called before these are read: changes until then are in their rows. */
  readonly begins: (ids: readonly ConversationId[]) => void;
  /** Gets each row that is read, unless it may be older than the last call of `forget`. */
  readonly found: (id: ConversationId, found: FoundRow) => void;
}

export class Rows {
  readonly #parts: RowsParts;
  readonly #kept = new LRUCache<ConversationId, FoundRow>({
    maxSize: MAX_KEPT_CHARS,
    sizeCalculation: ({ row }, id) => id.length + JSON.stringify(row ?? '').length,
  });
  #wanted = new Set<ConversationId>();
  readonly #beginning = new Set<() => void>();
  /** The read that has not begun. */
  #next: Promise<FoundRows> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  /** Conversations that have changed since the running read began. */
  readonly #outdated = new Set<ConversationId>();

  constructor(parts: RowsParts) {
    this.#parts = parts;
  }

  /** A read that begins later has the row; one that runs may not. */
  forget(id: ConversationId): void {
    this.#kept.delete(id);
    this.#outdated.add(id);
  }

  /**
   * The rows of some conversations, 200 at most. `begins` is called before they are read: changes until then are in
   * them. @throws {StoreUnavailable}
   */
  async of(ids: readonly ConversationId[], begins: () => void): Promise<FoundRows> {
    const kept = new Map<ConversationId, FoundRow>();
    for (const id of ids) {
      const found = this.#kept.get(id);
      if (found !== undefined) kept.set(id, found);
    }
    if (kept.size === ids.length) {
      begins();
      return kept;
    }
    for (const id of ids) this.#wanted.add(id);
    this.#beginning.add(begins);
    this.#next ??= this.#readNext();
    return await this.#next;
  }

  async #readNext(): Promise<FoundRows> {
    await this.#last;
    const ids = [...this.#wanted];
    const found = new Map<ConversationId, FoundRow>();
    this.#wanted = new Set();
    this.#next = undefined;
    this.#outdated.clear();
    this.#parts.begins(ids);
    for (const begins of this.#beginning) begins();
    this.#beginning.clear();
    const reading = this.#read(ids, found);
    this.#last = reading
      .catch(() => undefined)
      .then(() => sleep(GAP_MS, undefined, { ref: false }));
    await reading;
    return found;
  }

  async #read(ids: readonly ConversationId[], found: Map<ConversationId, FoundRow>): Promise<void> {
    for (let at = 0; at < ids.length; at += CONVERSATIONS_AT_ONCE) {
      const part = ids.slice(at, at + CONVERSATIONS_AT_ONCE);
      const rows = new Map<ConversationId, ListedConversation>();
      for (const row of await this.#parts.read(part)) rows.set(row.snapshot.conversationId, row);
      for (const id of part) {
        const row = rows.get(id);
        const one = row === undefined ? {} : { row };
        found.set(id, one);
        if (this.#outdated.has(id)) continue;
        this.#kept.set(id, one);
        this.#parts.found(id, one);
      }
    }
  }
}

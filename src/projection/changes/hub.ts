/**
 * Follows the conversations of one tenant for all readers of its stream in this process.
 *
 * C1  Hints and polls only name conversations that may have changed; rows are always read from the store, later.
 * C2  A hint that is lost is made up for by the poll, within two seconds; deletions leave tombstones, which it finds too.
 * C3  The place is the time of a poll, by the clock of the store: readers have been notified of all that was visible then.
 */
import type { ConversationId } from '../../protocol/values/ids.js';
import { LATE_MS } from '../../store/ports/lists.js';
import type { EventLog } from '../../store/ports/log.js';
import { type FoundRow, Rows } from './rows.js';
import { followTenant, Readers, type Sources } from './tenant.js';

export interface ConversationsHubDeps extends Sources {
  readonly log: Pick<EventLog, 'changes' | 'listedIn'>;
}

/** The most changes that a reader who comes back is sent one by one. */
export const MAX_CAUGHT_UP = 1_000;
/** Milliseconds. A place that is older is not continued from; tombstones are kept for longer. */
const MAX_AGE_MS = 24 * 3_600_000;
/** Milliseconds that a place may be ahead of the store's clock, which may be set back. */
const MAX_AHEAD_MS = 5_000;
/** The most versions that are remembered. */
const MAX_KNOWN = 20_000;

/** Must not throw. */
export interface ConversationsListener {
  /** A conversation has changed, or was deleted. */
  readonly moved: (id: ConversationId) => void;
  /** The place has moved. */
  readonly polled: () => void;
  /** More has changed than readers are notified of. */
  readonly lost: () => void;
}

export class ConversationsHub {
  readonly rows: Rows;
  readonly #deps: ConversationsHubDeps;
  readonly #tenant: string;
  readonly #readers: Readers<ConversationsListener>;
  /** Conversations that have changed, with every reader notified, and that no read has begun to fetch since. */
  readonly #unread = new Set<ConversationId>();
  /** The same, with a read under way. */
  readonly #reading = new Set<ConversationId>();
  /** Versions that reads have found: a poll that finds the same version notifies no reader again. */
  readonly #known = new Map<ConversationId, { version: string; changedAtMs: number }>();
  #stop: (() => void) | undefined;
  #first: Promise<void> | undefined;
  #placeMs: number | undefined;

  /** @param ended Called once, when no reader is left and none may come any more. */
  constructor(deps: ConversationsHubDeps, tenant: string, ended: () => void) {
    this.#deps = deps;
    this.#tenant = tenant;
    this.#readers = new Readers(() => {
      this.#stop?.();
      ended();
    });
    this.rows = new Rows({
      read: (ids) => deps.log.listedIn(tenant, ids),
      begins: (ids) => {
        for (const id of ids) if (this.#unread.delete(id)) this.#reading.add(id);
      },
      found: (id, found) => {
        this.#found(id, found);
      },
    });
  }

  /** Milliseconds by the clock of the store. Once the hub is ready. */
  get placeMs(): number {
    return this.#placeMs ?? 0;
  }

  /** Registers a reader from now on. Returns a function that ends it. */
  join(listener: ConversationsListener): () => void {
    return this.#readers.join(listener);
  }

  /** Resolves once changes are followed. @throws {StoreUnavailable} when they cannot be; a repeat tries again. */
  async ready(): Promise<void> {
    this.#stop ??= followTenant(this.#deps, this.#tenant, {
      hinted: (id) => {
        this.#touch(id);
      },
      moved: ({ conversationId, version, isDeletion }) => {
        // Before the first poll is over no reader relies on notifications.
        if (this.#placeMs === undefined) return;
        if (isDeletion || !this.#isKnown(conversationId, version)) this.#touch(conversationId);
      },
      polled: (at) => {
        this.#polled(at);
      },
    });
    this.#first ??= this.#deps.poll.once();
    try {
      await this.#first;
    } catch (error) {
      this.#first = undefined;
      throw error;
    }
  }

  /**
   * The conversations that have changed since a place, for a reader that has joined. Undefined: too much has, or it
   * cannot be known. @throws {StoreUnavailable}
   */
  async since(placeMs: number): Promise<readonly ConversationId[] | undefined> {
    const { nowMs, changes, cut } = await this.#deps.log.changes({
      tenants: [this.#tenant],
      sinceMs: placeMs,
      ...{ lookBackMs: LATE_MS, limit: MAX_CAUGHT_UP },
    });
    if (cut.size > 0 || nowMs - placeMs > MAX_AGE_MS || placeMs - nowMs > MAX_AHEAD_MS)
      return undefined;
    for (const { conversationId, version, changedAtMs, isDeletion } of changes) {
      // This read may be the first to see a change, and the row may be kept as it was before.
      const isNew = !isDeletion && changedAtMs >= this.placeMs - LATE_MS;
      if (isNew && !this.#isKnown(conversationId, version)) this.#touch(conversationId);
    }
    return [...new Set(changes.map(({ conversationId }) => conversationId))];
  }

  /** Whether every reader has been notified of this version, or is yet to read the row. */
  #isKnown(id: ConversationId, version: string): boolean {
    return this.#unread.has(id) || this.#known.get(id)?.version === version;
  }

  #touch(id: ConversationId): void {
    this.rows.forget(id);
    this.#known.delete(id);
    this.#reading.delete(id);
    if (this.#unread.size < MAX_KNOWN) this.#unread.add(id);
    for (const { moved } of this.#readers) moved(id);
  }

  #found(id: ConversationId, { row }: FoundRow): void {
    if (!this.#reading.delete(id) || row === undefined || this.#known.size >= MAX_KNOWN) return;
    this.#known.set(id, { version: row.version, changedAtMs: row.changedAtMs });
  }

  #polled({ nowMs, isCut }: { readonly nowMs: number; readonly isCut: boolean }): void {
    // Earlier versions are no longer found by polls.
    for (const [id, { changedAtMs }] of this.#known)
      if (changedAtMs < nowMs - 2 * LATE_MS) this.#known.delete(id);
    this.#placeMs = nowMs;
    for (const { polled, lost } of this.#readers) {
      if (isCut) lost();
      polled();
    }
  }
}

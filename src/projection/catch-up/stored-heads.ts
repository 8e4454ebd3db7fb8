/** A cache of the heads of stored logs, so that most hints need no read of the store. May be out of date. */
import { LRUCache } from 'lru-cache';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { conversationKey } from '../../protocol/values/ids.js';
import { exactHash } from '../../store/plans/append.js';
import type { EventLog } from '../../store/ports/log.js';
import type { LogHead } from '../../store/ports/log-head.js';

/** About 300 bytes each. */
const MAX_KNOWN_HEADS = 10_000;

export interface StoredHead {
  readonly generation: number;
  readonly lastSeq: number;
  readonly runId: string;
  /** Content hash of the newest stored event, when this process has seen it. */
  readonly tailHash?: string;
}

export class StoredHeads {
  readonly #log: EventLog;
  readonly #known = new LRUCache<string, StoredHead>({ max: MAX_KNOWN_HEADS });

  constructor(log: EventLog) {
    this.#log = log;
  }

  /** From memory, else from the store. */
  async get(key: ConversationKey): Promise<StoredHead | undefined> {
    return this.known(key) ?? (await this.refresh(key));
  }

  /** From memory. */
  known(key: ConversationKey): StoredHead | undefined {
    return this.#known.get(conversationKey(key));
  }

  async refresh(key: ConversationKey): Promise<StoredHead | undefined> {
    const head = await this.#log.head(key);
    if (head === undefined) {
      this.forget(key);
      return undefined;
    }
    return this.remember(head, undefined);
  }

  /** Keeps the head that an append returned; `tail` is the newest event of the batch. */
  remember(head: LogHead, tail: CanonicalEvent | undefined): StoredHead {
    const { generation, lastSeq, runId } = head;
    const stored: StoredHead = {
      generation,
      lastSeq,
      runId,
      ...(tail?.seq === lastSeq ? { tailHash: exactHash(tail) } : {}),
    };
    this.#known.set(conversationKey(head), stored);
    return stored;
  }

  forget(key: ConversationKey): void {
    this.#known.delete(conversationKey(key));
  }

  /** Whether an event is the one that is stored at the end of the log. */
  async isTail(key: ConversationKey, stored: StoredHead, event: CanonicalEvent): Promise<boolean> {
    if (stored.tailHash !== undefined) return stored.tailHash === exactHash(event);
    const read = await this.#log.read(key, {
      generation: stored.generation,
      afterSeq: stored.lastSeq - 1,
      limit: 1,
    });
    const tail = read?.events[0];
    return tail !== undefined && exactHash(tail) === exactHash(event);
  }
}

/** The seqs of replies to this process, so that its reads are never older: stores lag behind replies. */
import { LRUCache } from 'lru-cache';
import { type ConversationKey, conversationKey } from '../../protocol/values/ids.js';

/** A dropped conversation costs a read that may be some hundred milliseconds old, so the bound may be small. */
const MAX_CONVERSATIONS = 10_000;

export class ReadYourWrites {
  readonly #seqs: LRUCache<string, number>;

  constructor(limit = MAX_CONVERSATIONS) {
    this.#seqs = new LRUCache({ max: limit });
  }

  /** Notes the seq of a reply; replies of repeats are older than the known seq, and change nothing. */
  note(key: ConversationKey, seq: number | undefined): void {
    if (seq === undefined) return;
    const name = conversationKey(key);
    this.#seqs.set(name, Math.max(this.#seqs.get(name) ?? 0, seq));
  }

  /** Forgets a deleted conversation, which may begin again from the start. */
  forget(key: ConversationKey): void {
    this.#seqs.delete(conversationKey(key));
  }

  /** The newest known seq; 0 if there is none. */
  of(key: ConversationKey): number {
    return this.#seqs.peek(conversationKey(key)) ?? 0;
  }
}

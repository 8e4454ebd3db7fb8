/** The seqs of replies to this process, so that its reads are never older: stores lag behind replies. */
import { LRUCache } from 'lru-cache';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import { type ConversationKey, conversationKey } from '../../protocol/values/ids.js';
import type { ConversationReader } from '../ports/reader.js';

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

  /** Forgets the conversations of a deleted tenant, those included that another process had deleted before. */
  forgetTenant(tenant: string): void {
    const prefix = conversationKey({ tenant, conversationId: '' });
    for (const name of [...this.#seqs.keys()]) if (name.startsWith(prefix)) this.#seqs.delete(name);
  }

  /**
   * A snapshot that has the known seq, and the given one. A workflow whose log ends before the known seq is of another
   * log than the reply was: another process has deleted the conversation, or its run was reset. The known seq is then
   * lowered, because each later read would wait for it.
   */
  async snapshot(
    reader: Pick<ConversationReader, 'snapshot'>,
    key: ConversationKey,
    atLeastSeq = 1,
  ): Promise<ConversationSnapshot | undefined> {
    const from = this.of(key);
    return await reader.snapshot(key, {
      atLeastSeq: Math.max(from, atLeastSeq, 1),
      answered: (seq) => {
        // A reply that has come meanwhile is of the present log.
        if (seq < from && this.of(key) === from) this.#seqs.set(conversationKey(key), seq);
      },
    });
  }

  /** The newest known seq; 0 if there is none. */
  of(key: ConversationKey): number {
    return this.#seqs.peek(conversationKey(key)) ?? 0;
  }
}

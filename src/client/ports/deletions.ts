/**
 * The deletions port of the client: removes stored conversations, and keeps tombstones of them. `projection` implements
 * it.
 */
import type { ConversationKey } from '../../protocol/values/ids.js';

/** Names one state of a stored log. */
export interface StoredAt {
  readonly generation: number;
  readonly runId: string;
  readonly lastSeq: number;
}

export interface DeletionsPort {
  /** Whether the store has any data or a tombstone of the conversation; files of a message that was never sent count. */
  isKnown(key: ConversationKey): Promise<boolean>;
  /** Whether the conversation was deleted, and no other one has begun under its id. */
  isDeleted(key: ConversationKey): Promise<boolean>;
  /** Whether a run is of a conversation that was deleted. */
  isDeletedRun(key: ConversationKey, runId: string): Promise<boolean>;
  /**
   * Removes all stored data and leaves a tombstone for the runs: these, and those that the store knew. Returns all of
   * them; undefined, and nothing is removed, when `unlessMoved` is given and an event was stored since. `withSubAgents`:
   * `below` lists those of its sub-agents from now on. Safe to repeat.
   */
  begin(
    request: ConversationKey & {
      readonly runIds: readonly string[];
      readonly unlessMoved?: StoredAt;
      readonly withSubAgents?: true;
    },
  ): Promise<readonly string[] | undefined>;
  /** Stored conversations of sub-agents, at any depth, that are to be deleted with this one. */
  below(key: ConversationKey): Promise<readonly ConversationKey[]>;
  /**
   * Adds runs to the tombstone, once they have ended, and removes what they stored meanwhile. `resumed`: the deletion is
   * continued later, so files may have been stored since for another conversation under the id, and are kept, unless
   * the tombstone did not have one of the runs. Safe to repeat.
   */
  extend(
    request: ConversationKey & { readonly runIds: readonly string[]; readonly resumed?: boolean },
  ): Promise<void>;
  /** Records that Temporal has no data of these runs any more, if the tombstone has no others. Safe to repeat. */
  finish(request: ConversationKey & { readonly runIds: readonly string[] }): Promise<void>;
  /**
   * Removes all that is stored of a tenant apart from its conversations: webhooks and their secrets, spaces, and
   * documents. Safe to repeat.
   */
  removeOfTenant(tenant: string): Promise<void>;
  /**
   * Stored conversations of a tenant, deletions of it that are not finished, and conversations that never began but have
   * stored values. One may come twice.
   */
  ofTenant(tenant: string): AsyncIterable<ConversationKey>;
}

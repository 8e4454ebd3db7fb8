/**
 * Deletion of conversations: part of the event log port. What is left of a deleted conversation is a tombstone: its id and the
 * ids of its runs. Whatever one of these runs says late is refused (`deleted`), so nothing comes back; another run under the
 * same id is a new conversation, and is stored as such.
 */
import type { ConversationKey } from '../../protocol/values/ids.js';
import type { HeadPosition } from './log-head.js';

export interface Deletion extends ConversationKey {
  readonly runIds: readonly string[];
  /** Milliseconds by the clock of the store. */
  readonly requestedAtMs: number;
  /** Absent while Temporal may still have some of it. */
  readonly finishedAtMs?: number;
}

export interface Deletions {
  /**
   * Removes every row of a conversation and leaves the tombstone, in one transaction. The ids of runs that the store knew are
   * added to the given ones. Safe to repeat: the runs of all repeats are remembered. Undefined, and nothing is removed, when
   * `onlyAt` is given and is not the stored head.
   */
  beginDeletion(
    request: ConversationKey & {
      readonly runIds: readonly string[];
      readonly onlyAt?: HeadPosition;
    },
  ): Promise<Deletion | undefined>;
  /** Adds runs to a tombstone, and removes nothing: another conversation may have begun under the id. Safe to repeat. */
  extendDeletion(request: ConversationKey & { readonly runIds: readonly string[] }): Promise<void>;
  /** Notes that Temporal has nothing of it any more. Safe to repeat. */
  finishDeletion(key: ConversationKey): Promise<void>;
  deletion(key: ConversationKey): Promise<Deletion | undefined>;
  /** Those requested at least `forMs` ago, longest ago first. */
  unfinishedDeletions(options: {
    readonly limit: number;
    readonly forMs: number;
  }): Promise<readonly Deletion[]>;
  /** Conversations and unfinished deletions of a tenant, in key order after the given id. */
  keysOfTenant(options: {
    readonly tenant: string;
    readonly limit: number;
    readonly after?: string;
  }): Promise<readonly ConversationKey[]>;
  /** Removes tombstones that were finished `forMs` ago; how many. */
  forgetDeletions(options: { readonly limit: number; readonly forMs: number }): Promise<number>;
}

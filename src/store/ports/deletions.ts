/**
 * Deletion of conversations: part of the event log port. A deletion leaves a tombstone: the conversation's id and the
 * ids of its runs. Late events of one of these runs are refused (`deleted`), so the conversation cannot come back;
 * another run under the same id is a new conversation, and is stored as such.
 */
import type { ConversationId, ConversationKey } from '../../protocol/values/ids.js';
import type { HeadPosition } from './log-head.js';

export interface Deletion extends ConversationKey {
  readonly runIds: readonly string[];
  /** The last one of the deleted log, 0 where none was stored: the next log under the id begins behind it. */
  readonly generation: number;
  /** Lists have its sub-agents under this root. Present where these are to be deleted with it. */
  readonly root?: ConversationId;
  /** Milliseconds by the clock of the store. */
  readonly requestedAtMs: number;
  /** Absent while Temporal may still have data of the conversation. */
  readonly finishedAtMs?: number;
}

export interface Deletions {
  /**
   * Removes every row of a conversation and leaves the tombstone, in one transaction. The ids of runs that the store
   * knew are added to the given ones. Safe to repeat: the tombstone keeps the runs of all repeats. Undefined, and
   * nothing is removed, when `onlyAt` is given and is not the stored head. `withSubAgents`: the tombstone says that those
   * of its sub-agents are to follow, also after repeats that do not, until it is finished.
   */
  beginDeletion(
    request: ConversationKey & {
      readonly runIds: readonly string[];
      readonly onlyAt?: HeadPosition;
      readonly withSubAgents?: true;
    },
  ): Promise<Deletion | undefined>;
  /**
   * Adds runs to a tombstone, and removes nothing: another conversation may have begun under the id. Safe to repeat.
   */
  extendDeletion(request: ConversationKey & { readonly runIds: readonly string[] }): Promise<void>;
  /**
   * Records that Temporal has no data of these runs any more. Nothing is recorded where the tombstone has others too:
   * the id was used, and deleted, once more. Safe to repeat.
   */
  finishDeletion(request: ConversationKey & { readonly runIds: readonly string[] }): Promise<void>;
  deletion(key: ConversationKey): Promise<Deletion | undefined>;
  /** Deletions requested at least `forMs` ago, longest ago first, after the given one. */
  unfinishedDeletions(options: {
    readonly limit: number;
    readonly forMs: number;
    readonly after?: Deletion | undefined;
  }): Promise<readonly Deletion[]>;
  /** Conversations and unfinished deletions of a tenant, in key order after the given id. */
  keysOfTenant(options: {
    readonly tenant: string;
    readonly limit: number;
    readonly after?: string;
  }): Promise<readonly ConversationKey[]>;
  /** Removes tombstones that were finished at least `forMs` ago; resolves to their number. */
  forgetDeletions(options: { readonly limit: number; readonly forMs: number }): Promise<number>;
}

/** Whether the tombstone of a conversation has a run. Another conversation may have begun under the id. */
export async function isDeletedRun(
  deletions: Pick<Deletions, 'deletion'>,
  key: ConversationKey,
  runId: string,
): Promise<boolean> {
  return (await deletions.deletion(key))?.runIds.includes(runId) === true;
}

/** The deletions port of the client: what is stored of conversations, and what is left of deleted ones. `projection` implements it. */
import type { ConversationKey } from '../../protocol/values/ids.js';

/** Names one state of a stored log. */
export interface StoredAt {
  readonly generation: number;
  readonly runId: string;
  readonly lastSeq: number;
}

export interface DeletionsPort {
  /** Whether anything of it is stored, or was until it was deleted. */
  isKnown(key: ConversationKey): Promise<boolean>;
  /** Whether a run is of a conversation that was deleted. */
  isDeletedRun(key: ConversationKey, runId: string): Promise<boolean>;
  /**
   * Removes all that is stored and leaves a tombstone for the runs: these, and those that the store knew. All of them come back;
   * none, and nothing is removed, when `unlessMoved` is given and something was stored since. Safe to repeat.
   */
  begin(
    request: ConversationKey & {
      readonly runIds: readonly string[];
      readonly unlessMoved?: StoredAt;
    },
  ): Promise<readonly string[] | undefined>;
  /** Adds runs to the tombstone. Safe to repeat. */
  extend(request: ConversationKey & { readonly runIds: readonly string[] }): Promise<void>;
  /** Notes that Temporal has nothing of it any more. Safe to repeat. */
  finish(key: ConversationKey): Promise<void>;
  /** What is stored of a tenant, and what of it is not gone yet. */
  ofTenant(tenant: string): AsyncIterable<ConversationKey>;
}

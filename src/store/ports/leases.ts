/**
 * Leases of claims: part of the event log port, since their rows follow the log. A row is there while the newest stored state
 * has the claim: an append writes and removes them in its own transaction. Here they are only renewed, watched and dropped, by
 * the clock of the store. Nothing of it is in a workflow's history.
 */
import type { ConversationKey, ToolCallId } from '../../protocol/values/ids.js';

export interface CallLease extends ConversationKey {
  readonly toolCallId: ToolCallId;
  readonly claimId: string;
  /** Of the newest `claimed` event of this claim that the store has. */
  readonly seq: number;
  /** Id of the actor. */
  readonly holder: string;
  readonly leaseMs: number;
  /** ISO 8601 */
  readonly leaseUntil: string;
}

export interface CallLeases {
  callLeases(key: ConversationKey): Promise<readonly CallLease[]>;
  /**
   * Moves the end of a lease to now + `leaseMs`, by default as long as the holder asked for before. Undefined when the store
   * has no such claim of this holder (yet, or any more), or has told already that it lapsed.
   */
  renewCallLease(renewal: {
    readonly call: ConversationKey & { readonly toolCallId: ToolCallId };
    readonly claimId: string;
    readonly holder: string;
    readonly leaseMs?: number;
  }): Promise<CallLease | undefined>;
  /**
   * Leases that have lapsed, in key order after the given one; from now on they cannot be renewed. Tells them again until
   * their rows are gone.
   */
  lapsedCallLeases(options: {
    readonly limit: number;
    readonly after?: CallLease;
  }): Promise<readonly CallLease[]>;
  /** Removes a lapsed row whose conversation knows nothing of it, unless it is another by now. */
  dropCallLease(lease: CallLease): Promise<void>;
}

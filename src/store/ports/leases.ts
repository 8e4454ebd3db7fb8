/**
 * Leases of claims: part of the event log port, since their rows follow the log. A row exists while the newest stored
 * state has the claim: an append writes and removes rows in its own transaction. These methods only renew, watch and
 * drop them, by the clock of the store. No lease renewal is in a workflow's history.
 */
import type { ConversationKey, ToolCallId } from '../../protocol/values/ids.js';

export interface CallLease extends ConversationKey {
  readonly toolCallId: ToolCallId;
  readonly claimId: string;
  /** Seq of the newest `claimed` event of this claim that the store has. */
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
   * Moves the end of a lease to now + `leaseMs`, by default the length that the holder requested before. Undefined when
   * the store has no such claim of this holder (yet, or any more), or has already returned it as lapsed.
   */
  renewCallLease(renewal: {
    readonly call: ConversationKey & { readonly toolCallId: ToolCallId };
    readonly claimId: string;
    readonly holder: string;
    readonly leaseMs?: number;
  }): Promise<CallLease | undefined>;
  /**
   * Leases that have lapsed, in key order after the given one. From now on they cannot be renewed. Returned again until
   * their rows are removed.
   */
  lapsedCallLeases(options: {
    readonly limit: number;
    readonly after?: CallLease;
  }): Promise<readonly CallLease[]>;
  /** Removes a lapsed row of a claim that the conversation does not have, unless the row has changed meanwhile. */
  dropCallLease(lease: CallLease): Promise<void>;
}

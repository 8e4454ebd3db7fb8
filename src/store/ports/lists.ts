/** Lists across conversations: part of the event log port. With a tenant every list is read along an index. */

import type { SuspensionKind } from '../../protocol/calls/suspensions.js';
import type {
  AttentionReason,
  ConversationSnapshot,
} from '../../protocol/conversation/conversation.js';
import type { StatusFilter } from '../../protocol/conversation/statuses.js';
import type { JudgedActor } from '../../protocol/values/actors.js';
import type { ConversationKey } from '../../protocol/values/ids.js';

/**
 * All filters hold at once. Newest conversations first; where one of `pendingTool`, `pendingKind`, `pendingFor` and `deadlineBefore`
 * is given, those first whose pending call (of those that are meant) ends earliest.
 */
export interface ListOptions {
  readonly tenant?: string;
  readonly agent?: string;
  readonly status?: StatusFilter;
  /** Conversations with an open call of this tool. */
  readonly pendingTool?: string;
  /** Conversations with an open call that waits for this. */
  readonly pendingKind?: SuspensionKind;
  /**
   * Conversations with an open call whose audience admits the actor, who wants to know what waits for him. Who asked in a turn is read
   * in its events: where these are lost, a call that excludes its requester is listed for him, and the conversation refuses his answer.
   */
  readonly pendingFor?: JudgedActor;
  /** ISO 8601; conversations with an open call whose deadline is earlier. */
  readonly deadlineBefore?: string;
  /** Open conversations that somebody has to look after: workers are there, and none of them serves the agent. */
  readonly attention?: AttentionReason;
  /** @defaultValue 50; 1,000 at most */
  readonly limit?: number;
  /** Opaque, from `nextCursor` of a page with the same filters. */
  readonly cursor?: string;
}

export interface ConversationList {
  readonly conversations: readonly ConversationSnapshot[];
  readonly nextCursor?: string;
}

/** What the sweep needs to know of a conversation that is not closed. */
export interface OpenHead extends ConversationKey {
  readonly runId: string;
  readonly historyLength: number;
  /** When events were stored last, in milliseconds by the clock of the store. */
  readonly changedAtMs: number;
}

export interface ConversationLists {
  /**
   * What stays where it is in the order is neither repeated nor skipped from page to page, whatever is written meanwhile. A
   * conversation whose earliest deadline moves behind the cursor comes again.
   * @throws {RangeError} when the cursor is not one of ours, or of a list in another order.
   */
  list(options?: ListOptions): Promise<ConversationList>;
  /** Heads of conversations that are not closed, in key order after the given key. */
  openHeads(options: {
    readonly limit: number;
    readonly after?: ConversationKey;
  }): Promise<readonly OpenHead[]>;
  /** Those of them that something was stored of within `withinMs`, longest ago first, after the given one. */
  recentHeads(options: {
    readonly limit: number;
    readonly withinMs: number;
    readonly after?: OpenHead;
  }): Promise<readonly OpenHead[]>;
  /** Those of the keys that the store does not know, or knows as closed; one statement, 1,000 keys at most. */
  notOpen(keys: readonly ConversationKey[]): Promise<readonly ConversationKey[]>;
  /** Those of the keys that the store does not know at all, and never had to delete; one statement, 1,000 keys at most. */
  unknown(keys: readonly ConversationKey[]): Promise<readonly ConversationKey[]>;
  /** Conversations that were closed before a time, longest ago first. */
  closedBefore(options: {
    readonly closedBeforeMs: number;
    readonly limit: number;
  }): Promise<readonly ClosedHead[]>;
}

export interface ClosedHead extends ConversationKey {
  readonly generation: number;
  readonly lastSeq: number;
  readonly runId: string;
  readonly closedAtMs: number;
}

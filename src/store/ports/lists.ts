/** Lists across conversations: part of the event log port. With a tenant every list is read along an index. */

import type { SuspensionKind } from '../../protocol/calls/suspensions.js';
import type {
  AttentionReason,
  ConversationSnapshot,
} from '../../protocol/conversation/conversation.js';
import type { StatusFilter } from '../../protocol/conversation/statuses.js';
import type { JudgedActor } from '../../protocol/values/actors.js';
import type { ConversationId, ConversationKey } from '../../protocol/values/ids.js';

/**
 * All filters hold at once. Newest conversations first; if one of `pendingTool`, `pendingKind`, `pendingFor` and
 * `deadlineBefore` is given, those first whose pending call (of the matching ones) ends earliest.
 */
export interface ListOptions {
  readonly tenant?: string;
  readonly agent?: string;
  /** Conversations of sub-agents at any depth below this one. */
  readonly root?: string;
  readonly status?: StatusFilter;
  /** Conversations with an open call of this tool. */
  readonly pendingTool?: string;
  /** Conversations with an open call of this kind of suspension. */
  readonly pendingKind?: SuspensionKind;
  /**
   * Conversations with an open call whose audience admits this actor. The requesters of a turn are read from its
   * events: if these are lost, a call that excludes its requester is listed for that actor, and the conversation
   * refuses the actor's answer.
   */
  readonly pendingFor?: JudgedActor;
  /** ISO 8601; conversations with an open call whose deadline is earlier. */
  readonly deadlineBefore?: string;
  /** Open conversations that need an operator: there are workers, and none of them serves the agent. */
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

/** The fields of an open conversation that the sweep uses. */
export interface OpenHead extends ConversationKey {
  readonly runId: string;
  readonly historyLength: number;
  /** The time of the last change of its row, in milliseconds by the clock of the store. */
  readonly changedAtMs: number;
}

/** A change of a conversation's row: events were stored, or a mark of trouble was made or removed; or its deletion. */
export interface Change extends ConversationKey {
  /** By the clock of the store, before the change can be read: at most `LATE_MS` before. */
  readonly changedAtMs: number;
  /** Differs when the row differs. */
  readonly version: string;
  readonly isDeletion: boolean;
}

export interface Changes {
  /** The clock of the store, before the read. */
  readonly nowMs: number;
  readonly changes: readonly Change[];
  /** Tenants that have more changes than the limit; the latest are left out. */
  readonly cut: ReadonlySet<string>;
}

/** A conversation as a list has it. */
export interface ListedConversation {
  readonly snapshot: ConversationSnapshot;
  readonly changedAtMs: number;
  /** As in `Change`. */
  readonly version: string;
}

/** Milliseconds. A change is visible to all readers at most so long after its `changedAtMs`, or is not made. */
export const LATE_MS = 30_000;

export interface ConversationLists {
  /**
   * One page. A conversation that keeps its place in the order is neither repeated nor skipped from page to page, also
   * during writes. A conversation whose earliest deadline moves behind the cursor is listed again.
   * @throws {RangeError} when the cursor is not one of this store, or of a list in another order.
   */
  list(options?: ListOptions): Promise<ConversationList>;
  /** Heads of conversations that are not closed, in key order after the given key. */
  openHeads(options: {
    readonly limit: number;
    readonly after?: ConversationKey;
  }): Promise<readonly OpenHead[]>;
  /** Open heads with an event stored within `withinMs`, longest ago first, after the given one. */
  recentHeads(options: {
    readonly limit: number;
    readonly withinMs: number;
    readonly after?: OpenHead;
  }): Promise<readonly OpenHead[]>;
  /**
   * The last change of each conversation of these tenants that was changed or deleted since a time, of closed ones too;
   * `limit` changes and `limit` deletions of each tenant at most, longest ago first. A conversation that was begun
   * again after its deletion has both.
   */
  changes(options: {
    readonly tenants: readonly string[];
    /** By the clock of the store, as `nowMs`. Absent, or later than now: now. */
    readonly sinceMs?: number | undefined;
    /** Milliseconds before that time. */
    readonly lookBackMs: number;
    readonly limit: number;
  }): Promise<Changes>;
  /** These conversations as a list has them, in no order; one statement, 1,000 ids at most. */
  listedIn(
    tenant: string,
    conversationIds: readonly ConversationId[],
  ): Promise<readonly ListedConversation[]>;
  /** The keys that the store does not have, or has as closed; one statement, 1,000 keys at most. */
  notOpen(keys: readonly ConversationKey[]): Promise<readonly ConversationKey[]>;
  /**
   * The keys that the store does not have at all, and of which it has no deletion; one statement, 1,000 keys at most.
   */
  unknown(keys: readonly ConversationKey[]): Promise<readonly ConversationKey[]>;
  /** Conversations that were closed before a time, longest ago first, after the given one. */
  closedBefore(options: {
    readonly closedBeforeMs: number;
    readonly limit: number;
    readonly after?: ClosedHead | undefined;
  }): Promise<readonly ClosedHead[]>;
}

export interface ClosedHead extends ConversationKey {
  readonly generation: number;
  readonly lastSeq: number;
  readonly runId: string;
  readonly closedAtMs: number;
}

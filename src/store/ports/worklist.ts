/** The worklist: part of the event log port. Waiting calls of one tenant, read along an index. */
import type { WaitingItem, WorklistCounts, WorklistFilter } from '../../protocol/log/worklist.js';
import type { JudgedActor } from '../../protocol/values/actors.js';
import type { ConversationId } from '../../protocol/values/ids.js';

export interface WorklistRequest extends WorklistFilter {
  readonly tenant: string;
  /** Only calls that this actor may answer. */
  readonly mayAnswer?: JudgedActor;
  /** @defaultValue 50; 1,000 at most */
  readonly limit?: number;
  /** Opaque, from `nextCursor` of a page with the same filters. */
  readonly cursor?: string;
}

export interface WaitingPage {
  readonly items: readonly WaitingItem[];
  readonly nextCursor?: string;
}

export interface Worklists {
  /**
   * One page, in order of deadlines, in one statement. A call that keeps its deadline is neither repeated nor skipped
   * from page to page, also during writes.
   * @throws {RangeError} when the cursor is not one of this list.
   */
  waiting(request: WorklistRequest): Promise<WaitingPage>;
  /** The waiting calls of these conversations, in no order; one statement, 1,000 ids at most. */
  waitingIn(
    tenant: string,
    conversationIds: readonly ConversationId[],
  ): Promise<readonly WaitingItem[]>;
  /** Counts of all calls that match, `MAX_COUNTED_CALLS` at most. */
  countWaiting(request: WorklistRequest): Promise<WorklistCounts>;
}

/**
 * Marks of conversations whose workflow tasks never complete: part of the event log port. A mark is not an event, since
 * the conversation does not know of it. It holds for the log as it was when the mark was made: an event appended later
 * shows that a task was completed.
 */
import type { ConversationKey } from '../../protocol/values/ids.js';
import type { Trouble } from '../../protocol/values/trouble.js';

export interface Troubled extends ConversationKey {
  readonly trouble: Trouble;
}

export interface Troubles {
  /**
   * Replaces an earlier mark. Also for a conversation that the store does not have. True when its kind, run or error is
   * new.
   */
  markTrouble(key: ConversationKey, trouble: Trouble): Promise<boolean>;
  /** Removes the mark. True when there was one, whether or not it still held. */
  clearTrouble(key: ConversationKey): Promise<boolean>;
  /** The mark, if it holds. */
  trouble(key: ConversationKey): Promise<Trouble | undefined>;
  /** Marks in key order after the given one, including those that no longer hold, so that the caller can clear them. */
  troubles(options: {
    readonly limit: number;
    readonly after?: ConversationKey;
  }): Promise<readonly Troubled[]>;
}

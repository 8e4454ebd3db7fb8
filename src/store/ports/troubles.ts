/**
 * Marks of conversations whose workflow tasks come to no end: part of the event log port. A mark is no event, since the conversation
 * does not know of it. It holds for the log as it was when it was made: whatever is appended later shows that a task was completed.
 */
import type { ConversationKey } from '../../protocol/values/ids.js';
import type { Trouble } from '../../protocol/values/trouble.js';

export interface Troubled extends ConversationKey {
  readonly trouble: Trouble;
}

export interface Troubles {
  /** Replaces an earlier mark. Also for a conversation that the store does not know. True when its kind, run or error is new. */
  markTrouble(key: ConversationKey, trouble: Trouble): Promise<boolean>;
  /** Removes the mark. True when there was one, whether or not it still held. */
  clearTrouble(key: ConversationKey): Promise<boolean>;
  /** The mark, if it holds. */
  trouble(key: ConversationKey): Promise<Trouble | undefined>;
  /** Marks in key order after the given one, those that hold no more as well: whoever looks again may clear them. */
  troubles(options: {
    readonly limit: number;
    readonly after?: ConversationKey;
  }): Promise<readonly Troubled[]>;
}

/** The head of a stored log: the position up to which a store has it. Runs anywhere. */
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import type { ConversationKey } from '../../protocol/values/ids.js';

/** The end of the stored log of a conversation. */
export interface LogHead extends ConversationKey {
  /** From 1; a higher one replaces the log (see `log_rewritten`), also that of a deleted conversation with the same id. */
  readonly generation: number;
  readonly lastSeq: number;
  /** Run that the newest events came from. */
  readonly runId: string;
  /** History length of that run when it was last projected; the sweep compares it. */
  readonly historyLength: number;
  /** Fold of all events of the generation (`core/view.ts`), with `generation` set. */
  readonly snapshot: ConversationSnapshot;
}

/** Names one state of a stored log. */
export type HeadPosition = Pick<LogHead, 'generation' | 'runId' | 'lastSeq'>;

/** What of a conversation a model call is given: how long results stay in it, and what the log says of it. Runs anywhere. */
import type { MessageId, TurnId } from '../values/ids.js';

/**
 * How long the model keeps seeing a tool's results. After that a result is shown as a stub; the log keeps it whole. It becomes
 * due then, and happens when the context is made smaller at all: providers' prompt caches live on what does not change.
 *
 * | retention | a result stays whole |
 * |---|---|
 * | `{turns: 6}` | in so many turns, the one in which it came included |
 * | `{last: 3}` | while it is among so many newest results of its tool |
 * | `'never_evict'` | for as long as its turn is in the context |
 */
export type Retention = { readonly turns: number } | { readonly last: number } | 'never_evict';

/** What one model call was given of its conversation, and why not more. Stands in its `model_call` event. */
export interface ModelContext {
  /** Input tokens of the request, as counted before it was made; what the provider counted stands in `usage`. */
  readonly tokens: number;
  /** Input tokens that a call of this agent may have. */
  readonly budget: number;
  /** Messages of the conversation that it was given. */
  readonly messages: number;
  /** Oldest whole turns that were left out. Absent: none. */
  readonly droppedTurns?: number;
  /** Old results that were shown as stubs. Absent: none. */
  readonly evictedResults?: number;
  /** Ordinal of the summary that took the place of the turns before. Absent: there was none. */
  readonly summary?: number;
  /** Oldest messages that no worker was sent, because the transcript outgrew one payload. Absent: none. */
  readonly unsentMessages?: number;
  /**
   * The context was made smaller at this call, so that what follows begins otherwise than before: it had come near the budget
   * (`share`: old results became stubs), would have gone over it (`budget`), or the provider refused it (`too_long`).
   */
  readonly compacted?: 'share' | 'budget' | 'too_long';
  /** The first turn that it was given whole, where turns were left out for the budget. Later calls begin there, too. */
  readonly fromTurnId?: TurnId;
  /** Which results are old was decided as of this message. */
  readonly evictedAsOf?: MessageId;
  /** Tokens were counted by size alone: it is far from the budget. */
  readonly rough?: true;
  /** Factor between the engine's own count of tokens and what this provider counts. Absent: 1. */
  readonly scale?: number;
  /** The context has passed the share of its budget at which old turns are summarised. */
  readonly summaryDue?: true;
}

/** What a model call has to know of the one before, so that it begins with the same bytes. */
export interface ContextMark
  extends Pick<ModelContext, 'tokens' | 'rough' | 'scale' | 'fromTurnId' | 'evictedAsOf'> {
  /** As its provider counted them. */
  readonly inputTokens: number;
}

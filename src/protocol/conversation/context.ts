/** The context of a model call: the retention of results in it, and its description in the log. Runs anywhere. */
import type { MessageId, TurnId } from '../values/ids.js';

/**
 * How long the model sees a tool's results. After that a result is shown as a stub; the log keeps it whole. Where the
 * tool sets no retention of its own, its due results become stubs only when the context is made smaller anyway, since
 * the prompt caches of providers need an unchanged beginning.
 *
 * | retention | a result stays whole |
 * |---|---|
 * | `{turns: 6}` | in so many turns, the one in which it came included |
 * | `{last: 3}` | while it is among so many newest results of its tool |
 * | `'never_evict'` | for as long as its turn is in the context |
 */
export type Retention = { readonly turns: number } | { readonly last: number } | 'never_evict';

/**
 * The part of its conversation that one model call was given, and the reasons for its bounds. A field of `model_call`
 * events.
 */
export interface ModelContext {
  /** Input tokens of the request, as counted before it was made; `usage` has the provider's count. */
  readonly tokens: number;
  /** Input tokens that a call of this agent may have. */
  readonly budget: number;
  /** Number of messages of the conversation in the request. */
  readonly messages: number;
  /** Number of the oldest whole turns that were left out. Absent: none. */
  readonly droppedTurns?: number;
  /** Number of old results that were shown as stubs. Absent: none. */
  readonly evictedResults?: number;
  /** Ordinal of the summary in place of the turns before. Absent: there was none. */
  readonly summary?: number;
  /**
   * Number of the oldest messages that were sent to no worker, because the transcript outgrew one payload. Absent:
   * none.
   */
  readonly unsentMessages?: number;
  /**
   * Present when the context was made smaller at this call, so that later requests begin differently: it had come near
   * the budget (`share`: old results became stubs), would have gone over it (`budget`), or the provider refused it
   * (`too_long`).
   */
  readonly compacted?: 'share' | 'budget' | 'too_long';
  /** The first whole turn in the request, where turns were left out for the budget. Later calls begin there, too. */
  readonly fromTurnId?: TurnId;
  /** The message as of which the age of results was judged. */
  readonly evictedAsOf?: MessageId;
  /** Tokens were counted by size alone, since the context is far from the budget. */
  readonly rough?: true;
  /** Factor between the engine's own count of tokens and this provider's. Absent: 1. */
  readonly scale?: number;
  /** The agent's definition by which the request was made. Absent: a worker of an older version made it. */
  readonly definition?: UsedDefinition;
  /**
   * Id of the stored value that has the whole request. Absent: the worker stores no requests, or is of an older version;
   * the record is too large; or the store refused it, or answered after the deadline, when it may have stored it.
   */
  readonly audit?: string;
  /** The context has passed the share of its budget at which old turns are summarised. */
  readonly summaryDue?: true;
}

/** The definition of an agent by which a request was made, and the parts of it that this request had otherwise. */
export interface UsedDefinition {
  /** 16 hexadecimal digits; equal definitions have equal ones. */
  readonly digest: string;
  /** Parts that plugins, or the lists of MCP servers, changed for this request. Absent: none. */
  readonly changed?: readonly ('system' | 'tools')[];
}

/** The fields of the model call before that the next one needs to begin with the same bytes. */
export interface ContextMark
  extends Pick<ModelContext, 'tokens' | 'rough' | 'scale' | 'fromTurnId' | 'evictedAsOf'> {
  /** Input tokens as the provider counted them. */
  readonly inputTokens: number;
}

/** The part of the context that readers are shown: its size, and what was left out. */
export type ShownContext = Pick<
  ModelContext,
  'tokens' | 'budget' | 'messages' | 'droppedTurns' | 'evictedResults' | 'summary'
>;

export function contextShown(context: ModelContext): ShownContext {
  const { tokens, budget, messages, droppedTurns, evictedResults, summary } = context;
  return {
    tokens,
    budget,
    messages,
    ...(droppedTurns === undefined ? {} : { droppedTurns }),
    ...(evictedResults === undefined ? {} : { evictedResults }),
    ...(summary === undefined ? {} : { summary }),
  };
}

/** The reader port of the client: reads conversations. `projection` implements it over the store. */

import type { OfferGone, ToolOffer } from '../../protocol/calls/claims.js';
import type { PluginStatesRead } from '../../protocol/calls/plugin-state.js';
import type { SuspensionKind } from '../../protocol/calls/suspensions.js';
import type { ChildStep } from '../../protocol/conversation/children.js';
import type { ConversationSnapshot, TurnResult } from '../../protocol/conversation/conversation.js';
import type { StatusFilter } from '../../protocol/conversation/statuses.js';
import type { ForkCut, ForkPoint, WhatIfPoint, WhatIfTurn } from '../../protocol/forks/forks.js';
import type {
  ConversationsFilter,
  ConversationsFrame,
} from '../../protocol/log/conversations-stream.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { LiveEvent } from '../../protocol/log/live-events.js';
import type { WorklistFilter, WorklistFrame, WorklistPage } from '../../protocol/log/worklist.js';
import type { ModelCallRead } from '../../protocol/model/model-calls.js';
import type { JudgedActor } from '../../protocol/values/actors.js';
import type { LogCursor } from '../../protocol/values/cursor.js';
import type {
  ConversationId,
  ConversationKey,
  NameableKeys,
  TurnId,
} from '../../protocol/values/ids.js';

export type { LogCursor };

export interface LogPage {
  readonly generation: number;
  readonly events: readonly CanonicalEvent[];
  /** The position of the next page: `after` for the next page, or `before` for the next one towards the start. */
  readonly cursor: LogCursor;
  /** Whether there are more in the direction of the read. */
  readonly more: boolean;
  /** On the page before the end: `after` for the tail, so that page and tail together have no gap and no repetition. */
  readonly tail?: LogCursor;
}

/** The start of a page towards the beginning: the end of the log, or the cursor of an earlier page. */
export type BeforePosition = LogCursor | 'end';

export type WatchFrame =
  | { readonly type: 'event'; readonly cursor: LogCursor; readonly event: CanonicalEvent }
  | { readonly type: 'live'; readonly event: LiveEvent }
  /** A live event of a sub-agent, for watchers that asked for them. */
  | {
      readonly type: 'nested';
      /** The conversation of the sub-agent. */
      readonly conversationId: ConversationId;
      /** The calls from the watched conversation down to the one that the sub-agent runs. */
      readonly path: readonly ChildStep[];
      readonly event: LiveEvent;
    };

export interface ReadPosition {
  /** Absent = from the start. A cursor of an older generation restarts at a `log_rewritten` marker. */
  readonly after?: LogCursor;
}

/** Filters of a list; all given ones hold at once. */
export interface ListedBy {
  readonly tenant: string;
  readonly agent?: string;
  /** Conversations of sub-agents at any depth below this one. */
  readonly root?: string;
  readonly status?: StatusFilter;
  readonly pendingTool?: string;
  readonly pendingKind?: SuspensionKind;
  /** The actor that the calls must admit. */
  readonly pendingFor?: JudgedActor;
  /** ISO 8601 */
  readonly deadlineBefore?: string;
  readonly limit?: number;
  readonly cursor?: string;
}

/** Which calls are offered. */
export interface OffersOf {
  readonly tenant: string;
  readonly tools: readonly string[];
  readonly executors: readonly ToolOffer['executor'][];
  readonly agent?: string;
  /** Calls whose audience does not admit the actor are left out. */
  readonly actor: JudgedActor;
}

export interface OffersPage {
  readonly offers: readonly ToolOffer[];
  /** Whether more calls wait than the page has. */
  readonly more: boolean;
}

/** `id` names the offers that a watcher has after the frame. */
export type OfferFrame =
  | { readonly type: 'offer'; readonly id: string; readonly offer: ToolOffer }
  | { readonly type: 'gone'; readonly id: string; readonly gone: OfferGone }
  /** The watcher continued from other offers than those of now: it has none, and those of now follow. */
  | { readonly type: 'reset'; readonly id: string };

/** Calls that clients and backends may claim, across the conversations of a tenant. */
export interface OfferReader {
  /** The calls that wait now and that no client holds, those first that end first. */
  offers(of: OffersOf, limit: number): Promise<OffersPage>;
  /**
   * The same, then each new one, and each that is over, until the signal aborts. `after`: the id of the last frame of an
   * earlier watch, of any process; if the offers have not changed since, none is repeated. A watcher that reads slowly
   * skips what began and ended meanwhile.
   */
  watchOffers(
    of: OffersOf,
    options: { readonly signal: AbortSignal; readonly after?: string },
  ): AsyncIterable<OfferFrame>;
}

export interface ConversationPage {
  readonly conversations: readonly ConversationSnapshot[];
  /** Absent on the last page. */
  readonly nextCursor?: string;
}

/** Filters of a worklist, and the actor who is to answer. */
export interface WorklistBy extends WorklistFilter {
  readonly tenant: string;
  readonly actor: JudgedActor;
  /** Only calls that the actor may answer. */
  readonly mine: boolean;
  readonly limit?: number;
  readonly cursor?: string;
}

export interface ConversationReader {
  /**
   * `atLeastSeq`: a seq that the caller knows to be recorded; the workflow is queried (1 s deadline) when the store
   * lags behind it. `answered` gets the seq of the workflow's newest event where it was queried and has one.
   */
  snapshot(
    key: ConversationKey,
    options?: { atLeastSeq?: number; answered?: (seq: number) => void },
  ): Promise<ConversationSnapshot | undefined>;
  /**
   * With `before` newest first, else oldest first. A cursor of an older generation: from the end, or the start, of the
   * newest.
   */
  events(
    key: ConversationKey,
    options?: ReadPosition & { limit?: number; before?: BeforePosition },
  ): Promise<LogPage | undefined>;
  /** @throws {RangeError} when the cursor is not one of an earlier page. */
  list(options: ListedBy): Promise<ConversationPage>;
  /**
   * The changes of a list, until the signal aborts. `after`: the id of the last frame that the caller had. Resolves once
   * changes are followed. Absent: the reader has no store.
   */
  watchList?(
    by: ConversationsFilter & { readonly tenant: string },
    from: { readonly after?: string | undefined; readonly signal: AbortSignal },
  ): Promise<AsyncIterable<ConversationsFrame>>;
  /**
   * A page of waiting calls. Absent: the reader has no store. @throws {RangeError} when the cursor is not one of an
   * earlier page.
   */
  worklist?(options: WorklistBy): Promise<WorklistPage>;
  /**
   * The worklist and its changes, until the signal aborts; without pages. `after`: the id of the last frame that the
   * caller had. Resolves once the list is read. Absent: the reader has no store.
   */
  watchWorklist?(
    options: Omit<WorklistBy, 'limit' | 'cursor'>,
    from: { readonly after?: string | undefined; readonly signal: AbortSignal },
  ): Promise<AsyncIterable<WorklistFrame>>;
  /**
   * Waits until the turn has ended, or only outside waits remain, or the time is up. Any process may call it, any
   * number of times. Undefined: the turn is not known (yet) after the time is up. `atLeastSeq`: a seq that the caller
   * knows to be recorded, so an older state is not returned as `waiting`.
   */
  turnResult(
    key: ConversationKey,
    turnId: TurnId,
    options: {
      timeoutMs: number;
      signal?: AbortSignal;
      returnWhenWaiting?: boolean;
      atLeastSeq?: number;
    },
  ): Promise<TurnResult | undefined>;
  /** Log from a position, then its tail for ever, with live events between. Ends when the signal aborts. */
  watch(
    key: ConversationKey,
    options: ReadPosition & { signal: AbortSignal },
  ): AsyncIterable<WatchFrame>;
  /**
   * States of the agent's plugins, from what this reader reads: where no worker can return those of now. Undefined: the
   * conversation is not known. Absent: the reader cannot.
   */
  pluginStates?(key: ConversationKey): Promise<PluginStatesRead | undefined>;
  /**
   * Looks at a place of the log from which a fork is to begin. Undefined: there is no such log. Absent: the reader has
   * no store.
   */
  forkPoint?(key: ConversationKey, cut: ForkCut): Promise<ForkPoint | undefined>;
  /**
   * Looks at a turn of the log that is to be played again. Undefined: there is no such log. Absent: the reader has no
   * store.
   */
  whatIfPoint?(key: ConversationKey, turn: WhatIfTurn): Promise<WhatIfPoint | undefined>;
  /**
   * The model call that the event with this seq records, and the request that it got. `generation` absent: the newest.
   * Undefined: the log has no such event, or it records none. Absent: the reader has no store.
   */
  modelCall?(
    key: ConversationKey,
    at: { readonly generation?: number | undefined; readonly seq: number },
  ): Promise<ModelCallRead | undefined>;
  /** The events of one turn, in order; none when it is not known. */
  turnEvents(key: ConversationKey, turnId: TurnId): Promise<readonly CanonicalEvent[]>;
  /**
   * The conversation in which the turn began; a fork of it, always the same, where it was deleted, or `among` does not
   * have it. @defaultValue among all conversations
   */
  findTurn(turnId: TurnId, among?: NameableKeys): Promise<ConversationKey | undefined>;
  /** Absent: the reader has no list of waiting calls. */
  readonly toolOffers?: OfferReader;
  /** Whether a run is of a conversation that was deleted. Absent if none can be. */
  isDeletedRun?(key: ConversationKey, runId: string): Promise<boolean>;
}

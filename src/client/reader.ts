/** The reader port of the client: where conversations are read from. `projection` implements it over the store. */
import type { ConversationSnapshot, TurnResult } from '../protocol/conversation.js';
import type { LogCursor } from '../protocol/cursor.js';
import type { CanonicalEvent } from '../protocol/events.js';
import type { ConversationKey, TurnId } from '../protocol/ids.js';
import type { LiveEvent } from '../protocol/live-events.js';
import type { CarriedState } from '../protocol/messaging.js';

export type { LogCursor };

export interface LogPage {
  readonly generation: number;
  readonly events: readonly CanonicalEvent[];
  /** Position after the last event of the page. */
  readonly cursor: LogCursor;
  readonly more: boolean;
}

export type WatchFrame =
  | { readonly type: 'event'; readonly cursor: LogCursor; readonly event: CanonicalEvent }
  | { readonly type: 'live'; readonly event: LiveEvent };

export interface ReadPosition {
  /** Absent = from the start. A cursor of an older generation restarts at the `log_rewritten` marker. */
  readonly after?: LogCursor;
}

export interface ConversationReader {
  /** `atLeastSeq`: the caller knows that this was recorded; the workflow is asked (1 s deadline) when the store is behind. */
  snapshot(
    key: ConversationKey,
    options?: { atLeastSeq?: number },
  ): Promise<ConversationSnapshot | undefined>;
  events(
    key: ConversationKey,
    options?: ReadPosition & { limit?: number },
  ): Promise<LogPage | undefined>;
  /**
   * Waits until the turn has ended, or only outside waits remain, or the time is up. Any process may ask, any number of
   * times. Undefined: the turn is not known (yet) after the time is up.
   * `atLeastSeq`: the caller knows that this was recorded, so an older state is not answered as `waiting`.
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
   * State of a closed conversation rebuilt from its log, to open it again; complete, as long as Temporal knows the workflow.
   * @throws an error whose `code` is `no_worker` when the store lacks the end of the log and no worker tells it.
   */
  seed(key: ConversationKey): Promise<CarriedState | undefined>;
  /** The events of one turn, in order; none when it is not known. */
  turnEvents(key: ConversationKey, turnId: TurnId): Promise<readonly CanonicalEvent[]>;
  findTurn(turnId: TurnId): Promise<ConversationKey | undefined>;
}

/** Public shapes of the client: options, what is sent, what comes back. */
import type { Client } from '@temporalio/client';
import type { OutputGiven } from '../../json-schema/output-format.js';
import type { BatchVerdict } from '../../protocol/calls/batches.js';
import type { ClaimVerdict } from '../../protocol/calls/claims.js';
import type { ExtendVerdict } from '../../protocol/calls/extensions.js';
import type { Verdict } from '../../protocol/calls/resolutions.js';
import type { SuspensionKind } from '../../protocol/calls/suspensions.js';
import type { OnBusy } from '../../protocol/conversation/agents.js';
import type {
  CancelTurnReply,
  SendMessageReply,
  TurnResult,
} from '../../protocol/conversation/conversation.js';
import type { InboxEventReply } from '../../protocol/conversation/inbox.js';
import type { StatusFilter } from '../../protocol/conversation/statuses.js';
import type { Actor, Channel, StampedActor } from '../../protocol/values/actors.js';
import type { FilePart, ImagePart } from '../../protocol/values/attachments.js';
import type {
  CallRef,
  ConversationId,
  ConversationKey,
  ToolCallId,
  TurnId,
} from '../../protocol/values/ids.js';
import type { QueuedReason, Trouble } from '../../protocol/values/trouble.js';
import type { AgentSource } from '../ports/agents.js';
import type { BlobsPort } from '../ports/blobs.js';
import type { DeletionsPort } from '../ports/deletions.js';
import type { HoldersPort } from '../ports/holders.js';
import type { BeforePosition, ConversationReader, LogCursor } from '../ports/reader.js';
import type { Duration } from './checks.js';

export interface ConversationClientOptions {
  readonly temporal: Client;
  /** Known agents; a message to any other is refused before it reaches Temporal. */
  readonly agents: AgentSource;
  /** Where conversations are read. Absent = asked of their workflows, which needs a worker and knows the present run only. */
  readonly reader?: ConversationReader | undefined;
  /** Where leases are renewed and progress is shown. Absent = renewals cost history, and progress is refused. */
  readonly holders?: HoldersPort | undefined;
  /** Where values are read that are too large for events: the `blobs` of the opened event log. Absent = they cannot be. */
  readonly blobs?: BlobsPort | undefined;
  /** What is deleted from the store. Absent = conversations cannot be deleted. */
  readonly deletions?: DeletionsPort | undefined;
  /** The id of the event log, to be compared with that of the workers. Absent = not compared. */
  readonly storeId?: (() => Promise<string>) | undefined;
  /** Called with each conversation whose workflow was found to fail while it was asked something. Must not throw. */
  readonly onTrouble?: ((key: ConversationKey, trouble: Trouble) => void) | undefined;
  /** @defaultValue "colloquy" */
  readonly taskQueue?: string | undefined;
  /** @defaultValue "default" */
  readonly tenant?: string | undefined;
  /** Who acts where a call names nobody. */
  readonly actor?: Actor | StampedActor | undefined;
  /** How inputs are marked. Actors of `client` are vouched for by this application. @defaultValue "client" */
  readonly channel?: Extract<Channel, 'client' | 'api'> | undefined;
  /** False where the server has no search attributes registered. @defaultValue true */
  readonly searchAttributes?: boolean | undefined;
  /**
   * Every wait for Temporal and its workers lasts so many times as long as usual, from 1 to 100: for machines and networks so slow that
   * answers are `queued` although a worker is there. Without a worker, callers are told as much later. @defaultValue 1
   */
  readonly patience?: number | undefined;
}

export interface ConversationOptions {
  /** Needed to start a conversation; one that exists keeps its agent, and a different name is refused. */
  readonly agent?: string | undefined;
  readonly tenant?: string | undefined;
}

export interface SendOptions {
  /** Names the message: repeats with the same id are one message. Minted when absent; give one when *you* may retry. */
  readonly requestId?: string | undefined;
  readonly actor?: Actor | StampedActor | undefined;
  /** Overrides the agent's rule for a message that comes while a turn runs. */
  readonly onBusy?: OnBusy | undefined;
  /** Opens a closed conversation again; needs the event log. */
  readonly reopen?: boolean | undefined;
  /** Images and files that belong to it: by address, or by their id at the model's provider; at most 16. */
  readonly attachments?: readonly (ImagePart | FilePart)[] | undefined;
  /**
   * What the turn's final answer has to be, an object at the top: a zod type, or any that gives itself as JSON Schema, or JSON Schema.
   * It takes the place of the agent's; `false`: a text. Of a zod type, JSON Schema alone reaches worker and model: `outputOf(type,
   * result)` parses what came.
   */
  readonly output?: OutputGiven | undefined;
}

export interface ResultOptions {
  /** Longest wait. @defaultValue "10 minutes" */
  readonly timeout?: Duration | undefined;
  /** Return as soon as only people, clients or other backends can move the turn on. @defaultValue true */
  readonly returnWhenWaiting?: boolean | undefined;
  /** Recorded for sure, as another process was told. What this client was told itself it knows. @defaultValue 0 */
  readonly atLeastSeq?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface FinalOptions {
  /** Longest wait. @defaultValue "10 minutes" */
  readonly timeout?: Duration | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A turn, whoever began it: ask for its result from any process, any number of times. */
export interface TurnHandle {
  readonly conversationId: ConversationId;
  readonly turnId: TurnId;
  /**
   * The end or the present state of the turn, always a union.
   * @throws {EngineError} unknown_turn when no such turn is known after the time is up.
   */
  result(options?: ResultOptions): Promise<TurnResult>;
  /** Stops this turn, not a later one. Safe to repeat. */
  cancel(options?: CancelOptions): Promise<CancelOutcome>;
}

/** A message that was recorded. */
export interface Turn extends TurnHandle, SendMessageReply {
  readonly status: 'admitted';
  readonly requestId: string;
  /** True when this request was recorded before; the ids are those of the first time. */
  readonly duplicate: boolean;
}

/** The message is durable in Temporal, but no worker has taken it yet. */
export interface QueuedMessage {
  readonly status: 'queued';
  readonly conversationId: ConversationId;
  readonly requestId: string;
  readonly reason: QueuedReason;
  /** Why, and the next command. */
  readonly warning: string;
  /** The turn once a worker took the message; undefined when the time is up. @throws {EngineError} when it was refused. */
  final(options?: FinalOptions): Promise<Turn | undefined>;
  /** Waits for `final()` and then for the result, within one timeout. */
  result(options?: ResultOptions): Promise<TurnResult | QueuedResult>;
}

export interface QueuedResult {
  readonly status: 'queued';
  readonly requestId: string;
}

export type Sent = Turn | QueuedMessage;

/** A call to resolve: its opaque ref, or its parts. */
export type ResolveTarget = string | (Omit<CallRef, 'tenant'> & { readonly tenant?: string });

export interface ResolveOptions {
  readonly actor?: Actor | StampedActor | undefined;
  /** Names the answer: repeats with the same id answer `duplicate` with the first verdict. Minted when absent. */
  readonly requestId?: string | undefined;
  /** Guards against resolving what has changed since it was shown. */
  readonly argsDigest?: string | undefined;
  /** Of a result: the claim under which the call was run. Needed while the call is held. */
  readonly claimId?: string | undefined;
  /** ISO 8601; when the answer came in, where that was before this call. Lateness is judged by it. */
  readonly receivedAt?: string | undefined;
}

/** The verdict, and what it is on HTTP. */
export type ResolveOutcome = Verdict & {
  readonly httpStatus: number;
  readonly requestId: string;
  /** Of a queued answer: why, and the next command. */
  readonly warning?: string;
  /** What became of a queued answer; any other verdict is final already. Still `queued` when the time is up. */
  final(options?: FinalOptions): Promise<Verdict>;
};

/** The verdict on the results of a whole step, and what it is on HTTP. */
export type BatchOutcome = BatchVerdict & {
  readonly httpStatus: number;
  readonly requestId: string;
};

/** An event of another system. */
export interface DeliverOptions {
  /** Who vouches for it. */
  readonly actor?: Actor | StampedActor | undefined;
}

/** `queued`: nobody confirmed in time; the event is durable, and is taken by the next worker. */
export type Delivered =
  | (InboxEventReply & { readonly status: 'admitted'; readonly duplicate: boolean })
  | {
      readonly status: 'queued';
      readonly eventId: string;
      readonly reason: QueuedReason;
      readonly warning: string;
    };

/** Exactly one of `by` and `until`. */
export interface ExtendOptions {
  /** On top of the present deadline. */
  readonly by?: Duration | undefined;
  /** The new deadline; a text is ISO 8601 with its offset. */
  readonly until?: Date | string | undefined;
  /** Names the extension: repeats with the same id move nothing. Minted when absent. */
  readonly requestId?: string | undefined;
  readonly actor?: Actor | StampedActor | undefined;
}

export interface ClaimOptions {
  /** How long the claim lasts unless it is renewed: 1 second to 1 hour. @defaultValue '5 minutes'; of a renewal as before */
  readonly lease?: Duration | undefined;
  /** Of the claim that is renewed. */
  readonly claimId?: string | undefined;
  /** Names the claim: repeats with the same id are one. Minted when absent. */
  readonly requestId?: string | undefined;
  readonly actor?: Actor | StampedActor | undefined;
  /** ISO 8601; when the claim came in, where that was before this call. */
  readonly receivedAt?: string | undefined;
}

/** The verdict, and what it is on HTTP. */
export type ClaimOutcome = ClaimVerdict & {
  readonly httpStatus: number;
  readonly requestId: string;
};

export interface ProgressOptions {
  /** Of the claim under which the call runs. */
  readonly claimId: string;
  readonly actor?: Actor | StampedActor | undefined;
}

export type ProgressVerdict =
  | Extract<Verdict, { verdict: 'unknown' | 'invalid' }>
  | {
      readonly verdict: 'stale';
      readonly why: 'not_waiting' | 'not_holder';
      readonly by?: string;
      readonly at?: string;
    }
  | { readonly verdict: 'accepted'; readonly toolCallId: ToolCallId; readonly leaseUntil: string };

export type ProgressOutcome = ProgressVerdict & { readonly httpStatus: number };

/** The verdict, and what it is on HTTP. */
export type ExtendOutcome = ExtendVerdict & {
  readonly httpStatus: number;
  readonly requestId: string;
};

export interface RevokeOptions {
  readonly requestId?: string | undefined;
  readonly actor?: Actor | StampedActor | undefined;
}

export interface CancelOptions {
  readonly turnId?: TurnId | undefined;
  readonly reason?: string | undefined;
  readonly requestId?: string | undefined;
  readonly actor?: Actor | StampedActor | undefined;
}

/** `queued`: nobody confirmed in time; the stop is durable and will be applied first thing. */
export type CancelOutcome =
  | (CancelTurnReply & { readonly status: 'done' })
  | {
      readonly status: 'queued';
      readonly requestId: string;
      readonly reason: QueuedReason;
      readonly warning: string;
    };

export interface SnapshotOptions {
  /** Recorded for sure, as another process was told. What this client was told itself it knows. @defaultValue 0 */
  readonly atLeastSeq?: number | undefined;
}

export interface EventsOptions {
  /** Absent = from the start. */
  readonly after?: LogCursor | undefined;
  /** Newest first, from the end of the log or from the cursor of an earlier such page. Not together with `after`. */
  readonly before?: BeforePosition | undefined;
  readonly limit?: number | undefined;
}

/** Nothing can be read any more, and Temporal has taken on to remove the histories, which it does within moments. */
export interface DeleteOutcome {
  readonly deleted: true;
  readonly conversationId: ConversationId;
}

/** All that are given hold at once. */
export interface ListOptions {
  /** @defaultValue the client's */
  readonly tenant?: string | undefined;
  readonly agent?: string | undefined;
  /** `active`: all that are open and wait for nobody. */
  readonly status?: StatusFilter | undefined;
  /** Conversations with an open call of this tool. This and the next three list those first whose call ends earliest. */
  readonly pendingTool?: string | undefined;
  readonly pendingKind?: SuspensionKind | undefined;
  /**
   * Conversations with an open call whose audience admits the actor; one that excludes its requester is not listed for whoever sent a
   * message of its turn.
   */
  readonly pendingFor?: Actor | StampedActor | undefined;
  /** Conversations with an open call whose deadline is earlier; a text is ISO 8601 with its offset. */
  readonly deadlineBefore?: Date | string | undefined;
  /** From 1 to 1,000. @defaultValue 50 */
  readonly limit?: number | undefined;
  /** `nextCursor` of an earlier page with the same filters. */
  readonly cursor?: string | undefined;
}

export interface SubscribeOptions {
  readonly after?: LogCursor | undefined;
  /** Ends the subscription. Leaving the loop ends it, too. */
  readonly signal?: AbortSignal | undefined;
}

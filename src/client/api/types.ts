/** Public shapes of the client: options, inputs, results; those of single calls are in `call-types.ts`. */
import type { Client } from '@temporalio/client';
import type { AnswerIn, OutputGiven } from '../../json-schema/output-format.js';
import type { Risk } from '../../protocol/calls/executors.js';
import type { SuspensionKind } from '../../protocol/calls/suspensions.js';
import type { OnBusy } from '../../protocol/conversation/agents.js';
import type {
  CancelTurnReply,
  SendMessageReply,
  TurnResult,
} from '../../protocol/conversation/conversation.js';
import type { InboxEventReply } from '../../protocol/conversation/inbox.js';
import type { StatusFilter } from '../../protocol/conversation/statuses.js';
import type { ForkOrigin } from '../../protocol/forks/forks.js';
import type { Actor, Channel, StampedActor } from '../../protocol/values/actors.js';
import type { FilePart, ImagePart } from '../../protocol/values/attachments.js';
import type { Duration } from '../../protocol/values/durations.js';
import type {
  ConversationId,
  ConversationKey,
  ToolCallId,
  TurnId,
} from '../../protocol/values/ids.js';
import type { Json } from '../../protocol/values/json.js';
import type { QueuedReason, Trouble } from '../../protocol/values/trouble.js';
import type { AgentSource } from '../ports/agents.js';
import type { BlobsPort } from '../ports/blobs.js';
import type { DeletionsPort } from '../ports/deletions.js';
import type { LeasesPort } from '../ports/leases.js';
import type { BeforePosition, ConversationReader, LogCursor, WatchFrame } from '../ports/reader.js';

export interface ConversationClientOptions {
  readonly temporal: Client;
  /** Known agents; a message to any other is refused before it reaches Temporal. */
  readonly agents: AgentSource;
  /**
   * Reads conversations. Absent = the client queries their workflows, which needs a worker and returns the present run
   * only.
   */
  readonly reader?: ConversationReader | undefined;
  /** Renews leases and publishes progress. Absent = renewals cost history, and progress is refused. */
  readonly leases?: LeasesPort | undefined;
  /** Reads values that are too large for events: the `blobs` of the opened event log. Absent = they cannot be read. */
  readonly blobs?: BlobsPort | undefined;
  /** Deletes conversations from the store. Absent = conversations cannot be deleted. */
  readonly deletions?: DeletionsPort | undefined;
  /** The id of the event log, compared with that of the workers. Absent = not compared. */
  readonly storeId?: (() => Promise<string>) | undefined;
  /** Called with each conversation whose workflow was found to fail during a call of the client. Must not throw. */
  readonly onTrouble?: ((key: ConversationKey, trouble: Trouble) => void) | undefined;
  /** @defaultValue "colloquy" */
  readonly taskQueue?: string | undefined;
  /** @defaultValue "default" */
  readonly tenant?: string | undefined;
  /** The actor of calls that name none. */
  readonly actor?: Actor | StampedActor | undefined;
  /** The channel of inputs. Actors of `client` are marked as verified by this application. @defaultValue "client" */
  readonly channel?: Extract<Channel, 'client' | 'api'> | undefined;
  /** False if the server has no search attributes registered. @defaultValue true */
  readonly searchAttributes?: boolean | undefined;
  /**
   * Address of the web page, such as `https://agents.example.com/ui`: the Temporal UI links each conversation to it
   * there. A conversation keeps the address with which it began or was reopened. @defaultValue no link
   */
  readonly pageUrl?: string | undefined;
  /**
   * Factor from 1 to 100 for every wait for Temporal and its workers: for machines and networks so slow that answers
   * are `queued` although a worker runs. Without a worker, replies come later by the same factor. @defaultValue 1
   */
  readonly patience?: number | undefined;
}

/** An agent, by its name or as `defineAgent` returns it. */
export type AgentRef =
  | string
  | {
      readonly kind: 'agent';
      readonly name: string;
      readonly tools?: readonly unknown[];
      readonly '~output'?: unknown;
    };

/** The name of an agent that may have been passed by name. */
export function nameOfAgent(agent: AgentRef | undefined): string | undefined {
  return typeof agent === 'object' ? agent.name : agent;
}

/** The JSON of an agent's final answers; any JSON for an agent that is passed by its name. */
export type AnswerOfAgent<Named> = Named extends {
  readonly kind: 'agent';
  readonly '~output'?: infer Form;
}
  ? AnswerIn<NonNullable<Form>>
  : Json;

export interface ConversationOptions<Named extends AgentRef = AgentRef> {
  /**
   * The agent or its name. Needed to start a conversation; one that exists keeps its agent, and a different one is
   * refused.
   */
  readonly agent?: Named | undefined;
  readonly tenant?: string | undefined;
}

/** The tools of an agent, as a union; unknown for an agent that is passed by its name. */
export type ToolsOfAgent<Named> = Named extends {
  readonly tools: readonly (infer Tool)[];
}
  ? Tool
  : unknown;

export interface SendOptions<Given extends OutputGiven = OutputGiven> {
  /** Names the message: repeats with the same id are one message. Created when absent; pass one if *you* may retry. */
  readonly requestId?: string | undefined;
  readonly actor?: Actor | StampedActor | undefined;
  /** Overrides the agent's rule for a message that arrives while a turn runs. */
  readonly onBusy?: OnBusy | undefined;
  /** Reopens the conversation where it is closed; a worker restores its state from the event log. */
  readonly reopen?: boolean | undefined;
  /** Images and files of the message: by address, or by their id at the model's provider; at most 16. */
  readonly attachments?: readonly (ImagePart | FilePart)[] | undefined;
  /**
   * Schema of the turn's final answer, an object at the top: a zod type, any other type that converts to JSON Schema,
   * or JSON Schema. Replaces the agent's schema; `false`: the answer is a text. Worker and model receive a zod type as
   * JSON Schema only: `outputOf(type, result)` parses the answer.
   */
  readonly output?: Given | undefined;
  /**
   * Longest wait where messages arrive faster than the workers answer them, until the error `workers_busy`. Without a
   * worker the message is `queued` after 3 s as usual. @defaultValue "30 seconds"
   */
  readonly busyTimeout?: Duration | undefined;
}

export interface ResultOptions {
  /** Longest wait. @defaultValue "10 minutes" */
  readonly timeout?: Duration | undefined;
  /** Return as soon as only people, clients or other backends can move the turn on. @defaultValue true */
  readonly returnWhenWaiting?: boolean | undefined;
  /**
   * A seq known to be recorded, from a reply to another process. Seqs of its own replies are known to this client.
   * @defaultValue 0
   */
  readonly atLeastSeq?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface FinalOptions {
  /** Longest wait. @defaultValue "10 minutes" */
  readonly timeout?: Duration | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * A turn, begun by any process: every process may ask for its result, any number of times. `Output`: the JSON of the
 * final answer, by the schema of the message or of its agent.
 */
export interface TurnHandle<Output = Json> {
  readonly conversationId: ConversationId;
  readonly turnId: TurnId;
  /**
   * The end or the present state of the turn, always a union.
   * @throws {ConversationError} unknown_turn when no such turn is known after the time is up.
   */
  result(options?: ResultOptions): Promise<TurnResult<Output>>;
  /**
   * The events of the turn from its first one, or behind `after`, with live events between, to the event that ends it;
   * then the loop is over. `log_rewritten` comes as well: behind it the turn begins anew, if the new log has it.
   * @throws {ConversationError} unknown_turn when no such turn is known after 2 s; store_unavailable
   */
  subscribe(options?: TurnSubscribeOptions): AsyncIterable<TurnFrame>;
  /** Stops this turn, not a later one. Safe to repeat. */
  cancel(options?: CancelOptions): Promise<CancelOutcome>;
}

/** A message that was recorded. */
export interface Turn<Output = Json> extends TurnHandle<Output>, SendMessageReply {
  readonly status: 'admitted';
  readonly requestId: string;
  /** True when this request was recorded before; the ids are those of the first time. */
  readonly duplicate: boolean;
}

/** The message is durable in Temporal, but no worker has taken it yet. */
export interface QueuedMessage<Output = Json> {
  readonly status: 'queued';
  readonly conversationId: ConversationId;
  readonly requestId: string;
  readonly reason: QueuedReason;
  /** Why, and the next command. */
  readonly warning: string;
  /**
   * The turn, once a worker took the message; undefined when the time is up. @throws {ConversationError} when it was refused.
   */
  final(options?: FinalOptions): Promise<Turn<Output> | undefined>;
  /** Waits for `final()` and then for the result, within one timeout. */
  result(options?: ResultOptions): Promise<TurnResult<Output> | QueuedResult>;
}

export interface QueuedResult {
  readonly status: 'queued';
  readonly requestId: string;
}

export type Sent<Output = Json> = Turn<Output> | QueuedMessage<Output>;

/** Options of an event of another system. */
export interface SendEventOptions {
  /** The actor that vouches for the event. */
  readonly actor?: Actor | StampedActor | undefined;
}

/** `queued`: no worker confirmed in time; the event is durable, and the next worker takes it. */
export type EventSent =
  | (InboxEventReply & { readonly status: 'admitted'; readonly duplicate: boolean })
  | {
      readonly status: 'queued';
      readonly eventId: string;
      readonly reason: QueuedReason;
      readonly warning: string;
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

/** `queued`: no worker confirmed in time; the stop is durable and will be applied first. */
export type CancelOutcome =
  | (CancelTurnReply & { readonly status: 'done' })
  | {
      readonly status: 'queued';
      readonly requestId: string;
      readonly reason: QueuedReason;
      readonly warning: string;
    };

/** A place in the log of a conversation, and what a fork from there takes over. */
export interface ForkOptions {
  /** Generation of the log that `atSeq` counts in: `generation` of the snapshot or the cursor. */
  readonly generation: number;
  /** Seq of an event that ends a step or a turn. */
  readonly atSeq: number;
  /** Ids of calls that waited there and wait anew in the fork; @defaultValue none: they get the error `not_carried` */
  readonly reopen?: readonly ToolCallId[];
  /** Id of the fork. @defaultValue one derived from `requestId`, or a new one */
  readonly id?: ConversationId;
  /** Names the request: repeats with the same id are one fork. @defaultValue a new one */
  readonly requestId?: string;
}

/**
 * `forked`: the fork can be read and sent messages. `queued`: it is durable, and begins once a worker takes it.
 * `duplicate`: the same request has begun it before.
 */
export type Forked = {
  readonly conversationId: ConversationId;
  readonly agent: string;
  readonly origin: ForkOrigin;
  /** Calls that were open there and stay with the origin. */
  readonly notCarried: readonly ToolCallId[];
  readonly duplicate: boolean;
} & (
  | { readonly status: 'forked'; readonly seq: number }
  | { readonly status: 'queued'; readonly reason: string; readonly warning: string }
);

export interface SnapshotOptions {
  /**
   * A seq known to be recorded, from a reply to another process. Seqs of its own replies are known to this client.
   * @defaultValue 0
   */
  readonly atLeastSeq?: number | undefined;
}

export interface EventsOptions {
  /** Absent = from the start. */
  readonly after?: LogCursor | undefined;
  /** Newest first, from the end of the log or from the cursor of an earlier such page. Not together with `after`. */
  readonly before?: BeforePosition | undefined;
  readonly limit?: number | undefined;
}

/** No data can be read any more, and Temporal has accepted to remove the histories, which it does within moments. */
export interface DeleteOutcome {
  readonly deleted: true;
  readonly conversationId: ConversationId;
}

/** All given filters hold at once. */
export interface ListOptions {
  /** @defaultValue the client's */
  readonly tenant?: string | undefined;
  /** The agent or its name. */
  readonly agent?: AgentRef | undefined;
  /** Id of a conversation: those of sub-agents at any depth below it. */
  readonly root?: ConversationId | undefined;
  /** `active`: all that are open and wait for no input. */
  readonly status?: StatusFilter | undefined;
  /**
   * Conversations with an open call of this tool. With this filter or one of the next three, conversations whose call
   * ends earliest come first.
   */
  readonly pendingTool?: string | undefined;
  readonly pendingKind?: SuspensionKind | undefined;
  /**
   * Conversations with an open call whose audience admits the actor. A call that excludes its requester is not listed
   * for an actor who sent a message of its turn.
   */
  readonly pendingFor?: Actor | StampedActor | undefined;
  /** Conversations with an open call whose deadline is earlier; a text is ISO 8601 with its offset. */
  readonly deadlineBefore?: Date | string | undefined;
  /** From 1 to 1,000. @defaultValue 50 */
  readonly limit?: number | undefined;
  /** `nextCursor` of an earlier page with the same filters. */
  readonly cursor?: string | undefined;
}

export interface WatchListOptions
  extends Pick<ListOptions, 'tenant' | 'agent' | 'root' | 'status'> {
  /** `id` of the last frame with one of an earlier stream, of any process, with the same filters. */
  readonly after?: string | undefined;
  /** Ends the stream. Leaving the loop ends it, too. */
  readonly signal?: AbortSignal | undefined;
}

/** All given filters hold at once. */
export interface WorklistOptions {
  /** @defaultValue the client's */
  readonly tenant?: string | undefined;
  /** The actor who is to answer. @defaultValue the client's, else an anonymous one */
  readonly actor?: Actor | StampedActor | undefined;
  /** Only calls that the actor may answer. @defaultValue true */
  readonly mine?: boolean | undefined;
  readonly tool?: string | undefined;
  /** The agent that made the call, or its name. */
  readonly agent?: AgentRef | undefined;
  readonly kind?: SuspensionKind | undefined;
  readonly risk?: Risk | undefined;
  /** Id of an actor who asked for the call: one of those who sent messages of its turn. */
  readonly requester?: string | undefined;
  /** Calls whose deadline is earlier; a text is ISO 8601 with its offset. */
  readonly deadlineBefore?: Date | string | undefined;
  /** From 1 to 1,000. @defaultValue 50 */
  readonly limit?: number | undefined;
  /** `nextCursor` of an earlier page with the same filters. */
  readonly cursor?: string | undefined;
}

export type TurnFrame = Exclude<WatchFrame, { readonly type: 'nested' }>;

export type TurnSubscribeOptions = Pick<SubscribeOptions, 'after' | 'signal'>;

export interface SubscribeOptions {
  readonly after?: LogCursor | undefined;
  /** Frames `nested` with the live events of sub-agents at any depth, between the conversation's own. @defaultValue false */
  readonly nested?: boolean | undefined;
  /** Ends the subscription. Leaving the loop ends it, too. */
  readonly signal?: AbortSignal | undefined;
}

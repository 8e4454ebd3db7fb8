/**
 * Canonical events: the log of a conversation. A closed union; readers ignore types that they do not know. `seq` is
 * dense from 1 and decided by the workflow; the state of a conversation is a fold of its events.
 */

import type { StatePatchEvent } from '../calls/plugin-state.js';
import type { EarlierResult, ToolResult } from '../calls/results.js';
import type { AgentSettings, InboxRate } from '../conversation/agents.js';
import type { FailedAttempt } from '../conversation/attempts.js';
import type { ChildChanged, ParentRef } from '../conversation/children.js';
import type { ModelContext } from '../conversation/context.js';
import type { ConversationSnapshot } from '../conversation/conversation.js';
import type { AssistantPart, UserPart } from '../conversation/messages.js';
import type { CarriedMemory } from '../conversation/offloaded-messages.js';
import type { TurnEndReason, TurnError, TurnLimit, Usage } from '../conversation/turns.js';
import type { ForkOrigin } from '../forks/forks.js';
import type { StampedActor } from '../values/actors.js';
import type { MessageId, ToolCallId, TurnId } from '../values/ids.js';
import type { Json, JsonSchema } from '../values/json.js';
import type { CallEventBody } from './call-events.js';

export type * from './call-events.js';

interface Stamp {
  /** Dense from 1 within a generation of the log. */
  readonly seq: number;
  /** ISO 8601, workflow time. */
  readonly at: string;
  /**
   * Messages and answers refused since the event before that came as signals, beyond those that are recorded one by
   * one. Absent = none.
   */
  readonly unrecordedRefusals?: number;
}

export interface ConversationStarted {
  readonly type: 'conversation_started';
  readonly tenant: string;
  readonly conversationId: string;
  readonly agent: string;
  /** The name of this incarnation; part of idempotency keys and turn ids. */
  readonly chain: string;
  readonly settings: AgentSettings;
  /** The call of another conversation that this one runs. Absent: no other has started it, or it was opened again. */
  readonly parent?: ParentRef;
  /**
   * Present when the conversation is a fork: the events before this one are copies of the origin's, and ends of what it
   * had left open. Absent: it began by itself, or was opened again.
   */
  readonly origin?: ForkOrigin;
  /** Present when a closed conversation was opened again; its log continues. */
  readonly reopened?: true;
  /**
   * Number of the oldest messages that a reopened conversation, or a fork, left behind because the transcript was too
   * large. Absent when there are none.
   */
  readonly droppedMessages?: number;
}

/** A message was accepted. It enters the transcript with its `turn_started`. */
export interface UserMessageEvent {
  readonly type: 'user_message';
  readonly turnId: TurnId;
  readonly messageId: MessageId;
  readonly requestId: string;
  readonly parts: readonly UserPart[];
  readonly actor: StampedActor;
  /**
   * Present when the message came while a turn ran. `interrupt`: that turn is stopped, and this message is next.
   * `steer`: it belongs to that turn (`turnId` is the running one) and enters the transcript before its next model
   * call, or at its end. `queue`: its sender let it wait, so no open question is detached for it.
   */
  readonly onBusy?: 'interrupt' | 'steer' | 'queue';
  /** Schema of the turn's final answer; `false`: a text. Absent: as the agent's definition sets it. */
  readonly output?: JsonSchema | false;
}

export interface TurnStarted {
  readonly type: 'turn_started';
  readonly turnId: TurnId;
  readonly messageId: MessageId;
  /** Ids of the inbox events that started it, where no message did. */
  readonly inbox?: readonly string[];
}

/**
 * One model call was completed, or was given up (`finishReason` `cancelled` or `failed`) after it used tokens or
 * failed. `attempt` counts tries, from 1; it supersedes live events of earlier attempts.
 */
export interface ModelCallEvent {
  readonly type: 'model_call';
  readonly turnId: TurnId;
  readonly step: number;
  readonly attempt: number;
  readonly model: string;
  readonly finishReason: string;
  /** Usage of this attempt; where the call failed, of all its attempts. */
  readonly usage: Usage;
  /**
   * Usage of the attempts before this one, which gave no answer. Counts like `usage`. Absent: nothing is known of any.
   */
  readonly earlierUsage?: Usage;
  /**
   * Failed attempts, oldest first: reason, the provider's answer, and the pause that followed. Where the call failed,
   * the last one is the failure of the call. Absent: there were none.
   */
  readonly failedAttempts?: readonly FailedAttempt[];
  /** The part of the conversation that the model was given. Absent for calls that were aborted. */
  readonly context?: ModelContext;
}

/**
 * The oldest turns of the transcript were summarised: later model calls get the text in their place. It covers the
 * summary before, if there was one. The log keeps the messages.
 */
export interface SummaryEvent {
  readonly type: 'summary';
  /** From 1. */
  readonly ordinal: number;
  /** Version of the engine's prompt and form by which it was made. */
  readonly version: number;
  /** The last turn that it covers, and that turn's last message. */
  readonly throughTurnId: TurnId;
  readonly throughMessageId: MessageId;
  /** Messages that left the transcript, an earlier summary included. */
  readonly messages: number;
  readonly text: string;
  /** Tokens of these messages, and of the text, as the engine counts them. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** The model that wrote it, and the usage, which counts for the conversation and for no turn. */
  readonly model: string;
  readonly usage: Usage;
  /** Failed attempts, oldest first. Absent: there were none. */
  readonly failedAttempts?: readonly FailedAttempt[];
}

export interface AssistantMessageEvent {
  readonly type: 'assistant_message';
  readonly turnId: TurnId;
  readonly step: number;
  readonly messageId: MessageId;
  readonly parts: readonly AssistantPart[];
  readonly partial?: true;
  readonly synthetic?: true;
  /**
   * Results of the calls that the provider ran for this message, as later policies see them; absent where it ran none.
   */
  readonly providerResults?: readonly EarlierResult[];
  /** The answer in the requested schema, validated, after defaults and transforms; `parts` has its text. */
  readonly output?: Json;
}

/** A message or another request was refused that came as a signal, to which no reply can be returned. */
export interface MessageRefused {
  readonly type: 'message_refused';
  readonly requestId: string;
  /** `cancel`: a cancel that could not be read, which has cancelled nothing. Absent: a message or an inbox event. */
  readonly request?: 'cancel';
  /** A code of the failure table. */
  readonly code: string;
  readonly actor: StampedActor;
}

/** An actor asked to stop the turn. The turn ends as soon as all that runs has been notified. */
export interface CancelRequested {
  readonly type: 'cancel_requested';
  readonly turnId: TurnId;
  /** Remembered, so that a late repeat does not stop the next turn. */
  readonly requestId?: string;
  readonly actor: StampedActor;
  readonly reason?: string;
}

/**
 * A bound was reached while the turn ran: what runs is stopped, and the turn ends with a message that names the bound.
 */
export interface TurnLimitReached {
  readonly type: 'turn_limit_reached';
  readonly turnId: TurnId;
  readonly limit: TurnLimit;
}

/**
 * Events of the inbox have started as many turns within a time as the agent's settings allow. Those that wait are the
 * input of one turn, which starts at `until`, or of a message's turn before.
 */
export interface InboxPaused {
  readonly type: 'inbox_paused';
  /** ISO 8601 */
  readonly until: string;
  readonly rate: InboxRate;
}

/**
 * New input that is no message of a user: the result of a detached or late call (`tr:<callId>`), or an event of another
 * system. The next model call reads it; when no turn runs, it starts one.
 */
export interface InboxEvent {
  readonly type: 'inbox_event';
  /** Stable: an id enters a conversation once. */
  readonly eventId: string;
  /** `tool_result`, or the sender's word. */
  readonly kind: string;
  readonly actor: StampedActor;
  /** Present for an event of another system. */
  readonly payload?: Json;
  /** This and the next two are present for a result. */
  readonly toolCallId?: ToolCallId;
  readonly name?: string;
  readonly result?: ToolResult;
  /** The turn whose model asked for the call. */
  readonly originTurnId?: TurnId;
  /** The requester of that turn; also of a turn that this event starts. */
  readonly requester?: StampedActor;
}

/**
 * Messages of the transcript are in the blob store, so that the next run is not sent them. Nothing is said or forgotten:
 * the log has the messages, and model calls still get them.
 */
export interface TranscriptOffloaded {
  readonly type: 'transcript_offloaded';
  /** The first and the last of the messages. */
  readonly fromMessageId: MessageId;
  readonly throughMessageId: MessageId;
  /** The blobs in the order of the messages: id, and number of messages. */
  readonly chunks: readonly { readonly id: string; readonly messages: number }[];
}

export interface RolledOver {
  readonly type: 'rolled_over';
  readonly reason: RollOverReason;
  /** Number of messages that the carried transcript leaves out because it outgrew its bound; the log keeps them. */
  readonly droppedMessages: number;
}

export type RollOverReason =
  | 'history_size'
  | 'history_events'
  | 'suggested'
  | 'update_count'
  | 'signal_count'
  /** Finished steps of the running turn were to be offloaded. */
  | 'turn_size'
  | 'requested';

export interface TurnEnded {
  readonly type: 'turn_ended';
  readonly turnId: TurnId;
  readonly status: 'completed' | 'failed' | 'cancelled';
  /** Absent when the model ended the turn itself. */
  readonly reason?: TurnEndReason;
  /** Text of the last assistant message of the turn; empty when there was none. */
  readonly text: string;
  /** The answer in the requested schema. Absent where none was requested, and where the turn did not complete. */
  readonly output?: Json;
  readonly error?: TurnError;
  readonly steps: number;
  readonly usage: Usage;
}

export interface ConversationClosed {
  readonly type: 'conversation_closed';
  /** `child_done`: the conversation of a sub-agent has done its work. */
  readonly reason: 'requested' | 'idle' | 'workflow_cancelled' | 'child_done';
  readonly actor: StampedActor;
}

/**
 * Written by the projector, not by the workflow: the run was ended from outside (terminated, timed out, failed) without
 * an event. Every open call is over; the conversation can be reopened.
 */
export interface RunEnded {
  readonly type: 'run_ended';
  readonly runId: string;
  readonly status: 'terminated' | 'failed' | 'timed_out';
}

/**
 * Written by the projector, not by the workflow, at seq 0 of a new generation: the workflow's log no longer agrees with
 * the stored one (after a reset, a fail-over, a restored server). A reader with the cursor of a deleted conversation gets
 * one before the log that has begun under its id. Readers discard their state and read on from here.
 */
export interface LogRewritten {
  readonly type: 'log_rewritten';
  readonly previousGeneration: number;
  readonly divergedAtSeq: number;
}

/**
 * Written by the projector, not by the workflow: the event at this seq is in no store and in no run any more. There is
 * one for each seq of a gap, so that seqs stay dense; the first has the state known behind the gap.
 */
export interface EventsLost {
  readonly type: 'events_lost';
  /** First and last seq of the gap. */
  readonly from: number;
  readonly through: number;
  /**
   * On the first: the conversation as the run behind the gap began with it. Its `seq` is `through`, or greater where
   * that run began with events that the store had not confirmed: these events follow, and the snapshot includes them
   * already.
   */
  readonly snapshot?: ConversationSnapshot;
  /** Beside the snapshot, in the store alone: the state that reopening the conversation needs. */
  readonly carried?: CarriedMemory;
}

export type EventBody =
  | CallEventBody
  | ConversationStarted
  | UserMessageEvent
  | TurnStarted
  | ModelCallEvent
  | AssistantMessageEvent
  | MessageRefused
  | CancelRequested
  | TurnLimitReached
  | InboxEvent
  | InboxPaused
  | SummaryEvent
  | StatePatchEvent
  | ChildChanged
  | TranscriptOffloaded
  | RolledOver
  | TurnEnded
  | ConversationClosed
  | RunEnded
  | EventsLost
  | LogRewritten;

export type CanonicalEvent = EventBody & Stamp;
export type EventType = EventBody['type'];

/** A turn without an end of its own is over at these; at `events_lost` only if the run behind the gap has not got it. */
export const MAY_END_TURNS: readonly CanonicalEvent['type'][] = [
  'run_ended',
  'conversation_closed',
  'conversation_started',
  'events_lost',
];

/** The turn that an event belongs to, if any. */
export function turnIdOf(event: EventBody): TurnId | undefined {
  if (event.type === 'suspension') return event.suspension.turnId;
  return 'turnId' in event ? event.turnId : undefined;
}

/** Settings, inputs and replies of a conversation. */

import type { InFlightTool } from '../calls/plan.js';
import type { Rule } from '../calls/rules.js';
import type { PendingCall } from '../calls/suspensions.js';
import type { ForkOrigin } from '../forks/forks.js';
import type { Actor, StampedActor } from '../values/actors.js';
import type { FilePart, ImagePart } from '../values/attachments.js';
import type { MessageId, StepId, TurnId } from '../values/ids.js';
import type { Json, JsonSchema } from '../values/json.js';
import type { Trouble } from '../values/trouble.js';
import type { OnBusy } from './agents.js';
import type { ParentRef } from './children.js';
import type { ShownContext } from './context.js';
import type { ConversationStatus } from './statuses.js';
import type { TurnEndReason, TurnError, Usage } from './turns.js';

/** Payload of `sendMessage`, as update and as signal. */
export interface SendMessageInput {
  /** UTF-8 text, not blank. */
  readonly text: string;
  /** Images and files that belong to it, by reference; at most `MAX_ATTACHMENTS`. */
  readonly attachments?: readonly (ImagePart | FilePart)[];
  /**
   * JSON Schema, an object at the top, of the turn's final answer; replaces the agent's. In a message that joins a
   * running turn it holds from that turn's next model call on. `false`: a text, even if the agent has a schema.
   */
  readonly output?: JsonSchema | false;
  /** Minted by the client before its first try. A signal without one is always a new message. */
  readonly requestId?: string;
  readonly actor?: Actor | StampedActor;
  /** Overrides the agent's setting for this message. */
  readonly onBusy?: OnBusy;
  /**
   * `onBusy` counts only where the agent would reject the message, because the rejection could not be returned to the
   * sender.
   */
  readonly ifRejected?: boolean;
  /** The agent that the caller expects; a conversation never changes its agent. */
  readonly agent?: string;
}

export interface SendMessageReply {
  readonly turnId: TurnId;
  readonly messageId: MessageId;
  /** Sequence number of the recorded message. */
  readonly seq: number;
  /** Number of turns that come first. */
  readonly ahead: number;
  /** Present when the message joined the running turn, whose id is `turnId`. */
  readonly steers?: true;
}

export interface CancelTurnInput {
  /** Cancels only this turn; absent = the running one. */
  readonly turnId?: TurnId;
  readonly requestId?: string;
  readonly reason?: string;
  readonly actor?: Actor | StampedActor;
}

/** Cancelling is idempotent: without a turn to cancel the reply says so, and nothing is thrown. */
export interface CancelTurnReply {
  readonly cancelled: boolean;
  readonly turnId?: TurnId;
  readonly seq?: number;
}

export interface CloseConversationInput {
  readonly requestId?: string;
  readonly actor?: Actor | StampedActor;
}

export interface CloseConversationReply {
  readonly closed: true;
  readonly seq: number;
}

/** The end, or the present state, of a turn. The same union for every reader and every read. */
export type TurnResult<Output = Json> =
  | {
      readonly status: 'completed';
      readonly turnId: TurnId;
      readonly text: string;
      /** The answer in the requested schema; absent where none was requested, and where the engine ended the turn. */
      readonly output?: Output;
      /** The limit, when the engine ended the turn. */
      readonly reason?: TurnEndReason;
      readonly usage: Usage;
      readonly seq: number;
    }
  | {
      readonly status: 'failed';
      readonly turnId: TurnId;
      readonly error: TurnError;
      readonly text: string;
      readonly usage: Usage;
      readonly seq: number;
    }
  | {
      readonly status: 'cancelled';
      readonly turnId: TurnId;
      readonly text: string;
      readonly usage: Usage;
      readonly seq: number;
    }
  /** Only a person, client or other backend can continue the turn now. */
  | {
      readonly status: 'waiting';
      readonly turnId: TurnId;
      readonly pending: readonly PendingCall[];
      /** Sequence number of the log that this state is as of. */
      readonly seq: number;
    }
  /** The caller's time ran out; the turn continues. */
  | { readonly status: 'timeout'; readonly turnId: TurnId };

/** State of a conversation for a new reader, as of `seq`. */
export interface ConversationSnapshot {
  readonly tenant: string;
  readonly conversationId: string;
  readonly agent: string;
  readonly status: ConversationStatus;
  readonly seq: number;
  /** Log generation, from 1. Set by the store; the workflow itself does not know it. */
  readonly generation?: number;
  /**
   * The beginning of its first message, one line of at most 80 characters. Set by the store, as the generation is.
   * Absent: no message has text.
   */
  readonly title?: string;
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly turn?: {
    readonly turnId: TurnId;
    readonly step: number;
    /** Id of that step, by which its calls are read or answered together. */
    readonly stepId: StepId;
    readonly startedAt: string;
  };
  /** Turns of accepted messages that have not begun. */
  readonly queued: readonly TurnId[];
  readonly pending: readonly PendingCall[];
  readonly inFlightTools: readonly InFlightTool[];
  readonly usage: Usage;
  /** The call of another conversation that this one runs. Absent: no other has started it. */
  readonly parent?: ParentRef;
  /** The place of another conversation from which this one was forked. Absent: it began by itself. */
  readonly origin?: ForkOrigin;
  /** Context of the last completed model call. Absent before the first. */
  readonly context?: ShownContext;
  /** Remembered decisions, oldest first; absent when there are none. */
  readonly rules?: readonly Rule[];
  /** Present when the workflow is healthy, but cannot continue without an operator; since when (ISO 8601). */
  readonly attention?: { readonly reason: AttentionReason; readonly since: string };
  /**
   * Present when tasks of the workflow fail or time out again and again: `status` is `failing` or `slow`, and `was` is
   * the status by the log.
   */
  readonly trouble?: Trouble & { readonly was: ConversationStatus };
}

/** `agent_not_served`: workers run, and none of them serves the conversation's agent. */
export type AttentionReason = 'agent_not_served';

export const ATTENTION_REASONS = ['agent_not_served'] as const satisfies readonly AttentionReason[];

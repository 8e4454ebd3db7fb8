/** Settings, inputs and replies of a conversation: what starts one, what it is told, what it answers. */

import type { InFlightTool } from '../calls/plan.js';
import type { Rule } from '../calls/rules.js';
import type { PendingCall } from '../calls/suspensions.js';
import type { Actor, StampedActor } from '../values/actors.js';
import type { FilePart, ImagePart } from '../values/attachments.js';
import type { MessageId, StepId, TurnId } from '../values/ids.js';
import type { Json, JsonSchema } from '../values/json.js';
import type { Trouble } from '../values/trouble.js';
import type { OnBusy } from './agents.js';
import type { ModelContext } from './context.js';
import type { ConversationStatus } from './statuses.js';
import type { TurnEndReason, TurnError, Usage } from './turns.js';

/** Payload of `sendMessage`, as update and as signal. */
export interface SendMessageInput {
  /** UTF-8 text, not blank. */
  readonly text: string;
  /** Images and files that belong to it, by reference; at most `MAX_ATTACHMENTS`. */
  readonly attachments?: readonly (ImagePart | FilePart)[];
  /**
   * JSON Schema, an object at the top, of what the turn's final answer has to be; takes the place of the agent's. With a message
   * that joins a running turn it holds from that turn's next model call on. `false`: a text, whatever the agent says.
   */
  readonly output?: JsonSchema | false;
  /** Minted by the client before its first try. A signal without one is always a new message. */
  readonly requestId?: string;
  readonly actor?: Actor | StampedActor;
  /** Overrides the agent's setting for this message. */
  readonly onBusy?: OnBusy;
  /** `onBusy` counts only where the agent would reject the message: nobody could tell its sender. */
  readonly ifRejected?: boolean;
  /** The agent that the caller expects; a conversation never changes its agent. */
  readonly agent?: string;
}

export interface SendMessageReply {
  readonly turnId: TurnId;
  readonly messageId: MessageId;
  /** Sequence number of the recorded message. */
  readonly seq: number;
  /** Turns that come first. */
  readonly ahead: number;
  /** The message joined the running turn, whose id is `turnId`. */
  readonly steers?: true;
}

export interface CancelTurnInput {
  /** Cancels only this turn; absent = whichever runs. */
  readonly turnId?: TurnId;
  readonly requestId?: string;
  readonly reason?: string;
  readonly actor?: Actor | StampedActor;
}

/** Cancelling is idempotent: nothing to cancel is an answer, not an error. */
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

/** The end, or the present state, of a turn. Always a union, whoever asks and however often. */
export type TurnResult =
  | {
      readonly status: 'completed';
      readonly turnId: TurnId;
      readonly text: string;
      /** The answer in the form that was asked for; absent where none was, and where the engine ended the turn. */
      readonly output?: Json;
      /** The limit, when the engine ended it. */
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
  /** Only people, clients or other backends can move it on now. */
  | {
      readonly status: 'waiting';
      readonly turnId: TurnId;
      readonly pending: readonly PendingCall[];
      /** As of this point of the log. */
      readonly seq: number;
    }
  /** The caller's time ran out; the turn goes on. */
  | { readonly status: 'timeout'; readonly turnId: TurnId };

/** State of a conversation for a newcomer, as of `seq`. */
export interface ConversationSnapshot {
  readonly tenant: string;
  readonly conversationId: string;
  readonly agent: string;
  readonly status: ConversationStatus;
  readonly seq: number;
  /** Log generation, from 1. Set by the store; the workflow itself does not know it. */
  readonly generation?: number;
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly turn?: {
    readonly turnId: TurnId;
    readonly step: number;
    /** Of that step; names it where its calls are read or answered together. */
    readonly stepId: StepId;
    readonly startedAt: string;
  };
  /** Messages accepted but not yet begun. */
  readonly queued: readonly TurnId[];
  readonly pending: readonly PendingCall[];
  readonly inFlightTools: readonly InFlightTool[];
  readonly usage: Usage;
  /** What the last completed model call was given. Absent before the first. */
  readonly context?: Pick<
    ModelContext,
    'tokens' | 'budget' | 'messages' | 'droppedTurns' | 'evictedResults' | 'summary'
  >;
  /** Remembered decisions, oldest first; absent when there are none. */
  readonly rules?: readonly Rule[];
  /** Its workflow is well, and cannot go on without somebody's doing; since when (ISO 8601). Absent while nothing is missing. */
  readonly attention?: { readonly reason: AttentionReason; readonly since: string };
  /** Its workflow is not well: its tasks come to no end, so `status` says `failing` or `slow`, and `was` what the log says. Absent while all is well. */
  readonly trouble?: Trouble & { readonly was: ConversationStatus };
}

/** `agent_not_served`: workers are there, and none of them serves its agent. */
export type AttentionReason = 'agent_not_served';

export const ATTENTION_REASONS = ['agent_not_served'] as const satisfies readonly AttentionReason[];

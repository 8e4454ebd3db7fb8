/** The view of a conversation: plain values that never change; a changed part is a new value. */
import type { Executor } from '../../protocol/calls/executors.js';
import type { ResolutionType, Verdict } from '../../protocol/calls/resolutions.js';
import type { Provenance, ToolResultEnvelope } from '../../protocol/calls/results.js';
import type { Rule } from '../../protocol/calls/rules.js';
import type { PendingCall } from '../../protocol/calls/suspensions.js';
import type { ChildStep } from '../../protocol/conversation/children.js';
import type { UserPart } from '../../protocol/conversation/messages.js';
import type { ConversationStatus } from '../../protocol/conversation/statuses.js';
import type { TurnEndReason, TurnError, Usage } from '../../protocol/conversation/turns.js';
import type { StreamedAnswer } from '../../protocol/log/live-view.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import type { Json } from '../../protocol/values/json.js';
import type { Form } from '../forms/form.js';
import type { Connection } from '../net/following.js';
import type { Problem } from '../net/problem.js';

export interface ConversationView {
  readonly conversationId: string;
  readonly connection: Connection;
  /** `unknown` until the conversation was read, and while it has not begun. */
  readonly status: ConversationStatus | 'unknown';
  /** The agent that answers. */
  readonly agent?: string;
  readonly messages: readonly MessageView[];
  /** Calls that wait for an answer from outside, those of older turns and of messages that are not loaded included. */
  readonly pending: readonly PendingView[];
  /** Conversations of sub-agents at work for calls of this one; absent when there are none. */
  readonly subAgents?: readonly string[];
  /** Remembered decisions, oldest first; absent when there are none. */
  readonly rules?: readonly Rule[];
  /** The turn that runs. */
  readonly turn?: { readonly turnId: string; readonly step: number; readonly startedAt: string };
  /** The last turn that has ended, as far as it is loaded. */
  readonly lastTurn?: EndedTurn;
  /** Whether there are older messages, which `loadOlder` reads. */
  readonly hasOlder: boolean;
  readonly usage: Usage;
}

export interface EndedTurn {
  readonly turnId: string;
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly reason?: TurnEndReason;
  readonly error?: TurnError;
  /** The answer in the requested schema. */
  readonly output?: Json;
}

export type MessageView = UserMessageView | AssistantMessageView | EventView;

export interface UserMessageView {
  readonly role: 'user';
  /** Stays the same from the moment at which the page sends the message. */
  readonly key: string;
  readonly requestId: string;
  readonly text: string;
  readonly parts: readonly UserPart[];
  /**
   * `sending`, `accepted` (the API has it, the log not yet), `failed`: only this page shows the message. `queued`: its
   * turn has not begun. `sent`: it has.
   */
  readonly state: 'sending' | 'accepted' | 'failed' | 'queued' | 'sent';
  /** Why it failed. */
  readonly problem?: Problem;
  /**
   * Present when the message came while a turn ran, once the log has it. `steer`: it joined that turn; `interrupt`: it
   * stopped that turn; `queue`: its sender let it wait.
   */
  readonly onBusy?: 'interrupt' | 'steer' | 'queue';
  /** Present once the log has it. */
  readonly turnId?: string;
  readonly from?: StampedActor;
  readonly at?: string;
}

export interface AssistantMessageView {
  readonly role: 'assistant';
  readonly key: string;
  readonly turnId: string;
  readonly step: number;
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly CallView[];
  /** The model still writes: the text grows, and an attempt that fails takes it back. */
  readonly isStreaming: boolean;
  /** False while streamed pieces are missing; the finished message has all of them. */
  readonly isWhole: boolean;
  /** The attempt that streamed the text has failed. */
  readonly failure?: StreamedAnswer['failure'];
  /** The turn was stopped while the model wrote. */
  readonly partial?: true;
  /** The engine wrote it, not the model. */
  readonly synthetic?: true;
  readonly at?: string;
}

/** An event of another system that the model reads. */
export interface EventView {
  readonly role: 'event';
  readonly key: string;
  readonly kind: string;
  readonly payload?: Json;
  readonly from: StampedActor;
  readonly at: string;
}

/**
 * `writing`: the model writes its arguments. `waiting_for_you` and `waiting_for_others`: by the audience of the call,
 * where the client knows who it acts for (`me`); the API judges each answer itself.
 */
export type CallState =
  | 'writing'
  | 'queued'
  | 'running'
  | 'waiting_for_you'
  | 'waiting_for_others'
  | 'done'
  | 'failed'
  | 'denied'
  | 'expired'
  | 'cancelled';

export interface CallView {
  readonly key: string;
  /** Absent while the model writes the call. */
  readonly toolCallId?: string;
  readonly name: string;
  readonly executor?: Executor;
  readonly state: CallState;
  /** The validated input; absent while the model writes, and where it is not valid. */
  readonly input?: Json;
  /** The arguments as the model writes them: JSON text, possibly incomplete. */
  readonly argumentsJson?: string;
  /** The newest report of the running tool; live only, and may be lost. */
  readonly progress?: Json;
  /** No turn waits for the call. */
  readonly detached?: true;
  readonly pending?: PendingView;
  readonly result?: ToolResultEnvelope;
  /** `untrusted`: a person, a page or another system may have given anything as the result. Present with `result`. */
  readonly provenance?: Provenance;
  /** The last answer from outside that was accepted: an approval, a denial, an answer, a result. */
  readonly decided?: Decided;
}

export interface Decided {
  readonly type: ResolutionType;
  /** Of a remembered rule, its author. */
  readonly by: StampedActor;
  /** ISO 8601. */
  readonly at: string;
}

/** A waiting call. */
export interface PendingView extends PendingCall {
  readonly state: Extract<CallState, 'running' | 'waiting_for_you' | 'waiting_for_others'>;
  /** The fields of the answer; absent for approvals. */
  readonly form?: Form;
  /** Answers that were `queued`, and refused since: oldest first, as far as the log has them. */
  readonly refused?: readonly RefusedAnswer[];
}

export interface RefusedAnswer {
  readonly requestId: string;
  readonly verdict: Verdict;
}

/** A waiting call of a sub-agent: it is answered in its own conversation, `client.conversation(call.conversationId)`. */
export interface NestedPendingView extends PendingView {
  readonly conversationId: string;
  /** The agent that made it. */
  readonly agent: string;
  /** The calls from the conversation that was asked down to the one for which this call was made. */
  readonly path: readonly [ChildStep, ...ChildStep[]];
}

/** Who the page acts for, as far as the view needs it. The API does not read it. */
export interface Me {
  readonly id: string;
  readonly roles?: readonly string[];
}

/**
 * Live events, for watchers: may be lost, never recorded. Each names its message and attempt, and is superseded by the
 * canonical event of that item. Not assignable to canonical events, since they have no `seq`.
 */
import type { MessageId, ToolCallId, TurnId } from '../values/ids.js';
import type { Json } from '../values/json.js';

interface OfStep {
  readonly turnId: TurnId;
  readonly step: number;
  /** Attempt of the activity, from 1. A higher attempt replaces the text of lower ones. */
  readonly attempt: number;
}

export interface TextDelta extends OfStep {
  readonly type: 'text_delta';
  readonly messageId: MessageId;
  /** Characters of this message's text before this delta, by which a reader sees how many it missed. */
  readonly offset: number;
  readonly text: string;
}

export interface ReasoningDelta extends OfStep {
  readonly type: 'reasoning_delta';
  readonly messageId: MessageId;
  readonly offset: number;
  readonly text: string;
}

export interface ToolArgumentsDelta extends OfStep {
  readonly type: 'tool_arguments_delta';
  readonly messageId: MessageId;
  /** Position of the call in the model's answer. */
  readonly index: number;
  readonly name?: string;
  /** The provider's id. The call is recorded under it, unless it is taken. */
  readonly toolCallId?: ToolCallId;
  readonly offset: number;
  readonly text: string;
}

export interface ToolCallStarted extends OfStep {
  readonly type: 'tool_call_started';
  readonly toolCallId: ToolCallId;
  readonly name: string;
}

/** An opaque report of progress, from a running tool or from the holder of a claimed call; never completes the call. */
export interface ToolProgress extends Pick<OfStep, 'turnId'>, Partial<Omit<OfStep, 'turnId'>> {
  readonly type: 'tool_progress';
  readonly toolCallId: ToolCallId;
  readonly name: string;
  readonly payload: Json;
}

/** A model call attempt began: text of earlier attempts is void. */
export interface ModelCallStarted extends OfStep {
  readonly type: 'model_call_started';
  readonly messageId: MessageId;
  readonly model: string;
}

/** The attempt failed. Its streamed text is void once the next one begins. */
export interface ModelCallFailed extends OfStep {
  readonly type: 'model_call_failed';
  readonly messageId: MessageId;
  /** A code of the failure table. */
  readonly code: string;
  readonly message: string;
  /** HTTP status of the provider's answer. Absent: there was none, or the attempt failed within the answer. */
  readonly httpStatus?: number;
  /** Milliseconds of the pause before the next attempt. Absent: there is none, the turn fails. */
  readonly nextInMs?: number;
}

/**
 * The provider has begun to run a tool of its own inside the model call; superseded by the step's `assistant_message`.
 */
export interface ProviderCallStarted extends OfStep {
  readonly type: 'provider_call_started';
  readonly messageId: MessageId;
  /** The provider's id. The call is recorded under it, unless it is taken. */
  readonly providerCallId: string;
  readonly name: string;
}

/** The provider's tool has advanced. `status` is the provider's word: `searching`, `interpreting`, `completed`. */
export interface ProviderCallProgress extends OfStep {
  readonly type: 'provider_call_progress';
  readonly messageId: MessageId;
  readonly providerCallId: string;
  readonly name: string;
  readonly status: string;
  /** A piece of the tool's input (a program's code, a call's arguments), and the number of characters before it. */
  readonly offset?: number;
  readonly text?: string;
}

export type LiveEvent =
  | TextDelta
  | ReasoningDelta
  | ToolArgumentsDelta
  | ProviderCallStarted
  | ProviderCallProgress
  | ToolCallStarted
  | ToolProgress
  | ModelCallStarted
  | ModelCallFailed;

/** Id of the message that a step's model call produces. Known before the call, so that deltas can name it. */
export function assistantMessageId(turnId: TurnId, step: number): MessageId {
  return `${turnId}.${step}`;
}

/**
 * Live events: for watchers, may be lost, never recorded. Tied to a message and attempt, and superseded by the canonical
 * event of that item. Not assignable to canonical events: they have no `seq`.
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
  /** Characters of this message's text before this delta: a reader can tell what it missed. */
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
  readonly offset: number;
  readonly text: string;
}

export interface ToolCallStarted extends OfStep {
  readonly type: 'tool_call_started';
  readonly toolCallId: ToolCallId;
  readonly name: string;
}

/** An opaque report of a tool that runs, or of who holds its call; never completes the call. */
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

/** The attempt came to nothing. What it streamed is void once the next one begins. */
export interface ModelCallFailed extends OfStep {
  readonly type: 'model_call_failed';
  readonly messageId: MessageId;
  /** Of the failure table. */
  readonly code: string;
  readonly message: string;
  /** What the provider answered. Absent: it did not, or it failed within its answer. */
  readonly httpStatus?: number;
  /** The pause before the next attempt. Absent: there is none, the turn fails. */
  readonly nextInMs?: number;
}

/** The provider has begun to run a tool of its own inside the model call; superseded by the step's `assistant_message`. */
export interface ProviderCallStarted extends OfStep {
  readonly type: 'provider_call_started';
  readonly messageId: MessageId;
  /** The provider's id. The call is recorded under it, unless it is taken. */
  readonly providerCallId: string;
  readonly name: string;
}

/** It goes on with it. `status` is the provider's word: `searching`, `interpreting`, `completed`. */
export interface ProviderCallProgress extends OfStep {
  readonly type: 'provider_call_progress';
  readonly messageId: MessageId;
  readonly providerCallId: string;
  readonly name: string;
  readonly status: string;
  /** A piece of what it runs (a program's code, a call's arguments), and how many characters came before. */
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

/** The id of the message that a step's model call produces; known before the call, so that deltas can name it. */
export function assistantMessageId(turnId: TurnId, step: number): MessageId {
  return `${turnId}.${step}`;
}

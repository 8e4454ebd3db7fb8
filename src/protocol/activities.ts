/** What the workflow may schedule. Workflow and worker meet here and nowhere else; names are in history for ever. */
import type { StampedActor } from './actors.js';
import type { Usage } from './events.js';
import type { ConversationKey, TurnId } from './ids.js';
import type { Json } from './json.js';
import type { AssistantPart, Message } from './messages.js';
import type { FieldProblem } from './resolutions.js';
import type { PlannedCall, ToolResultEnvelope } from './tools.js';

interface OfStep extends ConversationKey {
  readonly agent: string;
  readonly turnId: TurnId;
  readonly step: number;
}

/**
 * The transcript as one model call gets it: `append` after `base` messages of this epoch that the worker may know.
 * `base` is 0 while transcripts are sent in full.
 */
export interface TranscriptDelta {
  readonly epoch: number;
  readonly base: number;
  readonly prefixHash?: string;
  readonly append: readonly Message[];
}

export interface CallModelInput extends OfStep {
  readonly transcript: TranscriptDelta;
  readonly requester: StampedActor;
}

/** One call as the plan has it; `toolCallId` is the provider's until the workflow has checked that it is free. */
export interface CallModelResult {
  readonly parts: readonly Exclude<AssistantPart, { type: 'tool_call' }>[];
  readonly calls: readonly {
    readonly plan: PlannedCall;
    readonly argumentsJson: string;
  }[];
  readonly model: string;
  readonly finishReason: string;
  readonly usage: Usage;
  readonly attempt: number;
  /** The call was aborted by a cancel; `parts` is what had come. */
  readonly aborted?: true;
}

export interface RunToolInput extends OfStep {
  readonly call: Pick<PlannedCall, 'toolCallId' | 'name' | 'effects' | 'timeouts'> & {
    readonly input: Json;
    /** How often the call may be run; absent from older workflows, which then run it no more than once. */
    readonly maxAttempts?: number;
  };
  readonly idempotencyKey: string;
  readonly requester: StampedActor;
  /** Who approved; absent for calls that needed no approval. */
  readonly approver?: StampedActor;
}

export interface RunToolResult {
  readonly envelope: ToolResultEnvelope;
  readonly executionMs: number;
}

/** Checks of an accepted answer that only a worker can run. */
export interface CheckAnswerInput extends ConversationKey {
  readonly agent: string;
  readonly toolCallId: string;
  readonly name: string;
  readonly value: Json;
}

export type CheckAnswerResult =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

export interface FlushLogInput extends ConversationKey {
  readonly throughSeq: number;
}

export interface FlushLogResult {
  /** The store has everything up to here. */
  readonly storedSeq: number;
}

export interface ConversationActivities {
  callModel(input: CallModelInput): Promise<CallModelResult>;
  runTool(input: RunToolInput): Promise<RunToolResult>;
  checkAnswer(input: CheckAnswerInput): Promise<CheckAnswerResult>;
  flushLog(input: FlushLogInput): Promise<FlushLogResult>;
}

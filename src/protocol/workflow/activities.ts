/**
 * The activities that the workflow may schedule. The only contract between workflow and worker; the names are in
 * history for ever.
 */

import type {
  AnswerOffer,
  CheckDefinitionInput,
  CheckDefinitionResult,
  ToolChanged,
} from '../calls/definitions.js';
import type {
  ApprovalPlan,
  ChildBudgets,
  MadeTool,
  McpToolRef,
  PlannedCall,
} from '../calls/plan.js';
import type { StatePatch, StatesRef } from '../calls/plugin-state.js';
import type { AskedBefore, Question } from '../calls/questions.js';
import type {
  EarlierResult,
  ToolResult,
  ToolResultEnvelope,
  ToolResultError,
} from '../calls/results.js';
import type { AgentSettings } from '../conversation/agents.js';
import type { FailedAttempt, ModelSpend, OpenRequest } from '../conversation/attempts.js';
import type { ChildEnd, ParentRef } from '../conversation/children.js';
import type { ContextMark, ModelContext } from '../conversation/context.js';
import { type AssistantPart, earlierResult } from '../conversation/messages.js';
import type {
  OffloadTranscriptInput,
  OffloadTranscriptResult,
} from '../conversation/offloaded-messages.js';
import type { SpentCalls, TurnBudgets, Usage } from '../conversation/turns.js';
import type { ForkOrigin } from '../forks/forks.js';
import type { SummaryEvent } from '../log/events.js';
import type { DeliverTriggerInput, TriggerDelivery } from '../triggers/triggers.js';
import type { StampedActor } from '../values/actors.js';
import type { FieldProblem } from '../values/field-problem.js';
import type { ConversationKey, ToolCallId, TurnId } from '../values/ids.js';
import type { Json, JsonSchema } from '../values/json.js';
import type { CarriedState, ReopenInput } from './messaging.js';
import type { TranscriptDelta } from './transcript-delta.js';
import type { WhatIfStepInput, WhatIfStepResult } from './what-if.js';

interface OfStep extends ConversationKey {
  readonly agent: string;
  readonly turnId: TurnId;
  readonly step: number;
}

export interface CallModelInput extends OfStep {
  readonly transcript: TranscriptDelta;
  readonly requester: StampedActor;
  /** Context of the last completed model call. Absent: there was none. */
  readonly context?: ContextMark;
  /** Bytes of transcript that the conversation can hold. Absent: `MAX_CARRIED_TRANSCRIPT_BYTES`. */
  readonly heldBytes?: number;
  /**
   * Schema of the final answer, as the turn's message sets it; `false`: a text. Absent: as the agent's definition sets
   * it.
   */
  readonly output?: JsonSchema | false;
  /**
   * Usage of an earlier activity for this same call, which lacked the messages before `append`. Absent: there was none.
   */
  readonly spent?: ModelSpend;
  /** The request that the earlier activity left open at the provider. */
  readonly open?: OpenRequest;
  /** The failed attempts of the earlier activities, and the number of all their attempts. */
  readonly failed?: readonly FailedAttempt[];
  readonly attempts?: number;
  /** States of plugins. Absent: no plugin has any yet. */
  readonly states?: StatesRef;
  /** Absent: none wait. */
  readonly inboxPreview?: InboxPreview;
  /** Rules by which calls of the answer may run inside this activity. Absent: none may. */
  readonly reads?: ReadBounds;
}

/** Events of the inbox that wait for the next turn. */
export interface InboxPreview {
  readonly waiting: number;
  /** Beginnings of the first of them. */
  readonly beginnings: readonly string[];
}

/**
 * The settings of the conversation that decide about tool calls, and the spending of its turn: a call beyond a bound
 * must not run anywhere. A field that is absent is not set.
 */
export interface ReadBounds
  extends Pick<AgentSettings, 'coreRevision' | 'repeatLimit' | 'onToolError' | 'onUnknownTool'>,
    Pick<TurnBudgets, 'calls' | 'callsOf'> {
  /** Calls of the turn until now: by tool, and by tool and arguments. */
  readonly spent?: SpentCalls;
  /** The run has forgotten ids of calls that ended long ago, so short ids must not be used again. */
  readonly forgetsCalls?: true;
}

/** A call of a sequential step, planned when its turn has come. */
export interface PlanCallInput extends OfStep {
  readonly made?: MadeTool;
  readonly call: {
    readonly toolCallId: ToolCallId;
    readonly name: string;
    readonly argumentsJson: string;
  };
  readonly requester: StampedActor;
  /** Results of the turn until now. Absent when there are none. */
  readonly results?: readonly EarlierResult[];
  /** States of plugins. Absent: no plugin has any yet. */
  readonly states?: StatesRef;
}

/**
 * The answer of a model call, with plans of its calls. A plan's `toolCallId` is the provider's until the workflow has
 * checked that it is free.
 */
export interface CallModelResult {
  readonly parts: readonly Exclude<AssistantPart, { type: 'tool_call' }>[];
  readonly calls: readonly {
    readonly plan: PlannedCall;
    readonly argumentsJson: string;
    /** Present when the call has run and ended already. Absent: the workflow runs it. */
    readonly read?: InlineRead;
  }[];
  /** Calls that the provider has run by itself; absent when there are none. */
  readonly providerCalls?: readonly ProviderCallRecord[];
  readonly model: string;
  readonly finishReason: string;
  /** Usage of this attempt. */
  readonly usage: Usage;
  /** Usage of the failed attempts before. Absent: nothing is known of any. */
  readonly earlierUsage?: Usage;
  /** From 1, over all activities of the call. */
  readonly attempt: number;
  /** The failed attempts before it, oldest first. Absent: there were none, or nothing is known of any. */
  readonly failedAttempts?: readonly FailedAttempt[];
  /** The part of the conversation that the model was given. Absent where the call was aborted. */
  readonly context?: ModelContext;
  /** Changes of plugin states that `prepare` made before this call; absent when there are none. */
  readonly patches?: readonly StatePatch[];
  /** A final answer in the requested schema. */
  readonly output?: Json;
  /** Why a final answer does not match its schema, also after a retry; in words for the requester. The turn fails. */
  readonly outputProblem?: string;
  /** The call was aborted by a cancellation; `parts` has what had streamed. */
  readonly aborted?: true;
}

/** A call without effects that ran inside the model activity which asked for it. */
export interface InlineRead {
  /** The id under which it ran: the workflow takes the result for no other call. */
  readonly toolCallId: ToolCallId;
  readonly ended: ToolEnded;
}

/** A call that the provider has run, as the log shows it. */
export interface ProviderCallRecord {
  readonly plan: PlannedCall;
  readonly result: ToolResult;
}

/** The same results as policies see them; also for the calls that the model asks for in the same answer. */
export function providerResultsOf(
  records: readonly ProviderCallRecord[] = [],
): readonly EarlierResult[] {
  return records.map(({ plan: { toolCallId, name }, result: { envelope, provenance } }) =>
    earlierResult({ toolCallId, name, envelope, provenance }),
  );
}

export interface RunToolInput extends OfStep {
  readonly call: Pick<PlannedCall, 'toolCallId' | 'name' | 'effects' | 'timeouts'> & {
    readonly input: Json;
    /** The most attempts that the call may have. */
    readonly maxAttempts: number;
    readonly mcp?: McpToolRef;
    /** See `PlannedCall`: under another definition the input may not run as it is. */
    readonly raw?: Json;
    readonly definition?: string;
  };
  readonly made?: MadeTool;
  readonly idempotencyKey: string;
  readonly requester: StampedActor;
  /** The approver; absent for calls that needed no approval. */
  readonly approver?: StampedActor;
  /** Number of this entry into the tool's code, from 1; absent in the first. Attempts of one activity are one run. */
  readonly run?: number;
  /** Present when this run continues after the tool's question was answered. */
  readonly asked?: AskedBefore;
  /** States of plugins. Absent: no plugin has any yet. */
  readonly states?: StatesRef;
  /** ISO 8601: the end of the call's total time, pauses between attempts included. Absent where it is not bounded. */
  readonly endsAt?: string;
}

/** Input of the preflight, which makes the request of a client call before it is offered. */
export type PreflightToolInput = RunToolInput;

export type PreflightToolResult =
  | { readonly ok: true; readonly payload: Json; readonly argsDigest: string }
  | { readonly ok: false; readonly error: ToolResultError }
  /** As for a run. */
  | (ToolChanged & { readonly ok: false });

/** Input of the reconciliation of a lost run: the tool reports what that run did. */
export type ReconcileToolInput = RunToolInput;

export type ReconcileToolResult =
  | { readonly outcome: 'happened'; readonly envelope: ToolResultEnvelope }
  | { readonly outcome: 'not_happened' }
  | { readonly outcome: 'unknown'; readonly reason: string };

/**
 * The end of one run of a tool. Plain data, so that workers in any language can return each shape:
 *
 * | shape | meaning |
 * |---|---|
 * | `{envelope, executionMs}` | the result of the call |
 * | `{ask: {form, state?, reason?, ...}, executionMs}` | a question; the tool runs again with `asked` in its input |
 * | `{refused: [{path, message}], executionMs}` | the answer in `asked` is not accepted: the question is open again |
 * | `{changed: {definition}}` | nothing has run: the worker has another definition than the planned one |
 */
export type RunToolResult = ToolEnded | ToolAsks | AnswerRefused | ToolChanged;

export interface ToolEnded {
  readonly envelope: ToolResultEnvelope;
  readonly executionMs: number;
  /** Changes of plugin states; absent when there are none. At most `MAX_PATCHES`. */
  readonly patches?: readonly StatePatch[];
}

export interface ToolAsks {
  readonly ask: Question;
  readonly executionMs: number;
}

/** `path` is a JSON Pointer into the answer. */
export interface AnswerRefused {
  readonly refused: readonly FieldProblem[];
  /**
   * The form that refused the answer. Where it differs from the form of the question, the question is asked again with
   * it.
   */
  readonly form?: JsonSchema;
  /** The form has checks that JSON Schema cannot express. */
  readonly byCode?: true;
  readonly executionMs: number;
}

/** Checks of an accepted answer that only a worker can run. */
export interface CheckAnswerInput extends ConversationKey {
  readonly agent: string;
  readonly toolCallId: string;
  readonly name: string;
  readonly made?: MadeTool;
  readonly value: Json;
  /** Form of a question of the tool's code; judges the answer in place of the tool's output schema. */
  readonly form?: JsonSchema;
  /**
   * Digest of the definition that the call was offered with; a worker with another one that refuses the answer returns
   * a new offer.
   */
  readonly answerDefinition?: string;
}

export type CheckAnswerResult =
  | { readonly ok: true; readonly value: Json }
  | {
      readonly ok: false;
      readonly problems: readonly FieldProblem[];
      /** The rules that refused the answer, where they are not those that the call was offered with. */
      readonly offer?: AnswerOffer;
    }
  /** No definition can judge the answer any more: the call ends. */
  | { readonly ok: false; readonly ended: ToolResultError };

/** An approver's edit of a call's input, to be checked as the model's own arguments were. */
export interface CheckEditInput extends OfStep {
  readonly toolCallId: string;
  readonly name: string;
  readonly mcp?: McpToolRef;
  readonly made?: MadeTool;
  readonly input: Json;
  readonly requester: StampedActor;
  /** Results of the turn until now. Absent when there are none. */
  readonly results?: readonly EarlierResult[];
  /** States of plugins. Absent: no plugin has any yet. */
  readonly states?: StatesRef;
}

export type CheckEditResult =
  | {
      readonly ok: true;
      /** After parsing, defaults and transforms: exactly the input that may run. */
      readonly input: Json;
      readonly argsDigest: string;
      /** Digest of the definition that has checked the edit. Absent where the worker knows no digests. */
      readonly definition?: string;
      /** The decision of the policies on the edited call; its audience must admit the editor. */
      readonly approval: ApprovalPlan;
    }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] }
  /** The tool is gone: the call ends. */
  | { readonly ok: false; readonly ended: ToolResultError };

/** Starts the conversation of a sub-agent with its first message. Safe to repeat. */
export interface StartChildInput extends ConversationKey {
  readonly agent: string;
  readonly toolCallId: ToolCallId;
  readonly name: string;
  readonly made?: MadeTool;
  readonly input: Json;
  /** Absent where it is not known any more, for a call that is unwanted. */
  readonly requester?: StampedActor;
  /** The call has ended in the meantime, before any start: nothing is to be started. */
  readonly unwanted?: true;
  readonly childId: string;
  readonly childAgent: string;
  /** The most that it may spend; its agent's own bounds hold as well. */
  readonly granted: ChildBudgets;
  readonly parent: ParentRef;
}

export type StartChildResult =
  | { readonly started: true }
  /** The conversation cannot be started; none exists. */
  | { readonly started: false; readonly error: ToolResultError };

/** Has the conversation of a sub-agent closed, which then reports its end. Safe to repeat. */
export interface StopChildInput extends ConversationKey {
  readonly childId: string;
}

export interface StopChildResult {
  /** False where it does not run, so that no report is to come. */
  readonly running: boolean;
}

/** The end of this conversation, for the one that has started it; flushes the log first. Safe to repeat. */
export interface ReportToParentInput extends ConversationKey {
  /** The last seq of the log. */
  readonly throughSeq: number;
  readonly parent: ParentRef;
  readonly end: ChildEnd;
}

export interface ReportToParentResult {
  /** False where the parent does not run any more, so that the report has no use. */
  readonly delivered: boolean;
}

export interface FlushLogInput extends ConversationKey {
  readonly throughSeq: number;
}

export interface FlushLogResult {
  /** The newest seq in the store; it has all events up to here. */
  readonly storedSeq: number;
}

/** Name of the activity with which a reopened conversation, or a fork, begins. */
export const RESTORE_STATE = 'restoreState' satisfies keyof ConversationActivities;

export interface RestoreStateInput extends ConversationKey, ReopenInput {
  /** Chain of the run that continues the conversation. Its own events, which a reset leaves in the log, do not count. */
  readonly chain: string;
  /** Present when the run begins a fork: its state is made from the log of the origin, which is copied first. */
  readonly fork?: ForkInput;
}

export interface ForkInput {
  readonly origin: ForkOrigin;
  readonly settings: AgentSettings;
  /** The run that begins the fork. */
  readonly runId: string;
}

/** Whole turns to be summarised: a prefix of the transcript, an earlier summary included. */
export interface SummarizeInput extends ConversationKey {
  readonly agent: string;
  readonly ordinal: number;
  readonly transcript: TranscriptDelta;
}

/** `throughMessageId`: the last message that the summary covers, which may be fewer messages than were given. */
export type SummarizeResult = Omit<SummaryEvent, 'type' | 'ordinal' | 'throughTurnId' | 'messages'>;

export interface ConversationActivities {
  callModel(input: CallModelInput): Promise<CallModelResult>;
  planCall(input: PlanCallInput): Promise<PlannedCall>;
  runTool(input: RunToolInput): Promise<RunToolResult>;
  preflightTool(input: PreflightToolInput): Promise<PreflightToolResult>;
  reconcileTool(input: ReconcileToolInput): Promise<ReconcileToolResult>;
  checkAnswer(input: CheckAnswerInput): Promise<CheckAnswerResult>;
  checkEdit(input: CheckEditInput): Promise<CheckEditResult>;
  checkDefinition(input: CheckDefinitionInput): Promise<CheckDefinitionResult>;
  summarize(input: SummarizeInput): Promise<SummarizeResult>;
  flushLog(input: FlushLogInput): Promise<FlushLogResult>;
  offloadTranscript(input: OffloadTranscriptInput): Promise<OffloadTranscriptResult>;
  restoreState(input: RestoreStateInput): Promise<CarriedState>;
  startChild(input: StartChildInput): Promise<StartChildResult>;
  stopChild(input: StopChildInput): Promise<StopChildResult>;
  reportToParent(input: ReportToParentInput): Promise<ReportToParentResult>;
  deliverTrigger(input: DeliverTriggerInput): Promise<TriggerDelivery>;
  whatIf(input: WhatIfStepInput): Promise<WhatIfStepResult>;
}

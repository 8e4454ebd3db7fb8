/** What the workflow may schedule. Workflow and worker meet here and nowhere else; names are in history for ever. */

import type {
  AnswerOffer,
  CheckDefinitionInput,
  CheckDefinitionResult,
  ToolChanged,
} from '../calls/definitions.js';
import type { ApprovalPlan, McpToolRef, PlannedCall } from '../calls/plan.js';
import type { AskedBefore, Question } from '../calls/questions.js';
import type {
  EarlierResult,
  ToolResult,
  ToolResultEnvelope,
  ToolResultError,
} from '../calls/results.js';
import type { AgentSettings } from '../conversation/agents.js';
import type { FailedAttempt, ModelSpend, OpenRequest } from '../conversation/attempts.js';
import type { ContextMark, ModelContext } from '../conversation/context.js';
import { type AssistantPart, earlierResult, type Message } from '../conversation/messages.js';
import type {
  SpillTranscriptInput,
  SpillTranscriptResult,
  StoredPart,
  TranscriptPiece,
} from '../conversation/offloaded-messages.js';
import type { SpentCalls, TurnBudgets, Usage } from '../conversation/turns.js';
import type { SummaryEvent } from '../log/events.js';
import type { StampedActor } from '../values/actors.js';
import type { FieldProblem } from '../values/field-problem.js';
import type { ConversationKey, ToolCallId, TurnId } from '../values/ids.js';
import { fingerprint, type Json, type JsonSchema } from '../values/json.js';

interface OfStep extends ConversationKey {
  readonly agent: string;
  readonly turnId: TurnId;
  readonly step: number;
}

/**
 * The transcript as one model call gets it: `append` after `base` messages that an earlier model call of the same run and epoch
 * was given. So the history grows by what is new. A worker that does not have them asks the run (`transcriptSlice`); one that
 * cannot fails with `TRANSCRIPT_MISS`, and everything is sent.
 */
export interface TranscriptDelta {
  /**
   * How many of the conversation's messages are left out before the first, or were replaced by the summary that is the first:
   * within an epoch, messages are only appended.
   */
  readonly epoch: number;
  /** 0 = everything is in `append`. */
  readonly base: number;
  /** `transcriptHash` over the first `base` messages; absent when there are none. */
  readonly prefixHash?: string;
  /**
   * The first of these messages, where some of them lie in the blob store: as many as were not given to an earlier model call.
   * Absent: none do, or the worker has been given them.
   */
  readonly stored?: readonly TranscriptPiece[];
  readonly append: readonly Message[];
}

/** Type of the failure of a model call that lacks the messages before `append`. Never seen outside. */
export const TRANSCRIPT_MISS = 'transcript_miss';

/** Query of messages by their place in an epoch; answered in pages. */
export interface TranscriptQuery {
  readonly epoch: number;
  readonly from: number;
  readonly to: number;
}

export interface TranscriptSlice {
  readonly epoch: number;
  readonly from: number;
  /** As many as fit into a page: at least one, while there are any. */
  readonly messages: readonly Message[];
  /** In their place, where they lie in the blob store. */
  readonly stored?: StoredPart;
}

/**
 * The hash of a transcript from the hash of what comes before its last message, and that one as JSON; the first comes after ''.
 * Messages of one stored part are hashed as one, by `hashedPart`.
 */
export function transcriptHash(before: string, messageJson: string): string {
  return fingerprint(`${before} ${messageJson}`);
}

export interface CallModelInput extends OfStep {
  readonly transcript: TranscriptDelta;
  readonly requester: StampedActor;
  /** Of the last model call that was completed. Absent: there was none. */
  readonly context?: ContextMark;
  /** Bytes of transcript that the conversation can hold. Absent: `MAX_CARRIED_TRANSCRIPT_BYTES`. */
  readonly heldBytes?: number;
  /** What the final answer has to be, as the turn's message says; `false`: a text. Absent: as the agent says. */
  readonly output?: JsonSchema | false;
  /** What an activity before took for this very call: it lacked the messages before `append`. Absent: there was none. */
  readonly spent?: ModelSpend;
  /** What it left open at the provider. */
  readonly open?: OpenRequest;
  /** Its attempts that came to nothing, and how many there were in all. */
  readonly failed?: readonly FailedAttempt[];
  readonly attempts?: number;
  /** By what is judged which calls of the answer may run inside this activity. Absent: none may. */
  readonly reads?: ReadBounds;
}

/**
 * The settings of the conversation that decide about calls of tools, and what its turn has spent: a call that is past a bound
 * must not run, wherever it would. A field that is absent is not set.
 */
export interface ReadBounds
  extends Pick<AgentSettings, 'coreRevision' | 'repeatLimit' | 'onToolError' | 'onUnknownTool'>,
    Pick<TurnBudgets, 'calls' | 'callsOf'> {
  /** Calls of the turn until now: by tool, and by tool and arguments. */
  readonly spent?: SpentCalls;
  /** Ids of calls that ended long ago are not remembered, so short ids are not used again. */
  readonly forgetsCalls?: true;
}

/** A call of a sequential step, when its turn has come. */
export interface PlanCallInput extends OfStep {
  readonly call: {
    readonly toolCallId: ToolCallId;
    readonly name: string;
    readonly argumentsJson: string;
  };
  readonly requester: StampedActor;
  /** Of the turn until now. Absent when there are none. */
  readonly results?: readonly EarlierResult[];
}

/** One call as the plan has it; `toolCallId` is the provider's until the workflow has checked that it is free. */
export interface CallModelResult {
  readonly parts: readonly Exclude<AssistantPart, { type: 'tool_call' }>[];
  readonly calls: readonly {
    readonly plan: PlannedCall;
    readonly argumentsJson: string;
    /** The call has run already, and has ended. Absent: it is to be run. */
    readonly read?: InlineRead;
  }[];
  /** What the provider has run by itself; absent when there is nothing of the kind. */
  readonly providerCalls?: readonly ProviderCallRecord[];
  readonly model: string;
  readonly finishReason: string;
  /** Of this attempt. */
  readonly usage: Usage;
  /** Of the attempts before, of which nothing came. Absent: nothing is known of any. */
  readonly earlierUsage?: Usage;
  /** From 1, over all activities of the call. */
  readonly attempt: number;
  /** Those before it that came to nothing, oldest first. Absent: there were none, or nothing is known of any. */
  readonly failedAttempts?: readonly FailedAttempt[];
  /** What of the conversation the model was given. Absent where the call was aborted. */
  readonly context?: ModelContext;
  /** A final answer in the form that was asked for. */
  readonly output?: Json;
  /** Why a final answer has not that form, after it was asked for twice; in words for whoever asked. The turn fails. */
  readonly outputProblem?: string;
  /** The call was aborted by a cancel; `parts` is what had come. */
  readonly aborted?: true;
}

/** A call without effects that ran inside the model activity which asked for it. */
export interface InlineRead {
  /** The id under which it ran: the workflow takes the result for no other call. */
  readonly toolCallId: ToolCallId;
  readonly ended: ToolEnded;
}

/** A call that is over, as the log shows it. */
export interface ProviderCallRecord {
  readonly plan: PlannedCall;
  readonly result: ToolResult;
}

/** The same as policies see it: of the calls that a model asks for in that very answer, too. */
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
    /** How often the call may be run. */
    readonly maxAttempts: number;
    readonly mcp?: McpToolRef;
    /** See `PlannedCall`: with another definition the input may not be run as it is. */
    readonly raw?: Json;
    readonly definition?: string;
  };
  readonly idempotencyKey: string;
  readonly requester: StampedActor;
  /** Who approved; absent for calls that needed no approval. */
  readonly approver?: StampedActor;
  /** Which entry into the tool's code this is, from 1; absent in the first. Attempts of one activity are one run. */
  readonly run?: number;
  /** The tool has asked, and this run is there because its question was answered. */
  readonly asked?: AskedBefore;
  /** ISO 8601: when the call's time in all is over, pauses between attempts included. Absent where it is not bounded. */
  readonly endsAt?: string;
}

/** The same before a client call is offered: the tool shapes the request. */
export type PreflightToolInput = RunToolInput;

export type PreflightToolResult =
  | { readonly ok: true; readonly payload: Json; readonly argsDigest: string }
  | { readonly ok: false; readonly error: ToolResultError }
  /** As of a run. */
  | (ToolChanged & { readonly ok: false });

/** The same for a run that was lost: the tool is asked what it did. */
export type ReconcileToolInput = RunToolInput;

export type ReconcileToolResult =
  | { readonly outcome: 'happened'; readonly envelope: ToolResultEnvelope }
  | { readonly outcome: 'not_happened' }
  | { readonly outcome: 'unknown'; readonly reason: string };

/**
 * How one run of a tool ended. Plain data, so that workers in any language can give each of them:
 *
 * | shape | meaning |
 * |---|---|
 * | `{envelope, executionMs}` | the result of the call |
 * | `{ask: {form, state?, reason?, ...}, executionMs}` | somebody is asked; the tool is run again with `asked` in its input |
 * | `{refused: [{path, message}], executionMs}` | the answer in `asked` will not do: the question is open again |
 * | `{changed: {definition}}` | nothing has run: the worker's definition of the tool is not the one that the call was planned for |
 */
export type RunToolResult = ToolEnded | ToolAsks | AnswerRefused | ToolChanged;

export interface ToolEnded {
  readonly envelope: ToolResultEnvelope;
  readonly executionMs: number;
}

export interface ToolAsks {
  readonly ask: Question;
  readonly executionMs: number;
}

/** `path` is a JSON Pointer into the answer. */
export interface AnswerRefused {
  readonly refused: readonly FieldProblem[];
  /** The form that has refused it: where it is not the one that was asked, the question is asked by it. */
  readonly form?: JsonSchema;
  /** It has checks that no JSON Schema can say. */
  readonly byCode?: true;
  readonly executionMs: number;
}

/** Checks of an accepted answer that only a worker can run. */
export interface CheckAnswerInput extends ConversationKey {
  readonly agent: string;
  readonly toolCallId: string;
  readonly name: string;
  readonly value: Json;
  /** Of a question that the tool's code asked; judged by this instead of the tool's output. */
  readonly form?: JsonSchema;
  /** The definition that the call was offered with; a worker with another one offers it anew where it refuses the answer. */
  readonly answerDefinition?: string;
}

export type CheckAnswerResult =
  | { readonly ok: true; readonly value: Json }
  | {
      readonly ok: false;
      readonly problems: readonly FieldProblem[];
      /** By which the answer was refused, where it is not what the call was offered with. */
      readonly offer?: AnswerOffer;
    }
  /** Nothing can judge it any more: the call ends. */
  | { readonly ok: false; readonly ended: ToolResultError };

/** An approver's edit of a call's input, to be judged as the model's own arguments were. */
export interface CheckEditInput extends OfStep {
  readonly toolCallId: string;
  readonly name: string;
  readonly mcp?: McpToolRef;
  readonly input: Json;
  readonly requester: StampedActor;
  /** Of the turn until now. Absent when there are none. */
  readonly results?: readonly EarlierResult[];
}

export type CheckEditResult =
  | {
      readonly ok: true;
      /** After parsing, defaults and transforms: exactly what may run. */
      readonly input: Json;
      readonly argsDigest: string;
      /** Of the definition that has judged it. Absent where a worker does not know of digests. */
      readonly definition?: string;
      /** What the policies say of the edited call; its audience must admit who edited it. */
      readonly approval: ApprovalPlan;
    }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] }
  /** The tool is gone: the call ends. */
  | { readonly ok: false; readonly ended: ToolResultError };

export interface FlushLogInput extends ConversationKey {
  readonly throughSeq: number;
}

export interface FlushLogResult {
  /** The store has everything up to here. */
  readonly storedSeq: number;
}

/** Whole turns that are to be summarised: a prefix of the transcript, an earlier summary included. */
export interface SummarizeInput extends ConversationKey {
  readonly agent: string;
  readonly ordinal: number;
  readonly transcript: TranscriptDelta;
}

/** `throughMessageId`: of the last message that it covers, which may be fewer than were given. */
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
  spillTranscript(input: SpillTranscriptInput): Promise<SpillTranscriptResult>;
}

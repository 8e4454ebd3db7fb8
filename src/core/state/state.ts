/**
 * State of a conversation: `apply` folds events into it, `decide` reads it. The state is plain JSON, so that a
 * roll-over can carry it as it is. Only core reads it; all other code sees snapshots.
 */

import type { PlannedCall } from '../../protocol/calls/plan.js';
import type { Question } from '../../protocol/calls/questions.js';
import type { ResultFiles } from '../../protocol/calls/resolutions.js';
import type {
  CallStatus,
  FinalCallStatus,
  ToolErrorCode,
  ToolResult,
  ToolResultError,
} from '../../protocol/calls/results.js';
import type { Rule } from '../../protocol/calls/rules.js';
import type { Suspension } from '../../protocol/calls/suspensions.js';
import type { AgentSettings } from '../../protocol/conversation/agents.js';
import type { ContextMark, ModelContext } from '../../protocol/conversation/context.js';
import type { UserPart } from '../../protocol/conversation/messages.js';
import type { SpentCalls, TurnLimit, Usage } from '../../protocol/conversation/turns.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import type { MessageId, ToolCallId, TurnId } from '../../protocol/values/ids.js';
import type { Json, JsonSchema } from '../../protocol/values/json.js';
import type { RequestRow } from './requests.js';
import type { TranscriptItem } from './transcript.js';

export interface QueuedMessage {
  readonly turnId: TurnId;
  readonly messageId: MessageId;
  readonly parts: readonly UserPart[];
  readonly actor: StampedActor;
  /** Form of the final answer of its turn. */
  readonly output?: JsonSchema | false;
  /** The sender allows that the message waits for the current turn. */
  readonly mayWait?: true;
}

export interface AcceptedAnswer {
  readonly value: Json;
  readonly files?: ResultFiles;
  readonly actor: StampedActor;
  readonly requestId: string;
  /** Deadline of the suspension that it answered. */
  readonly deadline: string;
  /** As reported by the client. */
  readonly executionMs?: number;
  /** A worker has accepted the answer; read for questions of tools only. */
  readonly checked?: true;
}

/** The last question that the code of a tool asked. */
export interface AskState {
  /** Counts from 1. */
  readonly ordinal: number;
  readonly argsDigest: string;
  readonly question: Question;
  /** The workflow alone cannot check answers to the question. */
  readonly recheck?: true;
  /** Digests of the questions before it: an answer that names one of them came too late. */
  readonly earlier: readonly string[];
}

export interface AcceptedEdit extends Omit<AcceptedAnswer, 'value'> {
  readonly input: Json;
}

/** A call of the step in progress, or a detached or late one beside it. */
export interface CallState {
  readonly plan: PlannedCall;
  readonly turnId: TurnId;
  readonly step: number;
  readonly status: CallStatus;
  /**
   * `seq` of the event that led to the current status (asked, suspended, resolved); readers list calls in this order.
   */
  readonly since: number;
  /** When the model asked for the call; kept for calls with a limit on their total time. */
  readonly askedAt?: string;
  /** The deadline for which `suspension_expiring` was recorded. */
  readonly warned?: string;
  /** The model has a result already, and the outcome of the call becomes new input: see `calls/detached.ts`. */
  readonly background?: 'detached' | 'late';
  /** The immediate result of a detached call. */
  readonly ack?: ToolResult;
  /**
   * The requester of the turn, and the ids of those whose messages joined it; kept for calls that may outlive their
   * turn.
   */
  readonly requestedBy?: { readonly requester: StampedActor; readonly joined?: readonly string[] };
  /** The expired suspension, kept where a late result is accepted. */
  readonly closedWait?: Suspension;
  /** The provider has run the call: the call belongs to no step, and the core decides nothing about it. */
  readonly executed?: true;
  /** Present exactly while the call waits for an answer from outside. */
  readonly suspension?: Suspension;
  readonly approver?: StampedActor;
  /** An accepted answer that a worker still has to check. */
  readonly answer?: AcceptedAnswer;
  /** Stays while the tool runs on with the answer, until the tool asks the next question. */
  readonly ask?: AskState;
  /** The question was declined, and the tool is run again with the refusal. */
  readonly declined?: { readonly reason?: string; readonly actor: StampedActor };
  /** An accepted approval whose edit a worker still has to check. */
  readonly edit?: AcceptedEdit;
  /** An approval was requested for the call, so workers may have been replaced since it was planned. */
  readonly gateWaited?: true;
  /** A worker has found that the tool changed before the call ran; the call is now judged by this definition. */
  readonly changed?: { readonly definition: string };
  /** The call was carried over to another definition. */
  readonly revised?: true;
  /**
   * Digest under which the call is offered, where that differs from the digest of the definition that it was planned
   * by.
   */
  readonly offerDigest?: string;
  /** The payload that a preflight made, and its digest. */
  readonly prepared?: { readonly payload: Json; readonly argsDigest: string };
  /** Runs of the tool that ended without a result; absent before the first. */
  readonly runsEnded?: number;
  /** A run was lost that may not be repeated; `outcome` is what the tool has reported about it since. */
  readonly lost?: { readonly outcome?: 'happened' | 'not_happened' | 'unknown' };
  /** How often the call was run again after a loss that had no effect; absent = never. */
  readonly reruns?: number;
  /** Why an answer was reverted; shown with the suspension that opens again. */
  readonly reverted?: NonNullable<Suspension['reverted']>;
  /** Set when an answer was reverted: the call opens again, with the same deadline as before. */
  readonly reopenUntil?: string;
  /** The actor of the last resolution and its time; a `stale` verdict returns both. */
  readonly resolvedBy?: string;
  readonly resolvedAt?: string;
  readonly result?: ToolResult;
}

export interface TurnState {
  readonly turnId: TurnId;
  readonly messageId: MessageId;
  readonly requester: StampedActor;
  readonly startedAt: string;
  /** Counts from 1. */
  readonly step: number;
  /** Step of the newest completed model call, at least 1; shown to readers. */
  readonly shownStep: number;
  /**
   * `model`: a model call is due or in flight. `tools`: calls of the step are open. `ending`: nothing is left to do.
   */
  readonly phase: 'model' | 'tools' | 'ending';
  /** Calls of the step, in the model's order. */
  readonly callIds: readonly ToolCallId[];
  readonly lastText: string;
  /** Form of the final answer; absent: as the agent's settings say. */
  readonly outputSchema?: JsonSchema | false;
  /** The last answer that has the requested form. */
  readonly output?: Json;
  readonly usage: Usage;
  /** A cancel was requested; the model call in flight is being aborted. */
  readonly cancel?: { readonly actor: StampedActor };
  /** A limit was reached; the model call in flight is being aborted. */
  readonly stop?: TurnLimit;
  /** The tool failure that ends the turn, where the agent's settings ask for that. */
  readonly failure?: { readonly name: string; readonly error: ToolResultError };
  /** Kept only where a limit needs the counts. */
  readonly spent?: SpentCalls;
  /** Messages that joined the turn and wait for its next model call. */
  readonly steering?: readonly QueuedMessage[];
  /** Ids of further actors whose messages joined the turn: audiences treat them as requesters, too. */
  readonly joined?: readonly string[];
}

/** The remains of an ended call: enough to answer `stale` and `expired` from then on. Every roll-over carries it. */
export interface Tombstone {
  /** Fingerprint of the call's id, which is only looked up; see `callKey`. */
  readonly key: string;
  readonly name: string;
  readonly turnId: TurnId;
  readonly status: FinalCallStatus;
  readonly at: string;
  readonly by?: string;
  readonly deadline?: string;
  /** The error that ended the call, which verdicts for later answers name. Absent when an answer ended it. */
  readonly code?: ToolErrorCode;
}

/** Input without a user, kept until a model call reads it. */
export interface InboxEntry {
  readonly eventId: string;
  readonly text: string;
  readonly requester: StampedActor;
}

/** The basis of the next model call, and the part that readers are shown. */
export type ContextState = ModelContext & Pick<ContextMark, 'inputTokens'>;

export interface ConversationState {
  readonly tenant: string;
  readonly conversationId: string;
  readonly agent: string;
  readonly chain: string;
  readonly settings: AgentSettings;
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly lastSeq: number;
  /** Ordinal of the newest turn of this chain. */
  readonly turnCount: number;
  readonly closed: boolean;
  readonly turn?: TurnState;
  readonly queue: readonly QueuedMessage[];
  /** In order of arrival; absent when no entry waits. */
  readonly inbox?: readonly InboxEntry[];
  readonly calls: Readonly<Record<ToolCallId, CallState>>;
  /**
   * Messages that may still go to a model call: the summary of the oldest turns, if any, and the turns since. The oldest
   * of these may be in the blob store.
   */
  readonly transcript: readonly TranscriptItem[];
  /** Number of messages that have left the transcript at its front; absent when none have. */
  readonly forgotten?: number;
  /** The context of the last completed model call; absent before the first. */
  readonly context?: ContextState;
  /** Bytes of all messages of the transcript as JSON, offloaded or not; kept so that they are not measured again. */
  readonly transcriptBytes: number;
  /** The newest `MAX_TOMBSTONES` ended calls, of this run and of those before it, oldest first. */
  readonly tombstones: readonly Tombstone[];
  /** A roll-over dropped tombstones that were too large to carry. */
  readonly forgetsCalls?: true;
  /** The newest `MAX_REMEMBERED_REQUESTS` accepted requests, of this run and of those before it, oldest first. */
  readonly requests: readonly RequestRow[];
  readonly usage: Usage;
  /** Remembered decisions, oldest first; absent when there are none. */
  readonly rules?: readonly Rule[];
  /** Number of recorded refused answers by call (`memory/refusals.ts`); absent when there were none. */
  readonly refusals?: Readonly<Record<string, number>>;
  /** Number of recorded refused messages since the last start of a turn, by request id; absent when there were none. */
  readonly refusedMessages?: {
    readonly turnCount: number;
    readonly byId: Readonly<Record<string, number>>;
  };
}

const FINAL: readonly CallStatus[] = ['resolved', 'errored', 'denied', 'expired', 'cancelled'];

/** The open call with this id. Ids come from outside, so names such as `constructor` must not be found. */
export function callOf(
  { calls }: Pick<ConversationState, 'calls'>,
  toolCallId: string,
): CallState | undefined {
  return Object.hasOwn(calls, toolCallId) ? calls[toolCallId] : undefined;
}

export function isFinal(status: CallStatus): status is FinalCallStatus {
  return FINAL.includes(status);
}

/** The calls of the step in progress, in the model's order. */
export function stepCalls(state: ConversationState): readonly CallState[] {
  const calls: CallState[] = [];
  for (const callId of state.turn?.callIds ?? []) {
    const call = state.calls[callId];
    if (call !== undefined) calls.push(call);
  }
  return calls;
}

/** The calls of the step in progress in the model's order, then the detached and late ones. */
export function shownCalls(state: ConversationState): readonly CallState[] {
  const inStep = stepCalls(state);
  const beside = Object.values(state.calls).filter(
    (call) => call.background !== undefined && !inStep.includes(call),
  );
  return beside.length === 0 ? inStep : [...inStep, ...beside];
}

/** Open suspensions, in the model's call order. */
export function openSuspensions(state: ConversationState): readonly Suspension[] {
  return shownCalls(state).flatMap((call) =>
    call.suspension === undefined ? [] : [call.suspension],
  );
}

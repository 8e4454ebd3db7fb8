/**
 * State of a conversation: what `apply` folds events into and `decide` reads. Plain JSON, so that it can be carried over a
 * roll-over as it is. Owned by core; everybody else sees snapshots.
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
import type { Message, UserPart } from '../../protocol/conversation/messages.js';
import type { SpentCalls, TurnLimit, Usage } from '../../protocol/conversation/turns.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import type { MessageId, ToolCallId, TurnId } from '../../protocol/values/ids.js';
import type { Json, JsonSchema } from '../../protocol/values/json.js';
import type { RememberedRequest } from './requests.js';

export interface QueuedMessage {
  readonly turnId: TurnId;
  readonly messageId: MessageId;
  readonly parts: readonly UserPart[];
  readonly actor: StampedActor;
  /** What its turn's final answer has to be. */
  readonly output?: JsonSchema | false;
  /** It said itself that it can wait. */
  readonly patient?: true;
}

export interface AcceptedAnswer {
  readonly value: Json;
  readonly files?: ResultFiles;
  readonly actor: StampedActor;
  readonly requestId: string;
  /** Of the suspension that it answered. */
  readonly deadline: string;
  /** As the client says. */
  readonly executionMs?: number;
  /** A worker has found it right; looked at for questions of tools. */
  readonly checked?: true;
}

/** The question that the code of a tool asked last. */
export interface AskState {
  /** From 1. */
  readonly ordinal: number;
  readonly argsDigest: string;
  readonly question: Question;
  /** The workflow alone cannot judge answers to it. */
  readonly recheck?: true;
  /** Digests of the questions before it: an answer that names one of them came too late. */
  readonly earlier: readonly string[];
}

export interface AcceptedEdit extends Omit<AcceptedAnswer, 'value'> {
  readonly input: Json;
}

/** A call of the step in progress. */
export interface CallState {
  readonly plan: PlannedCall;
  readonly turnId: TurnId;
  readonly step: number;
  readonly status: CallStatus;
  /** `seq` of the event that brought it where it is (asked, suspended, resolved); readers list calls in this order. */
  readonly since: number;
  /** When the model asked; kept for calls whose time is limited in all. */
  readonly askedAt?: string;
  /** The deadline whose coming was announced. */
  readonly warned?: string;
  /** The model has its result, and what comes of the call is new input: see `aside.ts`. */
  readonly aside?: 'detached' | 'late';
  /** The immediate result of a detached call. */
  readonly ack?: ToolResult;
  /** Who asked, and whose messages joined; kept for calls that may outlive their turn. */
  readonly asker?: { readonly requester: StampedActor; readonly joined?: readonly string[] };
  /** The wait that expired, kept where a late result is taken. */
  readonly closedWait?: Suspension;
  /** The provider has run it: it belongs to no step, and nothing is decided about it. */
  readonly executed?: true;
  /** Present exactly while the call is awaiting somebody. */
  readonly suspension?: Suspension;
  readonly approver?: StampedActor;
  /** An accepted answer that a worker still has to check. */
  readonly answer?: AcceptedAnswer;
  /** Stays while the tool runs on with the answer, until it asks the next. */
  readonly ask?: AskState;
  /** Somebody declined the question, and the tool is entered again to hear of it. */
  readonly declined?: { readonly reason?: string; readonly actor: StampedActor };
  /** An accepted approval whose edit a worker still has to check. */
  readonly edit?: AcceptedEdit;
  /** Somebody was asked to approve it, so workers may have been replaced since it was planned. */
  readonly gateWaited?: true;
  /** A worker has found its tool changed before it ran; by this definition it is judged now. */
  readonly changed?: { readonly definition: string };
  /** It was carried over to another definition. */
  readonly revised?: true;
  /** Digest under which it is offered, once that is not by the definition that it was planned by. */
  readonly offerDigest?: string;
  /** What a preflight shaped, and its digest. */
  readonly prepared?: { readonly payload: Json; readonly argsDigest: string };
  /** Runs of the tool that ended without a result; absent before the first. */
  readonly runsEnded?: number;
  /** A run was lost that may not be repeated; `outcome` is what the tool itself has said of it since. */
  readonly lost?: { readonly outcome?: 'happened' | 'not_happened' | 'unknown' };
  /** How often it was run again after a loss that had no effect; absent = never. */
  readonly reruns?: number;
  /** Why an answer was taken back; shown with the wait that opens again. */
  readonly reverted?: NonNullable<Suspension['reverted']>;
  /** Set when an answer was reverted: the call opens again, but not for longer than before. */
  readonly reopenUntil?: string;
  /** Who resolved it last, and when; what a `stale` verdict tells. */
  readonly resolvedBy?: string;
  readonly resolvedAt?: string;
  readonly result?: ToolResult;
}

export interface TurnState {
  readonly turnId: TurnId;
  readonly messageId: MessageId;
  readonly requester: StampedActor;
  readonly startedAt: string;
  /** From 1. */
  readonly step: number;
  /** Step of the newest completed model call, at least 1: what readers are shown. */
  readonly shownStep: number;
  /** `model`: a model call is due or in flight. `tools`: calls of the step are open. `ending`: nothing is left to do. */
  readonly phase: 'model' | 'tools' | 'ending';
  /** Calls of the step, in the model's order. */
  readonly callIds: readonly ToolCallId[];
  readonly lastText: string;
  /** What the final answer has to be; absent: as the agent says. */
  readonly outputSchema?: JsonSchema | false;
  /** The last answer in the form that was asked for. */
  readonly output?: Json;
  readonly usage: Usage;
  /** Somebody asked to stop; the model call in flight is being aborted. */
  readonly cancel?: { readonly actor: StampedActor };
  /** A bound was reached; the model call in flight is being aborted. */
  readonly stop?: TurnLimit;
  /** The tool failure that ends the turn, where the agent wants that. */
  readonly failure?: { readonly name: string; readonly error: ToolResultError };
  /** Kept only where a bound needs them. */
  readonly spent?: SpentCalls;
  /** Messages that joined the turn and wait for its next model call. */
  readonly steering?: readonly QueuedMessage[];
  /** Ids of others than the requester whose messages joined the turn: to audiences, they are requesters like the first. */
  readonly joined?: readonly string[];
}

/** What remains of an ended call: enough to answer `stale` and `expired` for ever after. */
export interface Tombstone {
  readonly toolCallId: ToolCallId;
  readonly name: string;
  readonly turnId: TurnId;
  readonly status: FinalCallStatus;
  readonly at: string;
  readonly by?: string;
  readonly deadline?: string;
  /** The error that ended it, where no answer did and answerers are told so. */
  readonly code?: ToolErrorCode;
}

/** Input that no user said, until a model call reads it. */
export interface InboxEntry {
  readonly eventId: string;
  readonly text: string;
  readonly requester: StampedActor;
}

/** What the next model call goes on from, and what readers are shown. */
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
  /** In the order in which it came; absent when nothing waits. */
  readonly inbox?: readonly InboxEntry[];
  readonly calls: Readonly<Record<ToolCallId, CallState>>;
  /** What model calls may still be given: the summary of the oldest turns if there is one, and the turns since. */
  readonly transcript: readonly Message[];
  /** Messages that have left it at its front; absent when none have. */
  readonly forgotten?: number;
  /** What the last completed model call was given; absent before the first. */
  readonly context?: ContextState;
  /** Size of the transcript as JSON; kept so that nobody has to measure it. */
  readonly transcriptBytes: number;
  readonly tombstones: readonly Tombstone[];
  readonly requests: readonly RememberedRequest[];
  /** Tombstones and requests of earlier runs; absent where the two above have all. */
  readonly earlier?: EarlierRuns;
  readonly usage: Usage;
  /** Remembered decisions, oldest first; absent when there are none. */
  readonly rules?: readonly Rule[];
  /** Refused answers that were written down, by call (`refused/recorded.ts`); absent when there were none. */
  readonly refusals?: Readonly<Record<string, number>>;
  /** Refused messages that were written down since a turn began last, by request id; absent when there were none. */
  readonly refusedMessages?: {
    readonly turnCount: number;
    readonly byId: Readonly<Record<string, number>>;
  };
}

const FINAL: readonly CallStatus[] = ['resolved', 'errored', 'denied', 'expired', 'cancelled'];

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

/** The calls of the step in progress in the model's order, then those beside it. */
export function shownCalls(state: ConversationState): readonly CallState[] {
  const inStep = stepCalls(state);
  const beside = Object.values(state.calls).filter(
    (call) => call.aside !== undefined && !inStep.includes(call),
  );
  return beside.length === 0 ? inStep : [...inStep, ...beside];
}

/** Open suspensions, in the model's call order. */
export function openSuspensions(state: ConversationState): readonly Suspension[] {
  return shownCalls(state).flatMap((call) =>
    call.suspension === undefined ? [] : [call.suspension],
  );
}

export interface EarlierRuns extends Dictionary {
  /** Rows of `CALLS`, oldest first. */
  readonly calls: string;
  /** Rows of `REQUESTS`, oldest first. */
  readonly requests: string;
  /** Calls that ended before these are forgotten. */
  readonly forgetsCalls?: true;
}

/** What rows refer to by number. */
export interface Dictionary {
  /** Ids of turns: how many characters one shares with the one before (base 36, one digit), and the rest. */
  readonly turns: readonly string[];
  readonly words: readonly string[];
}

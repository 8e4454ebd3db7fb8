/**
 * A tool call as part of the state: a union by its `status`. Fields that belong to a phase are required there, and no
 * value of another phase has them: a change of status that keeps a suspension or a result does not compile.
 */

import type { PlannedCall } from '../../protocol/calls/plan.js';
import type { Question } from '../../protocol/calls/questions.js';
import type { ResultFiles } from '../../protocol/calls/resolutions.js';
import type { CallStatus, FinalCallStatus, ToolResult } from '../../protocol/calls/results.js';
import type { Suspension } from '../../protocol/calls/suspensions.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import type { TurnId } from '../../protocol/values/ids.js';
import type { Json } from '../../protocol/values/json.js';

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

/** The part of a call that every phase may have; most of its fields stay when the phase that set them is over. */
interface CallRecord {
  readonly plan: PlannedCall;
  readonly turnId: TurnId;
  readonly step: number;
  /**
   * `seq` of the event that led to the current status (asked, suspended, resolved); readers list calls in this order.
   */
  readonly since: number;
  /** The agent that made the call, where the conversation has another one now. */
  readonly agent?: string;
  /** When the model asked for the call; kept for calls with a limit on their total time. */
  readonly askedAt?: string;
  /** The deadline for which `suspension_expiring` was recorded. */
  readonly warned?: string;
  /** The immediate result of a call that is or was detached. */
  readonly ack?: ToolResult;
  /**
   * The requester of the turn, and the ids of those whose messages joined it; kept for calls that may outlive their
   * turn.
   */
  readonly requestedBy?: { readonly requester: StampedActor; readonly joined?: readonly string[] };
  /** The provider has run the call: the call belongs to no step, and the core decides nothing about it. */
  readonly executed?: true;
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
  readonly lost?: LostRun;
  /** How often the call was run again after a loss that had no effect; absent = never. */
  readonly reruns?: number;
  /** The actor of the last resolution and its time; a `stale` verdict returns both. */
  readonly resolvedBy?: string;
  readonly resolvedAt?: string;
  /** The expired suspension, kept where a late result is accepted. */
  readonly closedWait?: Suspension;
}

interface LostRun {
  readonly outcome?: 'happened' | 'not_happened' | 'unknown';
}

/** The call waits for an answer from outside. */
interface Waits {
  readonly suspension: Suspension;
  readonly reverted?: never;
  readonly reopenUntil?: never;
}

interface WaitsForNothing {
  readonly suspension?: never;
  /** Why an answer was reverted; shown with the suspension that opens again. */
  readonly reverted?: NonNullable<Suspension['reverted']>;
  /** Set when an answer was reverted: the call opens again, with the same deadline as before. */
  readonly reopenUntil?: string;
}

interface HasNoResult {
  /** `undefined`, because with `never` the compiler accepts a phase whose result is required and missing. */
  readonly result?: undefined;
}

/** The model waits for the result of the call, or has got it. */
interface Attended {
  readonly background?: never;
}

/** The outcome of the call becomes new input, because the model has a result already: see `calls/detached.ts`. */
interface Detached {
  readonly background: 'detached';
  readonly ack: ToolResult;
}

/**
 * The engine works on the call: it plans, prepares, checks or runs it, or is about to suspend or end it. A detached call
 * has this status when it runs again after a loss that had no effect.
 */
export type RunningCall = CallRecord &
  HasNoResult &
  WaitsForNothing &
  (Attended | Detached) & { readonly status: 'running' };

export type WaitingCall = CallRecord &
  HasNoResult &
  Waits &
  Attended & { readonly status: WaitingStatus };

type WaitingStatus = Extract<CallStatus, `awaiting_${string}`>;

/** A detached call, while it waits or runs. */
export type DetachedCall = CallRecord &
  HasNoResult &
  (Waits | WaitsForNothing) &
  Detached & { readonly status: 'detached' };

/** A call whose run was lost, until the tool or a person has reported its outcome. */
export type LostCall = CallRecord &
  HasNoResult &
  ((Waits & Attended) | (WaitsForNothing & (Attended | Detached))) & {
    readonly status: 'outcome_unknown';
    readonly lost: LostRun;
  };

/**
 * A call whose wait has ended at its deadline, until its result is recorded. The log from which a run is repaired may end
 * between these two events; the call waits anew then.
 */
export type ExpiredCall = CallRecord &
  HasNoResult &
  WaitsForNothing &
  (Attended | Detached) & { readonly status: 'expired' };

export type EndedCall = CallRecord &
  WaitsForNothing &
  Attended & {
    readonly status: FinalCallStatus;
    readonly result: ToolResult;
  };

/** An expired call that still accepts a result: the model has the one that ended it, and another becomes new input. */
export type LateCall = CallRecord &
  WaitsForNothing & {
    readonly status: 'expired';
    readonly background: 'late';
    readonly result: ToolResult;
    readonly closedWait: Suspension;
  };

/** A call without a result. */
export type OpenCall = RunningCall | WaitingCall | DetachedCall | LostCall | ExpiredCall;

/** A call whose result the model waits for. */
export type AttendedCall = Extract<OpenCall, Attended>;

/** A call of the step in progress, or a detached or late one beside it; a union by `status`. */
export type CallState = OpenCall | EndedCall | LateCall;

/** A call of any phase that waits for an answer from outside. */
export type SuspendedCall = Extract<CallState, Waits>;

const FINAL: readonly CallStatus[] = ['resolved', 'errored', 'denied', 'expired', 'cancelled'];

export function isFinal(status: CallStatus): status is FinalCallStatus {
  return FINAL.includes(status);
}

export function isAttended(call: CallState): call is AttendedCall {
  return call.result === undefined && call.background === undefined;
}

/** Whether nothing changes the call any more: it has its result, and accepts no other. */
export function hasEnded(call: CallState): call is EndedCall {
  return call.result !== undefined && call.background === undefined;
}

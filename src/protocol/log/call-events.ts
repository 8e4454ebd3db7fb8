/** Canonical events of single calls. Part of the union in `events.ts`, from which all other code imports them. */

import type { DefinitionChanged, InputMigrated, SuspensionChanged } from '../calls/definitions.js';
import type { Executor } from '../calls/executors.js';
import type { PlannedCall } from '../calls/plan.js';
import type { Question } from '../calls/questions.js';
import type { Resolution, VerdictName } from '../calls/resolutions.js';
import type { ToolResult } from '../calls/results.js';
import type { Rule } from '../calls/rules.js';
import type { Suspension, SuspensionKind } from '../calls/suspensions.js';
import type { StampedActor } from '../values/actors.js';
import type { FieldProblem } from '../values/field-problem.js';
import type { ToolCallId, TurnId } from '../values/ids.js';
import type { Json } from '../values/json.js';

export interface ToolCallEvent {
  readonly type: 'tool_call';
  readonly turnId: TurnId;
  readonly step: number;
  readonly call: PlannedCall;
  /** The provider's id, when it had to be replaced because it was taken or unusable. */
  readonly providerCallId?: string;
  /**
   * The model's provider has run the call inside the model call: it belongs to no step, and its result follows at once.
   */
  readonly executed?: true;
}

/**
 * A call of a sequential step was validated and gated when its turn came; this plan replaces the one in `tool_call`.
 */
export interface CallPlanned {
  readonly type: 'call_planned';
  readonly turnId: TurnId;
  readonly step: number;
  readonly call: PlannedCall;
}

export interface SuspensionEvent {
  readonly type: 'suspension';
  readonly suspension: Suspension;
}

export interface ResolutionEvent {
  readonly type: 'resolution';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  readonly kind: SuspensionKind;
  readonly resolution: Resolution;
  readonly requestId: string;
  readonly actor: StampedActor;
  /**
   * Digest of the resolution as it was sent: distinguishes repeats from other requests under the same id. Absent where
   * a remembered rule decided.
   */
  readonly digest?: string;
  /**
   * Digest of the input that was approved, or of the question that was answered. Absent where the wait has no digest.
   */
  readonly argsDigest?: string;
  /** Time stamp of the API or client; absent when the resolution came unstamped. */
  readonly receivedAt?: string;
  /** Present when the call had expired: the model has its result already, and this one is new input. */
  readonly late?: true;
  /** A worker still has to check the resolution; a `resolution_reverted` may follow. */
  readonly checked?: false;
  /** The remembered decision that took the place of an approver. Its author is `actor`; no approver was asked. */
  readonly rule?: {
    readonly ruleId: string;
    readonly name: string;
    readonly executor: Executor;
    readonly detached?: true;
  };
  /** Milliseconds that the client reports for the run; only in results of a batch. */
  readonly executionMs?: number;
}

/** A resolution was refused that came as a signal, to which no verdict can be returned. */
export interface ResolutionRefused {
  readonly type: 'resolution_refused';
  readonly toolCallId: string;
  readonly verdict: VerdictName;
  readonly requestId: string;
  readonly actor: StampedActor;
  readonly detail: string;
}

/** An accepted answer failed the checks that only a worker can run; the call is open again. */
export interface ResolutionReverted {
  readonly type: 'resolution_reverted';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  /** Id of the resolution that is reverted; it may be used again. */
  readonly requestId: string;
  readonly problems: readonly FieldProblem[];
  /** The run that refused it, where a tool's code did. */
  readonly run?: number;
}

/** The edit that came with an approval passed its checks: this input runs, under this digest. */
export interface InputEdited {
  readonly type: 'input_edited';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  readonly name: string;
  readonly executor: Executor;
  /** Id of the resolution that brought the edit. */
  readonly requestId: string;
  readonly input: Json;
  readonly argsDigest: string;
  /** Digest of the tool's definition that the edit was checked by. */
  readonly definition?: string;
  readonly detached?: true;
}

/** A decision was remembered for later calls; it replaces one of the same tool, scope and match. */
export interface RuleRemembered {
  readonly type: 'rule_remembered';
  readonly rule: Omit<Rule, 'at'>;
}

export interface RuleRevoked {
  readonly type: 'rule_revoked';
  readonly ruleId: string;
  readonly actor: StampedActor;
}

export interface Expired {
  readonly type: 'expired';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  readonly kind: SuspensionKind;
  readonly deadline: string;
  /** Present when the call's total time ran out. */
  readonly limitedBy?: 'total';
  /** Present when the call was not claimed in time; `deadline` is the end of the time to claim. */
  readonly unclaimed?: true;
}

/**
 * An actor runs the call, for as long as the lease is renewed. A renewal that the store could not keep is recorded,
 * too.
 */
export interface Claimed {
  readonly type: 'claimed';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  readonly claimId: string;
  /** Milliseconds from `at` of this event. */
  readonly leaseMs: number;
  readonly requestId: string;
  readonly actor: StampedActor;
  readonly renewal?: true;
}

/** The holder has not renewed in time: the call can be claimed again. */
export interface LeaseLost {
  readonly type: 'lease_lost';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  readonly claimId: string;
  /** Id of the actor who held it. */
  readonly by: string;
}

/** A wait ends soon without an answer; written once for each deadline of tools that declare `warnBefore`. */
export interface SuspensionExpiring {
  readonly type: 'suspension_expiring';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  readonly kind: SuspensionKind;
  readonly deadline: string;
}

/** The deadline of a wait was moved. */
export interface Extended {
  readonly type: 'extended';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  readonly deadline: string;
  readonly previousDeadline: string;
  readonly limitedBy?: 'total';
  /** The new end of the time to claim, where the old deadline had cut it short. */
  readonly claimBy?: string;
  readonly requestId: string;
  readonly actor: StampedActor;
}

export interface ToolResultEvent {
  readonly type: 'tool_result';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  readonly name: string;
  readonly result: ToolResult;
}

/**
 * The preflight of a client call has shaped its request: the payload is approved and given to the client in place of
 * the input.
 */
export interface CallPrepared {
  readonly type: 'call_prepared';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  readonly payload: Json;
  /** Digest of the payload, in place of the input's. */
  readonly argsDigest: string;
}

/**
 * The run of a tool that may not be repeated was lost. Recorded where the tool or an operator can find out what the run
 * did.
 */
export interface ToolLostEvent {
  readonly type: 'tool_lost';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  /** Which run of the call, from 1. */
  readonly run: number;
  readonly reason: string;
}

/** The tool has reported what its lost run did: its result follows, it runs again, or the outcome is unknown. */
export interface ToolReconciledEvent {
  readonly type: 'tool_reconciled';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  readonly run: number;
  readonly outcome: 'happened' | 'not_happened' | 'unknown';
  /** Why the outcome is unknown. */
  readonly reason?: string;
}

/** The code of a server tool has asked a question: its run has ended, and the answer starts the next run. */
export interface ToolAskedEvent {
  readonly type: 'tool_asked';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  /** Which run of the call asked, from 1. */
  readonly run: number;
  /** Which question of the call it is, from 1. */
  readonly ask: number;
  /** Distinguishes this question from any other of the call. */
  readonly argsDigest: string;
  readonly question: Question;
  /** The form has rules (patterns and the like) that only a worker can check. */
  readonly recheck?: true;
}

/** A worker has checked the answer to such a question against its whole form. */
export interface AnswerChecked {
  readonly type: 'answer_checked';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  readonly requestId: string;
}

/** A call has passed the conversation on to another agent, which makes its next model call. */
export interface AgentChanged {
  readonly type: 'agent_changed';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  readonly agent: string;
  readonly previous: string;
}

export type CallEventBody =
  | ToolCallEvent
  | CallPlanned
  | SuspensionEvent
  | ResolutionEvent
  | ResolutionRefused
  | ResolutionReverted
  | InputEdited
  | RuleRemembered
  | RuleRevoked
  | Expired
  | Claimed
  | LeaseLost
  | SuspensionExpiring
  | Extended
  | ToolResultEvent
  | CallPrepared
  | ToolLostEvent
  | ToolAskedEvent
  | AnswerChecked
  | ToolReconciledEvent
  | AgentChanged
  | DefinitionChanged
  | InputMigrated
  | SuspensionChanged;

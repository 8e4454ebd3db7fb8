/** Canonical events of single calls. Part of the union in `events.ts`, which is where everybody imports them from. */

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
  /** The model's provider has run it inside the model call: it belongs to no step, and its result follows at once. */
  readonly executed?: true;
}

/** A call whose turn has come was validated and gated; it is what `tool_call` said of it from here on. */
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
  /** Of the resolution as it was sent: tells repeats from other requests under the same id. Absent where a remembered rule decided. */
  readonly digest?: string;
  /** Of what was pending: what was approved, or which question was answered. Absent where the wait has no digest. */
  readonly argsDigest?: string;
  /** As stamped by the API or client; absent when it came unstamped. */
  readonly receivedAt?: string;
  /** Present when the call had expired: the model has its result, and this is new input. */
  readonly late?: true;
  /** A worker still has to judge it; a `resolution_reverted` may follow. */
  readonly checked?: false;
  /** The remembered decision that took the place of an approver, who is `actor`; nobody was asked. */
  readonly rule?: {
    readonly ruleId: string;
    readonly name: string;
    readonly executor: Executor;
    readonly detached?: true;
  };
  /** Milliseconds that a client says it took; only results of a batch say so. */
  readonly executionMs?: number;
}

/** A resolution that came as a signal, so that nobody could be told, was not taken. */
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
  /** Of the resolution that is taken back; it may be sent again. */
  readonly requestId: string;
  readonly problems: readonly FieldProblem[];
  /** The run that refused it, where the code of a tool did. */
  readonly run?: number;
}

/** The edit that came with an approval passed its checks: this input runs, under this digest. */
export interface InputEdited {
  readonly type: 'input_edited';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  readonly name: string;
  readonly executor: Executor;
  /** Of the resolution that brought the edit. */
  readonly requestId: string;
  readonly input: Json;
  readonly argsDigest: string;
  /** Of the definition that has judged it. */
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
  /** Present when the call's time in all ran out. */
  readonly limitedBy?: 'total';
  /** Present when nobody had claimed the call; `deadline` is the end of the grace for that. */
  readonly unclaimed?: true;
}

/** Somebody runs the call, for as long as the lease is renewed. A renewal that the store could not keep is recorded, too. */
export interface Claimed {
  readonly type: 'claimed';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  readonly claimId: string;
  /** From `at` of this event. */
  readonly leaseMs: number;
  readonly requestId: string;
  readonly actor: StampedActor;
  readonly renewal?: true;
}

/** The holder has not renewed in time: the call is offered again. */
export interface LeaseLost {
  readonly type: 'lease_lost';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  readonly claimId: string;
  /** Id of the actor who held it. */
  readonly by: string;
}

/** A wait ends soon and nobody has answered; written once for each deadline of tools that declare `warnBefore`. */
export interface SuspensionExpiring {
  readonly type: 'suspension_expiring';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  readonly kind: SuspensionKind;
  readonly deadline: string;
}

/** Somebody moved the deadline of a wait. */
export interface Extended {
  readonly type: 'extended';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  readonly deadline: string;
  readonly previousDeadline: string;
  readonly limitedBy?: 'total';
  /** Where the old deadline had cut the grace short: its end. */
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

/** The tool has shaped the request of a client call; from here on it is what is approved and what the client gets. */
export interface CallPrepared {
  readonly type: 'call_prepared';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  readonly payload: Json;
  /** Digest of the payload; in place of the input's. */
  readonly argsDigest: string;
}

/** A run of a tool that may not be repeated was lost; written where somebody can find out what it did. */
export interface ToolLostEvent {
  readonly type: 'tool_lost';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  /** Which run of the call, from 1. */
  readonly run: number;
  readonly reason: string;
}

/** The tool has said what its lost run did: its result follows, it runs again, or nobody knows. */
export interface ToolReconciledEvent {
  readonly type: 'tool_reconciled';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  readonly run: number;
  readonly outcome: 'happened' | 'not_happened' | 'unknown';
  /** Why it is unknown. */
  readonly reason?: string;
}

/** The code of a server tool has asked a question: its run has ended, and the answer enters it again. */
export interface ToolAskedEvent {
  readonly type: 'tool_asked';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  /** Which run of the call asked, from 1. */
  readonly run: number;
  /** Which question of the call it is, from 1. */
  readonly ask: number;
  /** Tells this question from any other of the call. */
  readonly argsDigest: string;
  readonly question: Question;
  /** The form has patterns and the like, which a worker checks. */
  readonly recheck?: true;
}

/** A worker has checked the answer to such a question by all of its form. */
export interface AnswerChecked {
  readonly type: 'answer_checked';
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  readonly requestId: string;
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
  | DefinitionChanged
  | InputMigrated
  | SuspensionChanged;

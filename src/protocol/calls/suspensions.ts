/** Suspensions: one primitive for every call that waits for input from outside. Runs anywhere. */

import type { Audience } from '../values/audience.js';
import type { FieldProblem } from '../values/field-problem.js';
import type { ToolCallId, TurnId } from '../values/ids.js';
import type { Json, JsonSchema } from '../values/json.js';
import type { Executor, OutsideWait, ToolLabels } from './executors.js';

/** `outcome`: a run that may not be repeated was lost with its outcome unknown; an operator reports it. */
export type SuspensionKind = 'approval' | OutsideWait | 'outcome';

export const SUSPENSION_KINDS = [
  'approval',
  'elicitation',
  'client_execution',
  'external_execution',
  'outcome',
] as const satisfies readonly SuspensionKind[];

/** The holder of a call that many clients may see. */
export interface Claim {
  /** Id of the actor. */
  readonly by: string;
  readonly claimId: string;
  /** ISO 8601; when the call was claimed first. */
  readonly at: string;
  readonly leaseMs: number;
  /** ISO 8601, as recorded. Renewals are kept in the store, and readers of the store get the renewed time. */
  readonly leaseUntil: string;
  /** Sequence number of the event that recorded the claim last. */
  readonly seq: number;
}

/** An open wait. Deadlines are absolute, so kills and roll-overs do not change them. */
export interface Suspension extends ToolLabels {
  readonly toolCallId: ToolCallId;
  readonly turnId: TurnId;
  readonly name: string;
  readonly executor: Executor;
  readonly kind: SuspensionKind;
  /** The value shown to the actor who resolves the call: the validated input, or the payload that a preflight made. */
  readonly prompt: Json;
  /** The policy's reason for the approval; shown to the approver. */
  readonly reason?: string;
  /** Shape of the answer; absent for approvals. */
  readonly answerSchema?: JsonSchema;
  /** Audience of the resolution; absent = every actor. */
  readonly audience?: Audience;
  /** Digest of the prompt; for a question of a server tool, of its form, state and place. */
  readonly argsDigest?: string;
  /** The prompt was different before: the answer must name `argsDigest`, so that it cannot be meant for the old one. */
  readonly revised?: true;
  /**
   * Digest of the tool's definition by which answers are judged. Absent for approvals, and for questions of a tool's
   * code.
   */
  readonly definition?: string;
  /**
   * Number of the question within its call, from 1, when the code of a server tool asks it. From the second on the
   * answer must name `argsDigest`.
   */
  readonly ask?: number;
  /** ISO 8601. */
  readonly openedAt: string;
  /** ISO 8601. */
  readonly deadline: string;
  /** ISO 8601. The wait ends here unless the call is claimed before; absent once it is claimed. */
  readonly claimBy?: string;
  /** Present while the call is held: only the holder's result is accepted. */
  readonly claim?: Claim;
  /** The tool declares that the client or backend that runs it may report progress. */
  readonly streaming?: true;
  /** Present when no turn waits for the call: its result is new input. */
  readonly detached?: true;
  /** Why a worker's check reverted the answer before; the request id of that answer may be used again. */
  readonly reverted?: { readonly requestId: string; readonly problems: readonly FieldProblem[] };
  /** The conversation of the sub-agent that runs the call, and alone may resolve it. */
  readonly childId?: string;
  /** The agent that made the call, which has passed the conversation on since. Absent: the conversation's own. */
  readonly agent?: string;
  /** Present when the call's total time ends this wait, not the wait's own time-out. */
  readonly limitedBy?: 'total';
}

/** An open suspension as readers list it: with the opaque ref by which it is resolved. */
export interface PendingCall extends Suspension {
  readonly ref: string;
}

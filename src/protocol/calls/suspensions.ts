/** Suspensions: one primitive for every call that waits for somebody outside. Runs anywhere. */

import type { Audience } from '../values/audience.js';
import type { FieldProblem } from '../values/field-problem.js';
import type { ToolCallId, TurnId } from '../values/ids.js';
import type { Json, JsonSchema } from '../values/json.js';
import type { Executor } from './executors.js';

/** `outcome`: a run that may not be repeated was lost, and nobody knows what it did; an operator finds out. */
export type SuspensionKind =
  | 'approval'
  | 'elicitation'
  | 'client_execution'
  | 'external_execution'
  | 'outcome';

export const SUSPENSION_KINDS = [
  'approval',
  'elicitation',
  'client_execution',
  'external_execution',
  'outcome',
] as const satisfies readonly SuspensionKind[];

/** Who runs a call that many may see. */
export interface Claim {
  /** Id of the actor. */
  readonly by: string;
  readonly claimId: string;
  /** ISO 8601; when it was claimed first. */
  readonly at: string;
  readonly leaseMs: number;
  /** ISO 8601. As recorded: renewals are kept in the store, and readers of the store are shown them. */
  readonly leaseUntil: string;
  /** Sequence number of the event that recorded it last. */
  readonly seq: number;
}

/** A wait that is open now. Deadlines are absolute, so they survive kills and roll-overs as they are. */
export interface Suspension {
  readonly toolCallId: ToolCallId;
  readonly turnId: TurnId;
  readonly name: string;
  readonly executor: Executor;
  readonly kind: SuspensionKind;
  /** What is shown to whoever resolves it: the validated input, or the payload that a preflight shaped. */
  readonly prompt: Json;
  /** Why the policy asks; shown to the approver. */
  readonly reason?: string;
  /** Shape of the answer; absent for approvals. */
  readonly answerSchema?: JsonSchema;
  /** Who may resolve it; absent = anybody. */
  readonly audience?: Audience;
  /** Of what is shown; of a question that a server tool asks, of its form, state and place. */
  readonly argsDigest?: string;
  /** The call was shown in another form before: `argsDigest` must come with the answer, so that it is not meant for that one. */
  readonly revised?: true;
  /** Digest of the definition of the tool by which answers are judged. Absent for approvals, and for questions of a tool's code. */
  readonly definition?: string;
  /** Which question of its call it is, from 1, when the code of a server tool asks it. From the second on `argsDigest` must come with the answer. */
  readonly ask?: number;
  /** ISO 8601. */
  readonly openedAt: string;
  /** ISO 8601. */
  readonly deadline: string;
  /** ISO 8601. The wait ends here unless somebody claims the call before; absent once somebody has. */
  readonly claimBy?: string;
  /** Present while somebody holds the call: only the holder's result is taken. */
  readonly claim?: Claim;
  /** The tool declares that whoever runs it may report progress. */
  readonly streaming?: true;
  /** Present when no turn waits for it: what comes of it is new input. */
  readonly detached?: true;
  /** Why the answer before was taken back, when a worker had judged it; the request id of that answer may be used again. */
  readonly reverted?: { readonly requestId: string; readonly problems: readonly FieldProblem[] };
  /** Present when the call's time in all ends this wait, not the wait's own clock. */
  readonly limitedBy?: 'total';
}

/** An open suspension as readers list it: with the opaque ref that resolves it. */
export interface PendingCall extends Suspension {
  readonly ref: string;
}

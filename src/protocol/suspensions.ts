/** Suspensions: one primitive for every call that waits for somebody outside. Runs anywhere. */
import type { ToolCallId, TurnId } from './ids.js';
import type { Json, JsonSchema } from './json.js';
import type { Audience, Executor } from './tools.js';

/** `outcome`: a run that may not be repeated was lost, and nobody knows what it did; an operator finds out. */
export type SuspensionKind =
  | 'approval'
  | 'elicitation'
  | 'client_execution'
  | 'external_execution'
  | 'outcome';

export const SUSPENSION_KINDS: readonly SuspensionKind[] = [
  'approval',
  'elicitation',
  'client_execution',
  'external_execution',
  'outcome',
];

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
  readonly argsDigest?: string;
  /** ISO 8601. */
  readonly openedAt: string;
  /** ISO 8601. */
  readonly deadline: string;
  /** Present when no turn waits for it: what comes of it is new input. */
  readonly detached?: true;
  /** Present when the call's time in all ends this wait, not the wait's own clock. */
  readonly limitedBy?: 'total';
}

/** An open suspension as readers list it: with the opaque ref that resolves it. */
export interface PendingCall extends Suspension {
  readonly ref: string;
}

/** Resolutions (what is answered) and verdicts (what the answerer is told). Wire format: only ever extended. */
import type { Actor, StampedActor } from '../values/actors.js';
import type { FilePart, ImagePart } from '../values/attachments.js';
import type { FieldProblem } from '../values/field-problem.js';
import type { ToolCallId } from '../values/ids.js';
import type { Json } from '../values/json.js';
import type { QueuedReason } from '../values/trouble.js';
import type { CallStatus, ToolErrorCode } from './results.js';
import type { Remember } from './rules.js';
import type { SuspensionKind } from './suspensions.js';

/**
 * The type implies the kind of suspension that it answers, so a second `approve` can never become the result of the
 * phase that follows an approval.
 */
export type Resolution =
  /** `input` replaces the call's, once a worker has checked it as it did the model's own. */
  | { readonly type: 'approve'; readonly input?: Json; readonly remember?: Remember }
  | { readonly type: 'deny'; readonly reason?: string; readonly remember?: Remember }
  /** `files`: shown to the model beside the value, by reference. Not with answers to what the code of a tool asks. */
  | { readonly type: 'answer'; readonly value: Json; readonly files?: ResultFiles }
  | { readonly type: 'decline'; readonly reason?: string }
  | { readonly type: 'result'; readonly value: Json; readonly files?: ResultFiles }
  | { readonly type: 'error'; readonly message: string }
  /** What a lost run did, as an operator found out; exactly one of both: its result, or how it failed. */
  | { readonly type: 'outcome'; readonly value?: Json; readonly error?: string };

/** At most 16: stored values of the conversation, addresses, or ids at the model's provider; never bytes. */
export type ResultFiles = readonly (ImagePart | FilePart)[];

export type ResolutionType = Resolution['type'];

/** Which kinds of suspension a resolution may answer. */
export const RESOLVES: Readonly<Record<ResolutionType, readonly SuspensionKind[]>> = {
  approve: ['approval'],
  deny: ['approval'],
  answer: ['elicitation'],
  decline: ['elicitation'],
  result: ['client_execution', 'external_execution'],
  error: ['client_execution', 'external_execution'],
  outcome: ['outcome'],
};

/** Payload of `resolveToolCall`, as update and as signal. */
export interface ResolveToolCallInput {
  readonly toolCallId: ToolCallId;
  readonly resolution: Resolution;
  /**
   * Minted by the client before its first try; repeats of one try answer `duplicate`. Names one resolution of the call: another one
   * under it is `invalid`. A signal without one gets a digest.
   */
  readonly requestId?: string;
  /** When given, must equal the digest of what is pending: guards against approving what has changed. */
  readonly argsDigest?: string;
  /** Of a result: the claim under which the call was run. Needed while the call is held. */
  readonly claimId?: string;
  readonly actor?: Actor | StampedActor;
  /** ISO 8601, stamped by the API or client when the answer came in; lateness is judged by it. */
  readonly receivedAt?: string;
}

/**
 * The one synchronous answer to a resolution, in order of precedence.
 *
 * | verdict | when | recorded |
 * |---|---|---|
 * | `unknown` | no such conversation or call | nothing |
 * | `duplicate` | this request was accepted before under its `requestId`; carries that verdict | nothing |
 * | `forbidden` | the actor is outside the audience | nothing |
 * | `stale` | already resolved, a type of another kind, or a result of somebody else than the holder | nothing |
 * | `expired` | past the deadline | nothing |
 * | `invalid` | wrong shape, schema violation, digest mismatch; the call stays open. Also, in the place of `duplicate`, another resolution under a `requestId` that the call knows | nothing |
 * | `accepted` | the first valid resolution | `resolution` |
 * | `accepted_late` | after expiry, where late results are taken | `resolution` |
 * | `queued` | not confirmed in time; sent as a signal | later, by the workflow |
 */
export type Verdict =
  | { readonly verdict: 'unknown'; readonly what: 'conversation' | 'tool_call' }
  | { readonly verdict: 'duplicate'; readonly first: AcceptedVerdict }
  | { readonly verdict: 'forbidden'; readonly reason: string }
  | {
      readonly verdict: 'stale';
      readonly why: 'already_resolved' | 'other_kind' | 'not_holder';
      readonly status: CallStatus;
      readonly by?: string;
      readonly at?: string;
      /** The kind that is open now, when the resolution was of another. */
      readonly openKind?: SuspensionKind;
      /** The error that ended the call, where no answer did: its tool was changed, or is gone. */
      readonly code?: ToolErrorCode;
    }
  | { readonly verdict: 'expired'; readonly deadline: string }
  | { readonly verdict: 'invalid'; readonly problems: readonly FieldProblem[] }
  | AcceptedVerdict
  | {
      readonly verdict: 'queued';
      readonly requestId: string;
      /** Absent where the time to wait for a verdict was up. */
      readonly reason?: QueuedReason;
    };

export interface AcceptedVerdict {
  readonly verdict: 'accepted' | 'accepted_late';
  readonly toolCallId: ToolCallId;
  /** Sequence number of the recorded resolution. */
  readonly seq: number;
  /**
   * Taken, and not judged by all of its rules: a worker still has to (patterns, formats, refinements, the tool's own code, policies of an edit).
   * What does not pass is taken back, and the call is open again with the reasons (`reverted` in `pending`; `final()` answers `invalid`).
   */
  readonly checked?: false;
}

export function isAccepted(verdict: Verdict): verdict is AcceptedVerdict {
  return verdict.verdict === 'accepted' || verdict.verdict === 'accepted_late';
}

export type VerdictName = Verdict['verdict'];

/** Order in which verdicts are considered; the first that applies is given. */
export const VERDICT_PRECEDENCE: readonly VerdictName[] = [
  'unknown',
  'duplicate',
  'forbidden',
  'stale',
  'expired',
  'invalid',
  'accepted',
  'accepted_late',
  'queued',
];

export const VERDICT_HTTP_STATUS: Readonly<Record<VerdictName, number>> = {
  unknown: 404,
  duplicate: 200,
  forbidden: 403,
  stale: 409,
  expired: 410,
  invalid: 422,
  accepted: 200,
  accepted_late: 200,
  queued: 202,
};

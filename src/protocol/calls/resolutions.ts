/** Resolutions (answers to waiting calls) and verdicts (replies to those). Wire format: only ever extended. */
import type { Actor, StampedActor } from '../values/actors.js';
import type { FilePart, ImagePart } from '../values/attachments.js';
import type { FieldProblem } from '../values/field-problem.js';
import type { ToolCallId } from '../values/ids.js';
import { canonicalJson, fingerprint, type Json } from '../values/json.js';
import type { QueuedReason } from '../values/trouble.js';
import type { CallStatus, ToolErrorCode } from './results.js';
import type { Remember } from './rules.js';
import type { SuspensionKind } from './suspensions.js';

/**
 * The type implies the kind of suspension that it answers, so a second `approve` can never become the result of the
 * phase that follows an approval.
 */
export type Resolution =
  /** `input` replaces the call's input, once a worker has checked it as it checked the model's own. */
  | { readonly type: 'approve'; readonly input?: Json; readonly remember?: Remember }
  | { readonly type: 'deny'; readonly reason?: string; readonly remember?: Remember }
  /**
   * `files`: shown to the model beside the value, by reference. Not allowed in answers to questions of a tool's code.
   */
  | { readonly type: 'answer'; readonly value: Json; readonly files?: ResultFiles }
  | { readonly type: 'decline'; readonly reason?: string }
  | { readonly type: 'result'; readonly value: Json; readonly files?: ResultFiles }
  | { readonly type: 'error'; readonly message: string }
  /**
   * The outcome of a lost run, as an operator found it; exactly one of `value` (its result) and `error` (its failure).
   */
  | { readonly type: 'outcome'; readonly value?: Json; readonly error?: string };

/** At most 16 references: stored values of the conversation, addresses, or ids at the model's provider; never bytes. */
export type ResultFiles = readonly (ImagePart | FilePart)[];

export type ResolutionType = Resolution['type'];

/** The kinds of suspension that a type of resolution may answer. */
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
   * Minted by the client before its first try; repeats of one try answer `duplicate`. Names one resolution of the call:
   * a different one under the same id is `invalid`. A signal without one gets a digest.
   */
  readonly requestId?: string;
  /** When given, must equal the digest of the pending suspension: guards against approving changed input. */
  readonly argsDigest?: string;
  /** Present in a result: the claim under which the call was run. Needed while the call is held. */
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
 * | `stale` | already resolved, a type of another kind, or a result from another client than the holder | nothing |
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
      /** The error that ended the call without an answer: its tool was changed, or is gone. */
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
   * Present when a worker still has to check the rest of the rules (patterns, formats, refinements, the tool's own
   * code, policies of an edit). A resolution that fails them is reverted, and the call is open again with the reasons
   * (`reverted` in `pending`; `final()` answers `invalid`).
   */
  readonly checked?: false;
}

/**
 * Digest of the content of a resolution. The `argsDigest` is not part of it: it says which state of the call the
 * resolution is meant for, and is compared separately where the request has one.
 */
export function resolutionDigest(resolution: unknown): string {
  return fingerprint(canonicalJson(resolution));
}

export function isAccepted(verdict: Verdict): verdict is AcceptedVerdict {
  return verdict.verdict === 'accepted' || verdict.verdict === 'accepted_late';
}

export type VerdictName = Verdict['verdict'];

/** Order in which verdicts are considered; the first that applies is returned. */
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

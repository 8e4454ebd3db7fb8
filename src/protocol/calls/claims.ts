/**
 * Claims: of the many who may see a call that waits for a client or another backend, one says that it runs it, for as long as
 * it renews its lease. Wire format: only ever extended.
 */
import type { Actor, StampedActor } from '../values/actors.js';
import type { ToolCallId } from '../values/ids.js';
import type { Verdict } from './resolutions.js';
import type { CallStatus } from './results.js';

/** Payload of the update `claimToolCall`. */
export interface ClaimToolCallInput {
  readonly toolCallId: ToolCallId;
  /** How long the claim lasts unless it is renewed, in milliseconds. @defaultValue 5 minutes */
  readonly leaseMs?: number;
  /** Of the claim that is renewed. */
  readonly claimId?: string;
  /** Refused as `not_holder` when the lease has been lost: a report of progress must not claim a call anew. @defaultValue false */
  readonly renewOnly?: boolean;
  /** Minted by the client before its first try; a repeat answers `duplicate`. */
  readonly requestId?: string;
  readonly actor?: Actor | StampedActor;
  /** ISO 8601, stamped by the API or client when the claim came in. */
  readonly receivedAt?: string;
}

export interface ClaimedVerdict {
  readonly verdict: 'accepted';
  readonly toolCallId: ToolCallId;
  /** To be presented with renewals, progress and the result; it names the claim and is no secret. */
  readonly claimId: string;
  /** ISO 8601. After this, unless it is renewed before, the call is offered again. */
  readonly leaseUntil: string;
  /** Sequence number of the recorded claim. Absent when a lease was renewed in the store: nothing was recorded. */
  readonly seq?: number;
}

/** Somebody else holds the call. */
export interface HeldVerdict {
  readonly verdict: 'stale';
  readonly why: 'held';
  readonly status: CallStatus;
  readonly by: string;
  readonly at: string;
  /** ISO 8601; as far as it is known: the holder may have renewed since. */
  readonly until: string;
}

/** In the order of precedence of the verdicts on resolutions. Refusals record nothing. */
export type ClaimVerdict =
  | Extract<Verdict, { verdict: 'unknown' | 'forbidden' | 'stale' | 'expired' | 'invalid' }>
  | HeldVerdict
  /** What the first try was told; that lease may be over. */
  | { readonly verdict: 'duplicate'; readonly first: ClaimedVerdict }
  | ClaimedVerdict;

/** Payload of the update `leaseLost`: what the watch of leases saw. */
export interface LeaseLostInput {
  readonly toolCallId: ToolCallId;
  readonly claimId: string;
  /** Of the newest `claimed` that the watch knew of; one that is newer wins. */
  readonly seq: number;
}

export interface LeaseLostReply {
  readonly lost: true;
  /** Sequence number of the recorded loss. */
  readonly seq: number;
}

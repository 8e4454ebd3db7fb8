/**
 * Claims: one client or backend of the many that may see a waiting call claims it, and holds it for as long as it
 * renews its lease. Wire format: only ever extended.
 */
import type { Actor, StampedActor } from '../values/actors.js';
import type { ConversationId, ToolCallId } from '../values/ids.js';
import type { Verdict } from './resolutions.js';
import type { CallStatus } from './results.js';
import type { PendingCall } from './suspensions.js';

/** A call that waits for a client or backend, and that none of them holds. */
export interface ToolOffer
  extends Pick<
    PendingCall,
    | 'ref'
    | 'toolCallId'
    | 'turnId'
    | 'argsDigest'
    | 'openedAt'
    | 'deadline'
    | 'claimBy'
    | 'streaming'
    | 'detached'
    | 'reverted'
  > {
  readonly conversationId: ConversationId;
  /** The agent that made the call. */
  readonly agent: string;
  readonly tool: string;
  readonly executor: 'client' | 'external';
  /** The validated input, or the payload that a preflight made. */
  readonly input: PendingCall['prompt'];
  /** 1 + how often the call was claimed since it waits: each of those claims lapsed. */
  readonly attempt: number;
}

/** An offer that is over. */
export interface OfferGone
  extends Pick<ToolOffer, 'conversationId' | 'ref' | 'tool' | 'toolCallId'> {
  /** Another client holds the call, or the call no longer waits. */
  readonly why: 'claimed' | 'ended';
}

/** Payload of the update `claimToolCall`. */
export interface ClaimToolCallInput {
  readonly toolCallId: ToolCallId;
  /** Milliseconds that the claim lasts unless it is renewed. @defaultValue 5 minutes */
  readonly leaseMs?: number;
  /** Id of the claim that is renewed. Absent: the call is claimed anew. */
  readonly claimId?: string;
  /**
   * Refuses with `not_holder` when the lease has been lost, so that a report of progress never claims a call anew.
   * @defaultValue false
   */
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
  /** Id of the claim, to be sent with renewals, progress and the result. No secret. */
  readonly claimId: string;
  /** ISO 8601. After this, unless the lease is renewed, the call can be claimed again. */
  readonly leaseUntil: string;
  /** Sequence number of the recorded claim. Absent when a lease was renewed in the store: nothing was recorded. */
  readonly seq?: number;
}

/** Another actor holds the call. */
export interface HeldVerdict {
  readonly verdict: 'stale';
  readonly why: 'held';
  readonly status: CallStatus;
  readonly by: string;
  readonly at: string;
  /** ISO 8601. As far as known: the holder may have renewed since. */
  readonly until: string;
}

/** In the order of precedence of the verdicts on resolutions. Refusals record nothing. */
export type ClaimVerdict =
  | Extract<Verdict, { verdict: 'unknown' | 'forbidden' | 'stale' | 'expired' | 'invalid' }>
  | HeldVerdict
  /** `first`: the verdict of the first try, whose lease may be over. */
  | { readonly verdict: 'duplicate'; readonly first: ClaimedVerdict }
  | ClaimedVerdict;

/** Payload of the update `leaseLost`, sent by the watch of leases. */
export interface LeaseLostInput {
  readonly toolCallId: ToolCallId;
  readonly claimId: string;
  /** Sequence number of the newest `claimed` known to the watch; a newer claim keeps the call. */
  readonly seq: number;
}

export interface LeaseLostReply {
  readonly lost: true;
  /** Sequence number of the recorded loss. */
  readonly seq: number;
}

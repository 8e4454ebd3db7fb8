/** Claims a waiting call, and renews the lease of a claim. Never starts a workflow. */
import { randomUUID } from 'node:crypto';
import type { ClaimToolCallInput, ClaimVerdict } from '../../protocol/calls/claims.js';
import { VERDICT_HTTP_STATUS } from '../../protocol/calls/resolutions.js';
import { MAX_LEASE_MS, MIN_LEASE_MS } from '../../protocol/limits/limits.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import type { Duration } from '../../protocol/values/durations.js';
import type { CallRef } from '../../protocol/values/ids.js';
import type { ClaimOptions, ClaimOutcome, ResolveTarget } from '../api/call-types.js';
import { checkedMs, checkRequestId } from '../api/checks.js';
import { invalidField } from '../api/errors.js';
import type { LeasesPort } from '../ports/leases.js';
import { updateCall } from './call-update.js';
import { withoutOwnDuplicate } from './duplicates.js';
import type { RecentRenewals } from './lease-cache.js';
import type { ResolveParts } from './resolve.js';
import { callOf, isNoCall } from './target.js';

export interface ClaimParts extends ResolveParts {
  readonly leases: LeasesPort | undefined;
  readonly renewals: RecentRenewals;
}

/**
 * | verdict | what it means |
 * |---|---|
 * | `accepted` | the call is yours until `leaseUntil`; renew before, with the `claimId` |
 * | `duplicate` | `first` is the verdict on your first try; if the client has the store's leases, the lease is renewed,
 * and `leaseUntil` is its end. Otherwise the lease may be over: renew with its `claimId` to be sure |
 * | `stale` | another actor holds it (`why: 'held'`), or the call no longer waits |
 * | `expired`, `forbidden`, `unknown`, `invalid` | as for resolutions |
 *
 * With a `claimId` the call is a renewal. If the client has the store's leases, it updates a row and is recorded
 * nowhere; without them, or when the store does not have the claim, it is an update and costs history. Safe to repeat
 * with the same `requestId`.
 * @throws {ConversationError} invalid_request; store_unavailable; no_worker when no worker confirmed: the server may still
 *   pass the request to the next worker, so repeat it with the same `requestId`
 */
export async function claimCall(
  parts: ClaimParts,
  target: ResolveTarget,
  options: ClaimOptions = {},
): Promise<ClaimOutcome> {
  const receivedAt = options.receivedAt ?? new Date().toISOString();
  const requestId = checkRequestId(options.requestId ?? randomUUID());
  const actor = parts.stamp(options.actor);
  const ref = callOf(target, parts.tenant);
  const said = (verdict: ClaimVerdict): ClaimOutcome => ({
    ...withoutOwnDuplicate(verdict, options.requestId),
    httpStatus: VERDICT_HTTP_STATUS[verdict.verdict],
    requestId,
  });
  if (isNoCall(ref)) return said(ref);
  const { lease, claimId, renewOnly } = options;
  if (renewOnly === true && claimId === undefined)
    throw invalidField('/renewOnly', 'needs the claimId of the claim to renew');
  const leaseMs = lease === undefined ? undefined : checkedLease(lease);
  const asked = {
    ...(claimId === undefined ? {} : { claimId }),
    ...(renewOnly === true ? { renewOnly } : {}),
    ...leaseField(leaseMs),
  };
  const renewed = await renewInStore(parts, ref, { ...asked, actor });
  if (renewed !== undefined) return said(renewed);
  const verdict = await claimOf(parts, ref, { requestId, actor, receivedAt, ...asked });
  if (verdict.verdict !== 'duplicate') return said(verdict);
  // The lease of the first try may have ended long ago: a repeated claim renews it.
  const { first } = verdict;
  const anew = await renewInStore(parts, ref, {
    claimId: first.claimId,
    ...leaseField(leaseMs),
    actor,
  });
  const leaseUntil = anew?.verdict === 'accepted' ? anew.leaseUntil : first.leaseUntil;
  return said({ verdict: 'duplicate', first: { ...first, leaseUntil } });
}

function checkedLease(lease: Duration): number {
  const leaseMs = Math.round(checkedMs('lease', lease));
  if (leaseMs >= MIN_LEASE_MS && leaseMs <= MAX_LEASE_MS) return leaseMs;
  throw invalidField('/lease', `must be from ${MIN_LEASE_MS} ms to ${MAX_LEASE_MS} ms`);
}

function leaseField(leaseMs: number | undefined): { leaseMs?: number } {
  return leaseMs === undefined ? {} : { leaseMs };
}

/** Undefined if only the workflow can decide. */
export async function renewInStore(
  { leases, gateway }: ClaimParts,
  call: CallRef,
  asked: { readonly claimId?: string; readonly leaseMs?: number; readonly actor: StampedActor },
): Promise<ClaimVerdict | undefined> {
  const { claimId, leaseMs, actor } = asked;
  if (claimId === undefined || leases === undefined) return undefined;
  try {
    const leaseUntil = await leases.renew({
      call,
      claimId,
      holder: actor.id,
      ...leaseField(leaseMs),
    });
    if (leaseUntil === undefined) return undefined;
    return { verdict: 'accepted', toolCallId: call.toolCallId, claimId, leaseUntil };
  } catch (error) {
    throw gateway.toConversationError(error);
  }
}

/** Claims by update. Notes the seq of the reply, so that later reads show the claim. */
export async function claimOf(
  parts: ClaimParts,
  ref: CallRef,
  asked: Omit<ClaimToolCallInput, 'toolCallId'> & {
    readonly requestId: string;
    readonly actor: StampedActor;
  },
): Promise<ClaimVerdict> {
  const input = { toolCallId: ref.toolCallId, ...asked };
  const verdict = await updateCall<ClaimVerdict, 'claimToolCall'>(parts, ref, {
    operation: 'claimToolCall',
    input,
    unconfirmed: 'The claim was not confirmed, and may still count',
  });
  if (verdict.verdict === 'accepted') parts.known.note(ref, verdict.seq);
  if (verdict.verdict === 'duplicate') parts.known.note(ref, verdict.first.seq);
  return verdict;
}

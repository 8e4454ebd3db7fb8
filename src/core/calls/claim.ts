/**
 * The effect of a claim on its suspension: holder, end of an unclaimed wait, and the fields for readers. Pure.
 *
 * L1  The holder presents the claim's id *and* is the actor that claimed: two tabs of one user are two clients.
 * L2  The first claim ends the claim timeout for good; a lost lease does not bring it back.
 */

import type { ClientCallWait } from '../../protocol/calls/batches.js';
import type { Claim, Suspension, SuspensionKind } from '../../protocol/calls/suspensions.js';
import { MAX_LEASE_MS } from '../../protocol/limits/limits.js';
import type { Claimed, Extended } from '../../protocol/log/events.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import type { CallState } from '../state/calls.js';
import { isoOf } from '../state/time.js';
import type { Stamped } from '../state/update.js';
import { needsPreflight } from './preflight.js';

/** Suspensions that programs answer; those for people cannot be claimed. */
export const CLAIMABLE: readonly SuspensionKind[] = ['client_execution', 'external_execution'];

export interface Presented {
  readonly actor: StampedActor;
  readonly claimId: unknown;
}

/** Whether another client holds the call. */
export function isHeldByOther({ claim }: Suspension, { actor, claimId }: Presented): boolean {
  return claim !== undefined && !(claim.claimId === claimId && claim.by === actor.id);
}

/**
 * When the wait ends in this state: at the end of the claim timeout while the call is unclaimed, otherwise at the
 * deadline.
 */
export function endOfWait({ claimBy, deadline }: Suspension): string {
  return claimBy ?? deadline;
}

/**
 * End of the claim timeout of a suspension that opens now. None for one that opens again: a client has answered it
 * before.
 */
export function claimTimeoutOf(
  call: CallState,
  wait: { readonly kind: SuspensionKind; readonly deadline: string; readonly nowMs: number },
): Pick<Suspension, 'claimBy'> {
  const { claimMs } = call.plan.timeouts;
  if (claimMs === undefined || call.reopenUntil !== undefined || !CLAIMABLE.includes(wait.kind))
    return {};
  const endMs = Math.min(wait.nowMs + Math.max(0, claimMs), Date.parse(wait.deadline));
  return Number.isFinite(endMs) ? { claimBy: isoOf(endMs) } : {};
}

/**
 * The claim timeout after the deadline has moved. The timeout is independent of the deadline: it ends later only where
 * the old deadline had cut it short.
 */
export function claimDeadlineAfter(
  call: CallState,
  { kind, openedAt, claimBy }: Suspension,
  deadline: string,
): Pick<Suspension, 'claimBy'> {
  if (claimBy === undefined) return {};
  const timeout = claimTimeoutOf(call, { kind, deadline, nowMs: Date.parse(openedAt) });
  return timeout.claimBy === claimBy ? {} : timeout;
}

export function withMovedEnd<Wait extends Suspension>(wait: Wait, event: Extended): Wait {
  const { limitedBy: _before, ...rest } = wait;
  const { deadline, limitedBy, claimBy } = event;
  const end = {
    deadline,
    ...(limitedBy === undefined ? {} : { limitedBy }),
    ...(claimBy === undefined ? {} : { claimBy }),
  };
  return { ...rest, ...end } as Suspension as Wait;
}

/** End of the lease as recorded; renewals are known to the store only. */
export function leaseUntilOf({ at, leaseMs }: Stamped<Claimed>): string {
  return isoOf(Date.parse(at) + Math.min(leaseMs, MAX_LEASE_MS));
}

export function withClaim<Wait extends Suspension>(wait: Wait, event: Stamped<Claimed>): Wait {
  const { claimBy: _over, ...rest } = wait;
  const { claimId, actor, leaseMs, seq } = event;
  const at = wait.claim?.claimId === claimId ? wait.claim.at : event.at;
  const leaseUntil = leaseUntilOf(event);
  const claim: Claim = { by: actor.id, claimId, at, leaseMs, leaseUntil, seq };
  return { ...rest, claim } as Suspension as Wait;
}

export function withoutClaim<Wait extends Suspension>(wait: Wait): Wait {
  const { claim: _lost, ...rest } = wait;
  return rest as Suspension as Wait;
}

/**
 * The wait that a client call of the running step is in; undefined when the client has nothing to do for it, now or
 * later.
 */
export function clientWait(call: CallState): ClientCallWait | undefined {
  const { plan, result, answer, background, suspension } = call;
  if (plan.executor !== 'client' || plan.error !== undefined || plan.unplanned !== undefined)
    return undefined;
  if (result !== undefined || answer !== undefined || background !== undefined) return undefined;
  if (suspension?.kind === 'client_execution') return 'client';
  return needsPreflight(call) ? 'preflight' : 'approval';
}

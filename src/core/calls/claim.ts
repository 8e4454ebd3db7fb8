/**
 * What a claim means for the wait that it is on: who is the holder, when an unclaimed wait ends, how it looks to readers. Pure.
 *
 * L1  The holder is whoever presents the claim's id *and* is the actor who claimed: two tabs of one user are two.
 * L2  The first claim ends the grace for good; a lost lease does not bring it back.
 */

import type { ClientCallWait } from '../../protocol/calls/batches.js';
import type { Claim, Suspension, SuspensionKind } from '../../protocol/calls/suspensions.js';
import { MAX_LEASE_MS } from '../../protocol/limits/limits.js';
import type { Claimed, Extended } from '../../protocol/log/events.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import type { CallState } from '../state/state.js';
import { isoOf } from '../state/time.js';
import type { Stamped } from '../state/update.js';
import { needsPreflight } from './preflight.js';

/** The waits for programs; people are not claimed. */
export const CLAIMABLE: readonly SuspensionKind[] = ['client_execution', 'external_execution'];

export interface Presented {
  readonly actor: StampedActor;
  readonly claimId: unknown;
}

/** Whether somebody else holds the call. */
export function isHeldByOther({ claim }: Suspension, { actor, claimId }: Presented): boolean {
  return claim !== undefined && !(claim.claimId === claimId && claim.by === actor.id);
}

/** When the wait ends as things stand: nobody has claimed it, or it is over. */
export function endOfWait({ claimBy, deadline }: Suspension): string {
  return claimBy ?? deadline;
}

/** The end of the grace of a wait that opens now. One that opens again had somebody already. */
export function graceOf(
  call: CallState,
  wait: { readonly kind: SuspensionKind; readonly deadline: string; readonly nowMs: number },
): Pick<Suspension, 'claimBy'> {
  const { claimMs } = call.plan.timeouts;
  if (claimMs === undefined || call.reopenUntil !== undefined || !CLAIMABLE.includes(wait.kind))
    return {};
  const endMs = Math.min(wait.nowMs + Math.max(0, claimMs), Date.parse(wait.deadline));
  return Number.isFinite(endMs) ? { claimBy: isoOf(endMs) } : {};
}

/** The grace once the deadline has moved: it is a clock of its own, and only where the deadline had cut it short does it end later. */
export function graceAfter(call: CallState, deadline: string): Pick<Suspension, 'claimBy'> {
  const { suspension } = call;
  if (suspension?.claimBy === undefined) return {};
  const { kind, openedAt, claimBy } = suspension;
  const grace = graceOf(call, { kind, deadline, nowMs: Date.parse(openedAt) });
  return grace.claimBy === claimBy ? {} : grace;
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

/** As recorded; the store knows of renewals. */
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

/** What a client call of the running step waits for; undefined when nobody waits for the client, now or later. */
export function clientWait(call: CallState): ClientCallWait | undefined {
  const { plan, result, answer, aside, suspension } = call;
  if (plan.executor !== 'client' || plan.error !== undefined || plan.unplanned !== undefined)
    return undefined;
  if (result !== undefined || answer !== undefined || aside !== undefined) return undefined;
  if (suspension?.kind === 'client_execution') return 'client';
  return needsPreflight(call) ? 'preflight' : 'approval';
}

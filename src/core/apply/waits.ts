/**
 * Folds the events of open suspensions: extended, about to expire, claimed, lease lost, input edited. See `apply.ts`
 * for the invariants.
 */

import type { ClaimedVerdict } from '../../protocol/calls/claims.js';
import type {
  Claimed,
  Extended,
  InputEdited,
  LeaseLost,
  SuspensionExpiring,
} from '../../protocol/log/events.js';
import { canonicalJson } from '../../protocol/values/json.js';
import { leaseUntilOf, withClaim, withMovedEnd, withoutClaim } from '../calls/claim.js';
import { requestKey } from '../state/requests.js';
import type { ConversationState } from '../state/state.js';
import type { Stamped } from '../state/update.js';
import { remember, withCall } from '../state/update.js';

export function extended(state: ConversationState, event: Stamped<Extended>): ConversationState {
  const { toolCallId, deadline, previousDeadline, requestId, seq } = event;
  const next = withCall(state, toolCallId, (call) =>
    call.suspension === undefined
      ? call
      : { ...call, suspension: withMovedEnd(call.suspension, event) },
  );
  const key = requestKey(requestId, toolCallId);
  return remember(next, { operation: 'extend', key, deadline, previousDeadline, seq });
}

export function expiring(state: ConversationState, event: SuspensionExpiring): ConversationState {
  return withCall(state, event.toolCallId, (call) => ({ ...call, warned: event.deadline }));
}

/** Folds a claim or its renewal. */
export function claimed(state: ConversationState, event: Stamped<Claimed>): ConversationState {
  const { toolCallId, requestId, claimId, actor, seq } = event;
  const next = withCall(state, toolCallId, (call) =>
    call.suspension === undefined
      ? call
      : { ...call, suspension: withClaim(call.suspension, event) },
  );
  // A renewal is not remembered: repeating it is harmless, and a call that is held for long must not displace the
  // requests of others.
  if (event.renewal === true) return next;
  const key = requestKey(requestId, toolCallId, actor.id);
  return remember(next, { operation: 'claim', key, claimId, leaseUntil: leaseUntilOf(event), seq });
}

export function claimedReply(event: Stamped<Claimed>): ClaimedVerdict {
  const { toolCallId, claimId, seq } = event;
  return { verdict: 'accepted', toolCallId, claimId, leaseUntil: leaseUntilOf(event), seq };
}

/** Folds the loss of a lease: the call is offered again. */
export function leaseWasLost(state: ConversationState, event: LeaseLost): ConversationState {
  return withCall(state, event.toolCallId, (call) =>
    call.suspension === undefined ? call : { ...call, suspension: withoutClaim(call.suspension) },
  );
}

/** Replaces the input of the call by the edited one. */
export function inputEdited(
  state: ConversationState,
  event: InputEdited & { readonly seq: number },
): ConversationState {
  const { input, argsDigest, definition, seq } = event;
  // The edit was just judged by the present definition, so the definition need not be checked again.
  return withCall(state, event.toolCallId, ({ edit, gateWaited: _judged, ...call }) => {
    const { raw: _before, ...plan } = call.plan;
    const given = edit?.input ?? input;
    const raw = canonicalJson(given) === canonicalJson(input) ? {} : { raw: given };
    const judgedBy = definition === undefined ? {} : { definition };
    return {
      ...call,
      plan: { ...plan, input, argsDigest, ...raw, ...judgedBy },
      since: seq,
      ...(edit === undefined ? {} : { approver: edit.actor }),
    };
  });
}

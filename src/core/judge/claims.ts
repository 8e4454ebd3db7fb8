/** Reads and judges claims of waiting calls, and losses of claims. Pure; never throws. */
import type { ClaimVerdict, HeldVerdict } from '../../protocol/calls/claims.js';
import type { Verdict } from '../../protocol/calls/resolutions.js';
import {
  DEFAULT_LEASE_MS,
  LATE_TOLERANCE_MS,
  MAX_LEASE_MS,
  MIN_LEASE_MS,
} from '../../protocol/limits/limits.js';
import type { Claimed, LeaseLost } from '../../protocol/log/events.js';
import { fingerprint } from '../../protocol/values/json.js';
import { subAgentReason } from '../calls/audience.js';
import { CLAIMABLE, endOfWait, isHeldByOther } from '../calls/claim.js';
import type { PlainRecord } from '../input/plain-input.js';
import { rememberedClaim } from '../memory/memory.js';
import type { ConversationState } from '../state/state.js';
import { callOf } from '../state/state.js';
import { stampedMs } from '../state/time.js';
import { type AtCall, type CallRequest, type CallRules, judgeCall, requestIdOf } from './calls.js';
import type { Judged } from './judged.js';

export type ClaimRefusal = Exclude<ClaimVerdict, { verdict: 'accepted' }>;

export function judgeClaim(
  state: ConversationState,
  request: CallRequest,
  nowMs: number,
): Judged<Claimed, ClaimRefusal> {
  return judgeCall(RULES, state, { request, nowMs });
}

const RULES: CallRules<CallRequest, Claimed, ClaimRefusal> = {
  repeated: (state, { toolCallId, actor, fields }, call) => {
    const first = rememberedClaim(state, fields['requestId'], { toolCallId, actor: actor.id });
    const suspension = call?.suspension;
    // A lost claim is not returned again: its holder would take the call for its own, although another client may hold
    // it by now.
    const isOver = suspension !== undefined && suspension.claim?.claimId !== first?.claimId;
    return first === undefined || isOver ? undefined : { verdict: 'duplicate', first };
  },
  refusal: (at) => {
    const { subAgent } = at.call.plan;
    if (subAgent !== undefined && at.suspension.kind === 'external_execution')
      return { verdict: 'forbidden', reason: subAgentReason(subAgent) };
    return staleFor(at) ?? tooLate(at);
  },
  problems: ({ request: { fields } }) => {
    const { leaseMs } = fields;
    const isWhole = typeof leaseMs === 'number' && Number.isSafeInteger(leaseMs);
    if (leaseMs === undefined || (isWhole && leaseMs >= MIN_LEASE_MS && leaseMs <= MAX_LEASE_MS))
      return [];
    const message = `must be a whole number of milliseconds from ${MIN_LEASE_MS} to ${MAX_LEASE_MS}`;
    return [{ path: '/leaseMs', message }];
  },
  accept: (at) => ({ accepted: claimEvent(at) }),
};

function staleFor({
  call: { status },
  suspension,
  request: { actor, fields },
}: AtCall<CallRequest>): Extract<Verdict, { verdict: 'stale' }> | HeldVerdict | undefined {
  const { kind, claim } = suspension;
  if (!CLAIMABLE.includes(kind))
    return { verdict: 'stale', why: 'other_kind', status, openKind: kind };
  if (claim === undefined)
    return fields['renewOnly'] === true
      ? { verdict: 'stale', why: 'not_holder', status }
      : undefined;
  if (!isHeldByOther(suspension, { actor, claimId: fields['claimId'] })) return undefined;
  const { by, at, leaseUntil: until } = claim;
  return { verdict: 'stale', why: 'held', status, by, at, until };
}

function tooLate({
  suspension,
  request: { fields },
  nowMs,
}: AtCall<CallRequest>): Extract<Verdict, { verdict: 'expired' }> | undefined {
  const deadline = endOfWait(suspension);
  return stampedMs(fields['receivedAt'], nowMs) > Date.parse(deadline) + LATE_TOLERANCE_MS
    ? { verdict: 'expired', deadline }
    : undefined;
}

function claimEvent({ state, call, suspension, request }: AtCall<CallRequest>): Claimed {
  const { toolCallId, actor, fields } = request;
  const { claim } = suspension;
  const seq = state.lastSeq + 1;
  const { leaseMs } = fields;
  const requestId = requestIdOf(state, request);
  return {
    type: 'claimed',
    turnId: call.turnId,
    toolCallId,
    // Another history may have the same `seq`, but its requests have other ids.
    claimId: claim?.claimId ?? `claim_${seq}_${fingerprint(`${state.chain}:${requestId}`)}`,
    leaseMs: typeof leaseMs === 'number' ? leaseMs : DEFAULT_LEASE_MS,
    requestId,
    actor,
    ...(claim === undefined ? {} : { renewal: true as const }),
  };
}

export type LeaseLossRefusal = Extract<Verdict, { verdict: 'stale' }>;

/**
 * Accepts the loss if the watch knows the present claim, and the claim was not renewed in the workflow since; a loss
 * that is recorded already is refused. Does not compare times: renewals are in the store, so only the watch knows when
 * a lease has lapsed.
 */
export function judgeLeaseLoss(
  state: ConversationState,
  { toolCallId, claimId, seq }: PlainRecord,
): Judged<LeaseLost, LeaseLossRefusal> {
  const call = typeof toolCallId === 'string' ? callOf(state, toolCallId) : undefined;
  const claim = call?.suspension?.claim;
  const isKnown =
    claim !== undefined && claim.claimId === claimId && typeof seq === 'number' && seq >= claim.seq;
  if (call === undefined || !isKnown) {
    const status = call?.status ?? 'resolved';
    return { refusal: { verdict: 'stale', why: 'already_resolved', status } };
  }
  return {
    accepted: {
      type: 'lease_lost',
      turnId: call.turnId,
      toolCallId: call.plan.toolCallId,
      claimId: claim.claimId,
      by: claim.by,
    },
  };
}

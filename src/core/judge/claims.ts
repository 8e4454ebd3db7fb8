/**
 * Judges claims of waiting calls, and losses of claims. One pure function gives the verdict for the update's validator
 * and its handler; accepts `unknown`, never throws. Refusals record nothing.
 */

import type { ClaimedVerdict, ClaimVerdict, HeldVerdict } from '../../protocol/calls/claims.js';
import type { Verdict } from '../../protocol/calls/resolutions.js';
import type { Suspension } from '../../protocol/calls/suspensions.js';
import {
  DEFAULT_LEASE_MS,
  LATE_TOLERANCE_MS,
  MAX_LEASE_MS,
  MIN_LEASE_MS,
} from '../../protocol/limits/limits.js';
import type { Claimed, LeaseLost } from '../../protocol/log/events.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import { actorFrom } from '../../protocol/values/actors.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import { requestIdProblem } from '../../protocol/values/ids.js';
import { fingerprint, isRecord } from '../../protocol/values/json.js';
import { textProblems } from '../../protocol/values/well-formed.js';
import { forbiddenReason } from '../calls/audience.js';
import { CLAIMABLE, endOfWait, isHeldByOther } from '../calls/claim.js';
import { receivedAtMs } from '../input/instants.js';
import { plainInput } from '../input/plain-input.js';
import { remembered, tombstoneOf } from '../memory/memory.js';
import type { CallState, ConversationState } from '../state/state.js';
import { invalid, notWaiting } from './resolutions.js';

interface AcceptableClaim {
  readonly verdict: 'acceptable';
  readonly event: Claimed;
}

export type ClaimRefusal = Exclude<ClaimVerdict, { verdict: 'accepted' }>;

/** `acceptable` is the only outcome that may be recorded. */
export function judgeClaim(
  state: ConversationState,
  received: unknown,
  nowMs: number,
): ClaimRefusal | AcceptableClaim {
  const input = plainInput(received);
  const toolCallId = isRecord(input) ? input['toolCallId'] : undefined;
  if (!isRecord(input) || typeof toolCallId !== 'string' || toolCallId === '')
    return invalid('/toolCallId', 'must be a non-empty string');
  const call = callOf(state, toolCallId);
  if (call === undefined && tombstoneOf(state, toolCallId) === undefined)
    return { verdict: 'unknown', what: 'tool_call' };
  const actor = actorFrom(input['actor']);
  const first = rememberedClaim(state, toolCallId, { requestId: input['requestId'], actor });
  const suspension = call?.suspension;
  // A lost claim is not returned again: its holder would take the call for its own, although another client may hold it
  // by now.
  const isOver = suspension !== undefined && suspension.claim?.claimId !== first?.claimId;
  if (first !== undefined && !isOver) return { verdict: 'duplicate', first };
  if (call === undefined || suspension === undefined) return notWaiting(state, toolCallId);
  const { claimId, renewOnly } = input;
  const refusal =
    refusedTo(state, call, actor) ??
    staleFor(call, suspension, { actor, claimId, renewOnly }) ??
    tooLate(suspension, receivedAtMs(input, nowMs));
  if (refusal !== undefined) return refusal;
  const problems = fieldProblems(input);
  if (problems.length > 0) return { verdict: 'invalid', problems };
  return { verdict: 'acceptable', event: claimEvent(state, call, { input, actor }) };
}

export function callOf(state: ConversationState, toolCallId: string): CallState | undefined {
  return Object.hasOwn(state.calls, toolCallId) ? state.calls[toolCallId] : undefined;
}

/**
 * The remembered claim of the same actor only: another actor with the same request id must not get the reply that makes
 * it the holder.
 */
function rememberedClaim(
  state: ConversationState,
  toolCallId: string,
  by: { readonly requestId: unknown; readonly actor: StampedActor },
): ClaimedVerdict | undefined {
  const { requestId, actor } = by;
  if (typeof requestId !== 'string') return undefined;
  const known = remembered(state, { operation: 'claim', requestId, toolCallId, actor: actor.id });
  return known?.operation === 'claim' ? known.reply : undefined;
}

function refusedTo(
  state: ConversationState,
  call: CallState,
  actor: StampedActor,
): Extract<Verdict, { verdict: 'forbidden' }> | undefined {
  const reason = forbiddenReason(state, { call, type: undefined, actor });
  return reason === undefined ? undefined : { verdict: 'forbidden', reason };
}

function staleFor(
  call: CallState,
  suspension: Suspension,
  by: { readonly actor: StampedActor; readonly claimId: unknown; readonly renewOnly: unknown },
): Extract<Verdict, { verdict: 'stale' }> | HeldVerdict | undefined {
  const { status } = call;
  const { kind, claim } = suspension;
  if (!CLAIMABLE.includes(kind))
    return { verdict: 'stale', why: 'other_kind', status, openKind: kind };
  if (claim === undefined)
    return by.renewOnly === true ? { verdict: 'stale', why: 'not_holder', status } : undefined;
  if (!isHeldByOther(suspension, by)) return undefined;
  return {
    verdict: 'stale',
    why: 'held',
    status,
    by: claim.by,
    at: claim.at,
    until: claim.leaseUntil,
  };
}

function tooLate(
  suspension: Suspension,
  receivedMs: number,
): Extract<Verdict, { verdict: 'expired' }> | undefined {
  const deadline = endOfWait(suspension);
  return receivedMs > Date.parse(deadline) + LATE_TOLERANCE_MS
    ? { verdict: 'expired', deadline }
    : undefined;
}

type PlainRecord = Readonly<Record<string, unknown>>;

function fieldProblems(input: PlainRecord): readonly FieldProblem[] {
  const { requestId, leaseMs } = input;
  const problems: FieldProblem[] = [...textProblems(input)];
  const id = requestId === undefined ? undefined : requestIdProblem('requestId', requestId);
  if (id !== undefined) problems.push({ path: '/requestId', message: id });
  const isWhole = typeof leaseMs === 'number' && Number.isSafeInteger(leaseMs);
  if (leaseMs !== undefined && !(isWhole && leaseMs >= MIN_LEASE_MS && leaseMs <= MAX_LEASE_MS))
    problems.push({
      path: '/leaseMs',
      message: `must be a whole number of milliseconds from ${MIN_LEASE_MS} to ${MAX_LEASE_MS}`,
    });
  return problems;
}

function claimEvent(
  state: ConversationState,
  call: CallState,
  by: { readonly input: PlainRecord; readonly actor: StampedActor },
): Claimed {
  const { toolCallId } = call.plan;
  const { actor, input } = by;
  const claim = call.suspension?.claim;
  const seq = state.lastSeq + 1;
  const { requestId: given, leaseMs } = input;
  const requestId = typeof given === 'string' ? given : `unnamed:${toolCallId}:${seq}`;
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
 * Accepts the loss if the watch knows the present claim, and the claim was not renewed in the workflow since. Does not
 * compare times: renewals are in the store, so only the watch knows when a lease has lapsed.
 */
export function lossOf(state: ConversationState, received: unknown): LeaseLost | LeaseLossRefusal {
  const input = plainInput(received);
  const { toolCallId, claimId, seq } = isRecord(input) ? input : ({} as PlainRecord);
  const call = typeof toolCallId === 'string' ? callOf(state, toolCallId) : undefined;
  const claim = call?.suspension?.claim;
  const isKnown =
    claim !== undefined && claim.claimId === claimId && typeof seq === 'number' && seq >= claim.seq;
  if (call === undefined || !isKnown)
    return { verdict: 'stale', why: 'already_resolved', status: call?.status ?? 'resolved' };
  return {
    type: 'lease_lost',
    turnId: call.turnId,
    toolCallId: call.plan.toolCallId,
    claimId: claim.claimId,
    by: claim.by,
  };
}

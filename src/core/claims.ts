/**
 * Claiming a waiting call, and losing it. Judged like a resolution: one verdict, from the same pure function for the update's
 * validator and its handler; takes `unknown`, never throws. Refusals record nothing.
 */
import { actorFrom, type StampedActor } from '../protocol/actors.js';
import type {
  ClaimedVerdict,
  ClaimVerdict,
  HeldVerdict,
  LeaseLostReply,
} from '../protocol/claims.js';
import type { Claimed, LeaseLost } from '../protocol/events.js';
import { requestIdProblem } from '../protocol/ids.js';
import { fingerprint, isRecord } from '../protocol/json.js';
import {
  DEFAULT_LEASE_MS,
  LATE_TOLERANCE_MS,
  MAX_LEASE_MS,
  MIN_LEASE_MS,
} from '../protocol/limits.js';
import type { FieldProblem, Verdict } from '../protocol/resolutions.js';
import type { Suspension } from '../protocol/suspensions.js';
import { textProblems } from '../protocol/well-formed.js';
import { forbiddenReason } from './audience.js';
import { remember, type Stamped, withCall } from './fold.js';
import {
  CLAIMABLE,
  endOfWait,
  isHeldByOther,
  leaseUntilOf,
  withClaim,
  withoutClaim,
} from './holding.js';
import { plainInput } from './input.js';
import { invalid, notWaiting, receivedAtMs } from './judge.js';
import type { ConversationMachine } from './machine.js';
import { remembered, tombstoneOf } from './memory.js';
import type { CallState, ConversationState } from './state.js';
import { isoOf } from './state.js';
import { expiryEvents } from './wait-ends.js';

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
  // A claim that was lost is over: told of it again, its holder would take for its own what may be another's by now.
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

function callOf(state: ConversationState, toolCallId: string): CallState | undefined {
  return Object.hasOwn(state.calls, toolCallId) ? state.calls[toolCallId] : undefined;
}

/** Of the same actor: whoever else has the same request id must not be told that the call is theirs. */
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
    // Another history may have the same seq; its requests have other ids.
    claimId: claim?.claimId ?? `claim_${seq}_${fingerprint(`${state.chain}:${requestId}`)}`,
    leaseMs: typeof leaseMs === 'number' ? leaseMs : DEFAULT_LEASE_MS,
    requestId,
    actor,
    ...(claim === undefined ? {} : { renewal: true as const }),
  };
}

/** Records a claim or its renewal, or says why not. Synchronous and total. */
export function claimToolCall(machine: ConversationMachine, input: unknown): ClaimVerdict {
  const judged = judgeClaim(machine.state, input, machine.nowMs);
  if (judged.verdict !== 'acceptable') return judged;
  const { nowMs } = machine;
  const seq = machine.record([judged.event]);
  return claimedReply({ ...judged.event, at: isoOf(nowMs), seq });
}

/** Why a claim cannot be accepted now, or undefined. */
export function refuseClaim(
  machine: ConversationMachine,
  input: unknown,
): ClaimRefusal | undefined {
  const judged = judgeClaim(machine.state, input, machine.nowMs);
  return judged.verdict === 'acceptable' ? undefined : judged;
}

/** Folds a claim or its renewal. */
export function claimed(state: ConversationState, event: Stamped<Claimed>): ConversationState {
  const { toolCallId, requestId } = event;
  const next = withCall(state, toolCallId, (call) =>
    call.suspension === undefined
      ? call
      : { ...call, suspension: withClaim(call.suspension, event) },
  );
  const reply = claimedReply(event);
  // Renewing again is harmless, and a call that is held for long must not push the requests of others out of memory.
  if (event.renewal === true) return next;
  return remember(next, { requestId, operation: 'claim', actor: event.actor.id, reply });
}

function claimedReply(event: Stamped<Claimed>): ClaimedVerdict {
  const { toolCallId, claimId, seq } = event;
  return { verdict: 'accepted', toolCallId, claimId, leaseUntil: leaseUntilOf(event), seq };
}

/** Folds the loss of a lease: the call is offered again. */
export function leaseWasLost(state: ConversationState, event: LeaseLost): ConversationState {
  return withCall(state, event.toolCallId, (call) =>
    call.suspension === undefined ? call : { ...call, suspension: withoutClaim(call.suspension) },
  );
}

export type LeaseLossRefusal = Extract<Verdict, { verdict: 'stale' }>;

/**
 * Whether the watch is right: the claim is the one that the conversation knows, and was not renewed here since. Never by the
 * clock: renewals are in the store, so only the watch knows when a lease has lapsed.
 */
function lossOf(state: ConversationState, received: unknown): LeaseLost | LeaseLossRefusal {
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

/** Why the loss cannot be recorded, or undefined. Safe to repeat: a loss that is recorded already is refused. */
export function refuseLeaseLoss(
  machine: ConversationMachine,
  input: unknown,
): LeaseLossRefusal | undefined {
  const loss = lossOf(machine.state, input);
  return 'verdict' in loss ? loss : undefined;
}

export function leaseLost(
  machine: ConversationMachine,
  input: unknown,
): LeaseLostReply | LeaseLossRefusal {
  const loss = lossOf(machine.state, input);
  return 'verdict' in loss ? loss : { lost: true, seq: machine.record([loss]) };
}

/** The timer of a grace fired. Safe to repeat, and when the call was claimed or has ended meanwhile. */
export function graceOver(
  machine: ConversationMachine,
  grace: { readonly toolCallId: string; readonly deadline: string },
): void {
  const call = callOf(machine.state, grace.toolCallId);
  if (call?.suspension?.claimBy !== grace.deadline) return;
  machine.record(expiryEvents(call));
}

/**
 * Claiming a waiting call, renewing the lease of a claim, and reporting progress under it. Never starts a workflow, and is never
 * left behind as a signal: its asker must know.
 */
import { randomUUID } from 'node:crypto';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { StampedActor } from '../protocol/actors.js';
import type { ClaimToolCallInput, ClaimVerdict } from '../protocol/claims.js';
import type { CallRef } from '../protocol/ids.js';
import { isBoundedJson, type Json, utf8Bytes } from '../protocol/json.js';
import {
  MAX_ANSWER_DEPTH,
  MAX_LEASE_MS,
  MAX_PROGRESS_BYTES,
  MIN_LEASE_MS,
} from '../protocol/limits.js';
import { updateIdFor } from '../protocol/messaging.js';
import { type FieldProblem, VERDICT_HTTP_STATUS } from '../protocol/resolutions.js';
import type { PendingCall } from '../protocol/suspensions.js';
import { checkRequestId, type Duration, durationMs } from './checks.js';
import { EngineError, invalidField, refusalOf } from './errors.js';
import type { HoldersPort } from './holders.js';
import { verdictFromLog } from './log-search.js';
import { type ResolveParts, refOf } from './resolve.js';
import type {
  ClaimOptions,
  ClaimOutcome,
  ProgressOptions,
  ProgressOutcome,
  ProgressVerdict,
  ResolveTarget,
} from './types.js';

export interface ClaimParts extends ResolveParts {
  readonly holders: HoldersPort | undefined;
}

/**
 * | verdict | what it means |
 * |---|---|
 * | `accepted` | the call is yours until `leaseUntil`; renew before, with the `claimId` |
 * | `duplicate` | `first` is what your first try was told; that lease may be over: renew with its `claimId` to be sure |
 * | `stale` | somebody else holds it (`why: 'held'`), or nobody waits for it any more |
 * | `expired`, `forbidden`, `unknown`, `invalid` | as for resolutions |
 *
 * With a `claimId` it is a renewal. Where the client has the store's leases, that moves a row and is recorded nowhere; without
 * them, or when the store knows nothing of the claim, it is an update and costs history. Safe to repeat with the same
 * `requestId`.
 * @throws {EngineError} invalid_request; store_unavailable; no_worker when nobody confirmed: the server may still hand the
 *   request to the next worker, so repeat it with the same `requestId`
 */
export async function claimCall(
  parts: ClaimParts,
  target: ResolveTarget,
  options: ClaimOptions = {},
): Promise<ClaimOutcome> {
  const receivedAt = options.receivedAt ?? new Date().toISOString();
  const requestId = checkRequestId(options.requestId ?? randomUUID());
  const actor = parts.stamp(options.actor);
  const ref = refOf(target, parts.tenant);
  const said = (verdict: ClaimVerdict): ClaimOutcome => ({
    ...verdict,
    httpStatus: VERDICT_HTTP_STATUS[verdict.verdict],
    requestId,
  });
  if (ref === undefined) return said({ verdict: 'unknown', what: 'conversation' });
  const { lease, claimId } = options;
  const leaseMs = lease === undefined ? undefined : checkedLease(lease);
  const asked = { ...(claimId === undefined ? {} : { claimId }), ...leaseField(leaseMs) };
  const renewed = await renewInStore(parts, ref, { ...asked, actor });
  if (renewed !== undefined) return said(renewed);
  return said(await claimOf(parts, ref, { requestId, actor, receivedAt, ...asked }));
}

function checkedLease(lease: Duration): number {
  const leaseMs = Math.round(durationMs('lease', lease));
  if (leaseMs >= MIN_LEASE_MS && leaseMs <= MAX_LEASE_MS) return leaseMs;
  throw invalidField('/lease', `must be from ${MIN_LEASE_MS} ms to ${MAX_LEASE_MS} ms`);
}

function leaseField(leaseMs: number | undefined): { leaseMs?: number } {
  return leaseMs === undefined ? {} : { leaseMs };
}

/** Undefined where the workflow has to say. */
async function renewInStore(
  { holders, door }: ClaimParts,
  call: CallRef,
  asked: { readonly claimId?: string; readonly leaseMs?: number; readonly actor: StampedActor },
): Promise<ClaimVerdict | undefined> {
  const { claimId, leaseMs, actor } = asked;
  if (claimId === undefined || holders === undefined) return undefined;
  try {
    const leaseUntil = await holders.renew({
      call,
      claimId,
      holder: actor.id,
      ...leaseField(leaseMs),
    });
    if (leaseUntil === undefined) return undefined;
    return { verdict: 'accepted', toolCallId: call.toolCallId, claimId, leaseUntil };
  } catch (error) {
    throw door.toEngineError(error);
  }
}

/** By update. What it is told to be recorded is noted, so that reads after it show the claim. */
async function claimOf(
  parts: ClaimParts,
  ref: CallRef,
  asked: Omit<ClaimToolCallInput, 'toolCallId'> & {
    readonly requestId: string;
    readonly actor: StampedActor;
  },
): Promise<ClaimVerdict> {
  const { toolCallId } = ref;
  const updateId = updateIdFor({
    operation: 'claimToolCall',
    callId: toolCallId,
    actor: asked.actor.id,
    requestId: `${asked.requestId}~${randomUUID()}`,
  });
  const verdict = await ask(parts, ref, { input: { toolCallId, ...asked }, updateId });
  if (verdict.verdict === 'accepted') parts.known.note(ref, verdict.seq);
  if (verdict.verdict === 'duplicate') parts.known.note(ref, verdict.first.seq);
  return verdict;
}

async function ask(
  { door, reader }: ClaimParts,
  ref: CallRef,
  update: { readonly input: ClaimToolCallInput; readonly updateId: string },
): Promise<ClaimVerdict> {
  try {
    const tried = await door.confirm(() => door.update(ref, 'claimToolCall', update));
    if (tried.confirmed) return tried.value;
    throw new EngineError(
      'no_worker',
      `The claim was not confirmed, and may still count when a worker answers. ${await door.noWorkerText()}`,
      { cause: tried.cause },
    );
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal?.type === 'verdict') return refusal.detail as ClaimVerdict;
    if (!(error instanceof WorkflowNotFoundError)) throw door.toEngineError(error);
    try {
      const { requestId = '' } = update.input;
      const verdict = await verdictFromLog(reader, ref, { toolCallId: ref.toolCallId, requestId });
      return verdict.verdict === 'duplicate'
        ? { verdict: 'stale', why: 'already_resolved', status: 'resolved' }
        : verdict;
    } catch (cause) {
      if (EngineError.isInstance(cause) && cause.code === 'no_worker')
        return { verdict: 'unknown', what: 'conversation' };
      throw door.toEngineError(cause);
    }
  }
}

/**
 * Shows watchers how far the holder of a call is: a live event, never recorded, never the end of the call. Renews the lease on
 * the way: in the store, or by an update while the store does not know of the claim. Refused unless the caller holds the call,
 * and its tool says `streaming`.
 * @throws {EngineError} invalid_request where this client has no event log; store_unavailable; no_worker when nobody confirmed
 */
export async function reportProgress(
  parts: ClaimParts,
  target: ResolveTarget,
  report: { readonly payload: Json; readonly options: ProgressOptions },
): Promise<ProgressOutcome> {
  const { payload, options } = report;
  const actor = parts.stamp(options.actor);
  const ref = refOf(target, parts.tenant);
  const said = (verdict: ProgressVerdict): ProgressOutcome => ({
    ...verdict,
    httpStatus: VERDICT_HTTP_STATUS[verdict.verdict],
  });
  if (ref === undefined) return said({ verdict: 'unknown', what: 'conversation' });
  const { holders } = parts;
  if (holders === undefined)
    throw new EngineError('invalid_request', 'Progress needs a client with holders: the event log');
  const problems = payloadProblems(payload);
  if (problems.length > 0) return said({ verdict: 'invalid', problems });
  const held = await heldCall(parts, ref, { claimId: options.claimId, actor });
  if ('verdict' in held) return said(held);
  const { entry, leaseUntil } = held;
  const { toolCallId, name, turnId } = entry;
  holders.show(ref, { type: 'tool_progress', turnId, toolCallId, name, payload });
  return said({ verdict: 'accepted', toolCallId, leaseUntil });
}

interface Held {
  readonly entry: PendingCall;
  readonly leaseUntil: string;
}

/** The call, its lease renewed. What the store does not know (yet, or any more), the conversation does. */
async function heldCall(
  parts: ClaimParts,
  ref: CallRef,
  by: { readonly claimId: string; readonly actor: StampedActor },
): Promise<Held | ProgressVerdict> {
  const entry = await pendingCall(parts, ref);
  if ('verdict' in entry && entry.verdict === 'unknown') return entry;
  const shown = 'verdict' in entry ? undefined : entry;
  const refusal = shown === undefined ? undefined : notStreaming(shown);
  if (refusal !== undefined) return refusal;
  if (shown?.claim !== undefined) {
    const renewed = await renewInStore(parts, ref, by);
    if (renewed?.verdict === 'accepted') return { entry: shown, leaseUntil: renewed.leaseUntil };
  }
  const requestId = randomUUID();
  const receivedAt = new Date().toISOString();
  const verdict = await claimOf(parts, ref, { ...by, requestId, receivedAt, renewOnly: true });
  if (verdict.verdict !== 'accepted') return refusedRenewal(verdict);
  const claimed = await pendingCall(parts, ref);
  if ('verdict' in claimed) return claimed;
  return notStreaming(claimed) ?? { entry: claimed, leaseUntil: verdict.leaseUntil };
}

function refusedRenewal(verdict: ClaimVerdict): ProgressVerdict {
  if (verdict.verdict === 'unknown' && verdict.what === 'conversation') return verdict;
  const { why, by, at } = verdict.verdict === 'stale' ? verdict : {};
  if (why !== 'held' && why !== 'not_holder') return { verdict: 'stale', why: 'not_waiting' };
  const holder = { ...(by === undefined ? {} : { by }), ...(at === undefined ? {} : { at }) };
  return { verdict: 'stale', why: 'not_holder', ...holder };
}

function payloadProblems(payload: Json): readonly FieldProblem[] {
  const path = '/payload';
  if (!isBoundedJson(payload, MAX_ANSWER_DEPTH))
    return [{ path, message: `must be plain JSON, at most ${MAX_ANSWER_DEPTH} levels deep` }];
  const bytes = utf8Bytes(JSON.stringify(payload));
  return bytes > MAX_PROGRESS_BYTES
    ? [{ path, message: `must be at most ${MAX_PROGRESS_BYTES} bytes as JSON, got ${bytes}` }]
    : [];
}

/** As the log has it; at least as new as this client's own claims. */
async function pendingCall(
  { reader, known, door }: ClaimParts,
  ref: CallRef,
): Promise<PendingCall | Extract<ProgressVerdict, { verdict: 'unknown' | 'stale' }>> {
  try {
    const snapshot = await reader.snapshot(ref, { atLeastSeq: Math.max(known.of(ref), 1) });
    if (snapshot === undefined) return { verdict: 'unknown', what: 'conversation' };
    const entry = snapshot.pending.find(({ toolCallId }) => toolCallId === ref.toolCallId);
    return entry ?? { verdict: 'stale', why: 'not_waiting' };
  } catch (error) {
    throw door.toEngineError(error);
  }
}

function notStreaming(entry: PendingCall): ProgressVerdict | undefined {
  if (entry.streaming === true) return undefined;
  const message = `tool "${entry.name}" does not declare streaming`;
  return { verdict: 'invalid', problems: [{ path: '/payload', message }] };
}

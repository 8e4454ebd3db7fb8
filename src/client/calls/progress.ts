/** Reports progress under a claim: publishes live events to watchers, and renews the lease. Neither is recorded. */
import { randomUUID } from 'node:crypto';
import type { ClaimVerdict } from '../../protocol/calls/claims.js';
import { VERDICT_HTTP_STATUS } from '../../protocol/calls/resolutions.js';
import type { PendingCall } from '../../protocol/calls/suspensions.js';
import { MAX_ANSWER_DEPTH } from '../../protocol/limits/limits.js';
import { MAX_PROGRESS_BYTES } from '../../protocol/limits/service-limits.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import type { CallRef } from '../../protocol/values/ids.js';
import { isBoundedJson, type Json, utf8Bytes } from '../../protocol/values/json.js';
import { textProblems } from '../../protocol/values/well-formed.js';
import type {
  ProgressOptions,
  ProgressOutcome,
  ProgressVerdict,
  ResolveTarget,
} from '../api/call-types.js';
import { ConversationError } from '../api/errors.js';
import { type ClaimParts, claimOf, renewInStore } from './claim.js';
import { callOf, isNoCall } from './target.js';

/**
 * Publishes the progress of a claimed call to watchers: a live event, never recorded, never the end of the call. Renews
 * the lease as well: in the store, or, while the store does not have the claim, by an update every few seconds
 * (`RecentRenewals`), each of which costs history. Refused unless the caller holds the call, and its tool declares
 * `streaming`.
 * @throws {ConversationError} invalid_request if this client has no event log; store_unavailable; no_worker when no worker
 *   confirmed
 */
export async function reportProgress(
  parts: ClaimParts,
  target: ResolveTarget,
  report: { readonly payload: Json; readonly options: ProgressOptions },
): Promise<ProgressOutcome> {
  const { payload, options } = report;
  const actor = parts.stamp(options.actor);
  const ref = callOf(target, parts.tenant);
  const said = (verdict: ProgressVerdict): ProgressOutcome => ({
    ...verdict,
    httpStatus: VERDICT_HTTP_STATUS[verdict.verdict],
  });
  if (isNoCall(ref)) return said(ref);
  const { leases } = parts;
  if (leases === undefined)
    throw new ConversationError(
      'invalid_request',
      'Progress needs a client with leases, as openColloquy and clientOptionsFrom make it',
    );
  const problems = payloadProblems(payload);
  if (problems.length > 0) return said({ verdict: 'invalid', problems });
  const held = await heldCall(parts, ref, { claimId: options.claimId, actor });
  if ('verdict' in held) return said(held);
  const { entry, leaseUntil } = held;
  const { toolCallId, name, turnId } = entry;
  leases.show(ref, { type: 'tool_progress', turnId, toolCallId, name, payload });
  return said({ verdict: 'accepted', toolCallId, leaseUntil });
}

interface Held {
  readonly entry: PendingCall;
  readonly leaseUntil: string;
}

/**
 * The call, with its lease renewed. A claim that the store does not have (yet, or any more) is renewed by the
 * conversation.
 */
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
  const renewal = { call: ref, claimId: by.claimId, holder: by.actor.id };
  const recent = shown === undefined ? undefined : parts.renewals.of(renewal);
  if (shown !== undefined && recent !== undefined) return { entry: shown, leaseUntil: recent };
  const requestId = randomUUID();
  const receivedAt = new Date().toISOString();
  const verdict = await claimOf(parts, ref, { ...by, requestId, receivedAt, renewOnly: true });
  if (verdict.verdict !== 'accepted') return refusedRenewal(verdict);
  parts.renewals.note(renewal, verdict.leaseUntil);
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
  const [malformed] = textProblems(payload);
  if (malformed !== undefined)
    return [{ path: `${path}${malformed.path}`, message: malformed.message }];
  const bytes = utf8Bytes(JSON.stringify(payload));
  return bytes > MAX_PROGRESS_BYTES
    ? [{ path, message: `must be at most ${MAX_PROGRESS_BYTES} bytes as JSON, got ${bytes}` }]
    : [];
}

/** The call as the log has it; at least as new as this client's own claims. */
async function pendingCall(
  { reader, known, gateway }: ClaimParts,
  ref: CallRef,
): Promise<PendingCall | Extract<ProgressVerdict, { verdict: 'unknown' | 'stale' }>> {
  try {
    const snapshot = await known.snapshot(reader, ref);
    if (snapshot === undefined) return { verdict: 'unknown', what: 'conversation' };
    const entry = snapshot.pending.find(({ toolCallId }) => toolCallId === ref.toolCallId);
    return entry ?? { verdict: 'stale', why: 'not_waiting' };
  } catch (error) {
    throw gateway.toConversationError(error);
  }
}

function notStreaming(entry: PendingCall): ProgressVerdict | undefined {
  if (entry.streaming === true) return undefined;
  const message = `tool "${entry.name}" does not declare streaming`;
  return { verdict: 'invalid', problems: [{ path: '/payload', message }] };
}

/**
 * Moves the deadline of a waiting call. Never starts a workflow, and is never left behind as a signal, because its
 * caller must learn the outcome.
 */
import { randomUUID } from 'node:crypto';
import type { ExtendToolCallInput, ExtendVerdict } from '../../protocol/calls/extensions.js';
import { VERDICT_HTTP_STATUS } from '../../protocol/calls/resolutions.js';
import type { ExtendOptions, ExtendOutcome, ResolveTarget } from '../api/call-types.js';
import { checkedMs, checkRequestId } from '../api/checks.js';
import { invalidField } from '../api/errors.js';
import { updateCall } from './call-update.js';
import { withoutOwnDuplicate } from './duplicates.js';
import type { ResolveParts } from './resolve.js';
import { callOf, isNoCall } from './target.js';

/**
 * | verdict | what it means |
 * |---|---|
 * | `accepted`, `duplicate` | recorded; `deadline` is the new one |
 * | `expired`, `stale`, `unknown` | the call no longer waits, or never did |
 * | `invalid` | not later than the present deadline, or beyond the caps; the problem names the latest one |
 *
 * Safe to repeat with the same `requestId`.
 * @throws {ConversationError} invalid_request; no_worker when no worker confirmed: the server may still pass the request to
 *   the next worker, so repeat it with the same `requestId`
 */
export async function extendCall(
  parts: ResolveParts,
  target: ResolveTarget,
  options: ExtendOptions,
): Promise<ExtendOutcome> {
  const requestId = checkRequestId(options.requestId ?? randomUUID());
  const actor = parts.stamp(options.actor);
  const ref = callOf(target, parts.tenant);
  const said = (verdict: ExtendVerdict): ExtendOutcome => ({
    ...withoutOwnDuplicate(verdict, options.requestId),
    httpStatus: VERDICT_HTTP_STATUS[verdict.verdict],
    requestId,
  });
  if (isNoCall(ref)) return said(ref);
  const { toolCallId } = ref;
  const verdict = await updateCall<ExtendVerdict, 'extendToolCall'>(parts, ref, {
    operation: 'extendToolCall',
    input: { toolCallId, requestId, actor, ...endOf(options) },
    unconfirmed: 'Moving the deadline was not confirmed, and may still happen',
  });
  if (verdict.verdict === 'accepted') parts.known.note(ref, verdict.seq);
  return said(verdict);
}

function endOf({ by, until }: ExtendOptions): Pick<ExtendToolCallInput, 'by' | 'until'> {
  if (by === undefined && until === undefined)
    throw invalidField('/until', 'either this or "by" must be given');
  if (by !== undefined && until !== undefined)
    throw invalidField('/until', 'cannot be given together with by');
  if (by !== undefined) return { by: Math.round(checkedMs('by', by)) };
  if (!(until instanceof Date)) return { until: String(until) };
  if (Number.isNaN(until.getTime())) throw invalidField('/until', 'must be a valid date');
  return { until: until.toISOString() };
}

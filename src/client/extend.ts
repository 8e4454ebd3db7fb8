/** Moving the deadline of a waiting call. Never starts a workflow, and is never left behind as a signal: its asker must know. */
import { randomUUID } from 'node:crypto';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { ExtendToolCallInput, ExtendVerdict } from '../protocol/extensions.js';
import type { CallRef } from '../protocol/ids.js';
import { updateIdFor } from '../protocol/messaging.js';
import { VERDICT_HTTP_STATUS } from '../protocol/resolutions.js';
import { checkRequestId, durationMs } from './checks.js';
import { EngineError, invalidField, refusalOf } from './errors.js';
import { verdictFromLog } from './log-search.js';
import { type ResolveParts, refOf } from './resolve.js';
import type { ExtendOptions, ExtendOutcome, ResolveTarget } from './types.js';

/**
 * | verdict | what it means |
 * |---|---|
 * | `accepted`, `duplicate` | recorded; `deadline` is the new one |
 * | `expired`, `stale`, `unknown` | the call waits no more, or never did |
 * | `invalid` | not later than the present deadline, or beyond the caps; the problem names the latest one |
 *
 * Safe to repeat with the same `requestId`.
 * @throws {EngineError} invalid_request; no_worker when nobody confirmed: the server may still hand the request to the next
 *   worker, so repeat it with the same `requestId`
 */
export async function extendCall(
  parts: ResolveParts,
  target: ResolveTarget,
  options: ExtendOptions,
): Promise<ExtendOutcome> {
  const requestId = checkRequestId(options.requestId ?? randomUUID());
  const actor = parts.stamp(options.actor);
  const ref = refOf(target, parts.tenant);
  const said = (verdict: ExtendVerdict): ExtendOutcome => ({
    ...verdict,
    httpStatus: VERDICT_HTTP_STATUS[verdict.verdict],
    requestId,
  });
  if (ref === undefined) return said({ verdict: 'unknown', what: 'conversation' });
  const { toolCallId } = ref;
  const input: ExtendToolCallInput = { toolCallId, requestId, actor, ...endOf(options) };
  const updateId = updateIdFor({
    operation: 'extendToolCall',
    callId: toolCallId,
    actor: actor.id,
    requestId: `${requestId}~${randomUUID()}`,
  });
  const verdict = await ask(parts, ref, { input, updateId });
  if (verdict.verdict === 'accepted') parts.known.note(ref, verdict.seq);
  return said(verdict);
}

function endOf({ by, until }: ExtendOptions): Pick<ExtendToolCallInput, 'by' | 'until'> {
  if ((by === undefined) === (until === undefined))
    throw invalidField('/until', 'either this or "by" must be given');
  if (by !== undefined) return { by: Math.round(durationMs('by', by)) };
  return { until: until instanceof Date ? until.toISOString() : String(until) };
}

async function ask(
  parts: ResolveParts,
  ref: CallRef,
  update: { readonly input: ExtendToolCallInput; readonly updateId: string },
): Promise<ExtendVerdict> {
  const { door, reader } = parts;
  try {
    const tried = await door.confirm(() => door.update(ref, 'extendToolCall', update));
    if (tried.confirmed) return tried.value;
    throw new EngineError(
      'no_worker',
      `Moving the deadline was not confirmed, and may still happen when a worker answers. ${await door.noWorkerText()}`,
      { cause: tried.cause },
    );
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal?.type === 'verdict') return refusal.detail as ExtendVerdict;
    if (!(error instanceof WorkflowNotFoundError)) throw door.toEngineError(error);
    try {
      const request = { toolCallId: ref.toolCallId, requestId: update.input.requestId ?? '' };
      const verdict = await verdictFromLog(reader, ref, request);
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

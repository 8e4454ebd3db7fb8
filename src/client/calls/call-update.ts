/**
 * Updates about one waiting call whose asker must know what became of them: never left behind as a signal. One verdict comes
 * back, from the workflow, or from the log of a conversation that runs no more.
 */
import { randomUUID } from 'node:crypto';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { Verdict } from '../../protocol/calls/resolutions.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import type { CallRef } from '../../protocol/values/ids.js';
import { updateIdFor } from '../../protocol/workflow/update-ids.js';
import { EngineError } from '../api/errors.js';
import { verdictFromLog } from '../reading/log-search.js';
import { isUnanswered, refusalOf } from '../temporal/errors.js';
import type { ResolveParts } from './resolve.js';

export interface CallRequest<Reply> {
  readonly operation: 'claimToolCall' | 'extendToolCall';
  readonly requestId: string;
  readonly actor: StampedActor;
  /** Refusals come as failures of the update. */
  readonly send: (updateId: string) => Promise<Reply>;
  /** What is said when nobody has confirmed it: `The claim was not confirmed, and may still count`. */
  readonly unconfirmed: string;
}

/** What a conversation that runs no more says of any of its calls. */
type OverVerdict = Extract<Verdict, { verdict: 'unknown' | 'stale' | 'expired' }>;

/**
 * Each call of this has an update id of its own, constant over its tries: a repeat reaches the workflow, which knows the request
 * by its id.
 * @throws {EngineError} no_worker when nobody confirmed; store_unavailable; temporal_unreachable
 */
export async function askAboutCall<Reply>(
  { door, reader }: ResolveParts,
  ref: CallRef,
  { operation, requestId, actor, send, unconfirmed }: CallRequest<Reply>,
): Promise<Reply | OverVerdict> {
  const { toolCallId } = ref;
  const updateId = updateIdFor({
    operation,
    callId: toolCallId,
    actor: actor.id,
    requestId: `${requestId}~${randomUUID()}`,
  });
  try {
    const tried = await door.confirm(() => send(updateId), undefined, ref);
    if (tried.confirmed) return tried.value;
    const why = await door.whyUnanswered(ref);
    const text = `${unconfirmed} when a worker answers. ${why.text}`;
    throw new EngineError(why.reason, text, { cause: tried.cause });
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal?.type === 'verdict') return refusal.detail as Reply;
    if (!(error instanceof WorkflowNotFoundError)) throw door.toEngineError(error);
  }
  try {
    const verdict = await verdictFromLog(reader, ref, { toolCallId, requestId });
    return verdict.verdict === 'duplicate'
      ? { verdict: 'stale', why: 'already_resolved', status: 'resolved' }
      : verdict;
  } catch (error) {
    if (isUnanswered(error)) return { verdict: 'unknown', what: 'conversation' };
    throw door.toEngineError(error);
  }
}

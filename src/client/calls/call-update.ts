/**
 * Updates of one waiting call whose caller must learn the outcome: never left behind as a signal. One verdict is
 * returned, from the workflow, or from the log of a conversation that no longer runs.
 */

import { randomUUID } from 'node:crypto';
import type { Verdict } from '../../protocol/calls/resolutions.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import type { CallRef } from '../../protocol/values/ids.js';
import type { UpdateTypes } from '../../protocol/workflow/messaging.js';
import { updateIdFor } from '../../protocol/workflow/update-ids.js';
import { verdictFromLog } from '../reading/log-search.js';
import { confirmUpdate, verdictOfFailure } from '../temporal/confirmed-update.js';
import type { ResolveParts } from './resolve.js';

export interface CallRequest<Name extends 'claimToolCall' | 'extendToolCall'> {
  readonly operation: Name;
  readonly input: UpdateTypes[Name]['input'] & {
    readonly requestId: string;
    readonly actor: StampedActor;
  };
  /** See `confirmUpdate`. */
  readonly unconfirmed: string;
}

/** The verdicts on a call of a conversation that no longer runs. */
type OverVerdict = Extract<Verdict, { verdict: 'unknown' | 'stale' | 'expired' | 'invalid' }>;

/**
 * Sends the update and returns its verdict. Each call of this function has an update id of its own, constant over its
 * tries: a repeat reaches the workflow, which recognises the request by its id.
 * @throws {ConversationError} no_worker when no worker confirmed; store_unavailable; temporal_unreachable
 */
export async function updateCall<Verdict, Name extends 'claimToolCall' | 'extendToolCall'>(
  { gateway, reader }: ResolveParts,
  ref: CallRef,
  { operation, input, unconfirmed }: CallRequest<Name>,
): Promise<Verdict | UpdateTypes[Name]['reply'] | OverVerdict> {
  const { toolCallId } = ref;
  const { requestId, actor } = input;
  const updateId = updateIdFor({
    operation,
    callId: toolCallId,
    actor: actor.id,
    requestId: `${requestId}~${randomUUID()}`,
  });
  try {
    return await confirmUpdate(gateway, ref, { name: operation, input, updateId, unconfirmed });
  } catch (error) {
    return await verdictOfFailure<Verdict | OverVerdict>(gateway, error, async () => {
      const verdict = await verdictFromLog(reader, ref, { toolCallId, requestId });
      return verdict.verdict === 'duplicate'
        ? { verdict: 'stale', why: 'already_resolved', status: 'resolved' }
        : verdict;
    });
  }
}

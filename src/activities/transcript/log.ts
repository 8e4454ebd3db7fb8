/**
 * Activities on the log of a conversation: the store has all of it before a run ends, and a closed conversation gets its
 * state from it. Safe to repeat: stored events are not stored twice, and a log has one state.
 */
import { Context } from '@temporalio/activity';
import type {
  FlushLogInput,
  FlushLogResult,
  RestoreStateInput,
} from '../../protocol/workflow/activities.js';
import type { CarriedState } from '../../protocol/workflow/messaging.js';
import type { ActivityTools } from '../shared/deps.js';
import { reasonOf, toFailure } from '../shared/failure.js';
import { withHeartbeat } from '../shared/heartbeat.js';

/** Errors are failure `store_unavailable`, retried. */
export async function flushLog(
  tools: ActivityTools,
  input: FlushLogInput,
): Promise<FlushLogResult> {
  const { tenant, conversationId, throughSeq } = input;
  try {
    return await withHeartbeat(() => tools.flush({ tenant, conversationId }, throughSeq));
  } catch (error) {
    tools.logger.warn('log not flushed', { ...input, reason: reasonOf(error) });
    throw toFailure(error, 'store_unavailable');
  }
}

/**
 * | what happens | outcome |
 * |---|---|
 * | there is no log, or its state is too large | failure `conversation_closed`, not retried |
 * | the store lacks the last turns, and no worker returns them | failure `no_worker`, retried |
 * | the store is unavailable | failure `store_unavailable`, retried |
 */
export async function restoreState(
  tools: ActivityTools,
  input: RestoreStateInput,
): Promise<CarriedState> {
  try {
    const { cancellationSignal } = Context.current();
    return await withHeartbeat(() => tools.restoreState(input, cancellationSignal));
  } catch (error) {
    const { tenant, conversationId } = input;
    tools.logger.warn('state not restored', { tenant, conversationId, reason: reasonOf(error) });
    throw toFailure(error, 'store_unavailable');
  }
}

/** Restores the state of a closed conversation for the run that continues it. Safe to repeat: the log has one fold. */
import type { RestoreStateInput } from '../../protocol/workflow/activities.js';
import type { CarriedState } from '../../protocol/workflow/messaging.js';
import type { ActivityTools } from '../shared/deps.js';
import { reasonOf, toFailure } from '../shared/failure.js';
import { withHeartbeat } from '../shared/heartbeat.js';

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
    return await withHeartbeat(() => tools.restoreState(input));
  } catch (error) {
    const { tenant, conversationId } = input;
    tools.logger.warn('state not restored', { tenant, conversationId, reason: reasonOf(error) });
    throw toFailure(error, 'store_unavailable');
  }
}

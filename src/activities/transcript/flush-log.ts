/** Ensures that the store has the log before a run ends. Safe to repeat: stored events are not stored twice. */
import type { FlushLogInput, FlushLogResult } from '../../protocol/workflow/activities.js';
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

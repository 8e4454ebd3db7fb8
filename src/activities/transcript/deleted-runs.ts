/** Removes values that an activity stores after its conversation was deleted. */
import { Context } from '@temporalio/activity';
import type { ConversationKey } from '../../protocol/values/ids.js';
import type { ActivityTools } from '../shared/deps.js';
import { runOf } from '../shared/transcripts.js';

/**
 * Call this after storing, not before: a deletion that begins later removes the value itself. True when the
 * conversation has been deleted; then `remove` has been called.
 */
export async function isOrphanChunk(
  tools: Pick<ActivityTools, 'isOrphanedRun'>,
  key: ConversationKey,
  remove: () => Promise<unknown>,
): Promise<boolean> {
  const { runId } = runOf(Context.current());
  if ((await tools.isOrphanedRun?.(key, runId)) !== true) return false;
  await remove();
  return true;
}

/** Reads the messages of a transcript that lie in the blob store. */

import type { Message } from '../../protocol/conversation/messages.js';
import { parseWorkflowId } from '../../protocol/values/ids.js';
import type { ActivityDeps } from '../shared/deps.js';
import { failureOf, toFailure } from '../shared/failure.js';
import type { RunOfConversation } from '../shared/transcripts.js';

/**
 * @throws {ApplicationFailure} store_unavailable or transcript_lost, both retried: another worker may be able to read
 * them
 */
export async function readChunk(
  chunks: ActivityDeps<never>['chunks'],
  { workflowId }: RunOfConversation,
  id: string,
): Promise<readonly Message[]> {
  const key = parseWorkflowId(workflowId);
  if (chunks === undefined || key === undefined)
    throw failureOf('store_unavailable', 'This worker cannot read stored messages');
  try {
    return await chunks.get(key, id);
  } catch (error) {
    throw toFailure(error, 'store_unavailable');
  }
}

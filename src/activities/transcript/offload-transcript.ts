/**
 * Stores the oldest messages of a conversation before a run ends, so that the next one need not carry them, and removes
 * chunks that nothing refers to any more. Safe to repeat: chunks are named by their content.
 */
import { Context } from '@temporalio/activity';
import { chunkIdOf } from '../../projection/reading/transcript-chunks.js';
import type {
  OffloadTranscriptInput,
  OffloadTranscriptResult,
} from '../../protocol/conversation/offloaded-messages.js';
import type { ActivityTools } from '../shared/deps.js';
import { reasonOf, toFailure } from '../shared/failure.js';
import { runOf } from '../shared/transcripts.js';
import { isOrphanChunk } from './deleted-runs.js';

/**
 * | what happens | outcome |
 * |---|---|
 * | everything is stored | the ids, one for each chunk |
 * | this worker has no blob store, or the conversation has been deleted | no ids: the messages are carried over |
 * | the store is unavailable | failure `store_unavailable`: the messages are carried over |
 * | the messages are not available | failure `transcript_miss`: the same |
 */
export async function offloadTranscript(
  tools: ActivityTools,
  input: OffloadTranscriptInput,
): Promise<OffloadTranscriptResult> {
  const { tenant, conversationId, messages: wanted, chunks, unused = [] } = input;
  const key = { tenant, conversationId };
  try {
    const ids: string[] = [];
    const messages =
      chunks.length === 0 ? [] : await tools.transcripts.slice(runOf(Context.current()), wanted);
    let from = 0;
    for (const count of chunks) {
      const id = await tools.chunks?.put(key, messages.slice(from, from + count));
      if (id === undefined) return {};
      ids.push(id);
      from += count;
    }
    await tools.chunks?.remove(
      key,
      [...unused, ...(await unacknowledgedIds(tools, input))].filter((id) => !ids.includes(id)),
    );
    const remove = async () => tools.chunks?.remove(key, ids);
    if (await isOrphanChunk(tools, key, remove)) return {};
    const stored = ids.map((id, index) => ({ id, count: chunks[index] ?? 0 }));
    tools.transcripts.stored(runOf(Context.current()), wanted, stored);
    return { ids };
  } catch (error) {
    tools.logger.warn('messages not stored', { ...key, reason: reasonOf(error) });
    throw toFailure(error, 'store_unavailable');
  }
}

/**
 * Ids of chunks that an unacknowledged order may have left: chunks are named by their content, so the ids can be
 * computed. None is in use except those that this order stores: the workflow names only messages that the transcript
 * still has whole, and no message is in it twice.
 */
async function unacknowledgedIds(
  tools: ActivityTools,
  { unacknowledged = [] }: OffloadTranscriptInput,
): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const { messages: wanted, chunks } of unacknowledged) {
    const messages = await tools.transcripts
      .slice(runOf(Context.current()), wanted)
      .catch(() => undefined);
    let from = 0;
    for (const count of messages === undefined ? [] : chunks) {
      ids.push(chunkIdOf(messages?.slice(from, from + count) ?? []));
      from += count;
    }
  }
  return ids;
}

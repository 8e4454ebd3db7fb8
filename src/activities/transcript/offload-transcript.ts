/**
 * Stores the oldest messages of a conversation before a run ends, so that the next one need not carry them, and removes
 * chunks that nothing refers to any more. Safe to repeat: chunks are named by their content.
 */
import { Context } from '@temporalio/activity';
import { chunksOf } from '../../core/context/offloaded.js';
import { chunkIdOf } from '../../projection/reading/transcript-chunks.js';
import type { Message } from '../../protocol/conversation/messages.js';
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
  const { tenant, conversationId, unused = [] } = input;
  const key = { tenant, conversationId };
  const run = runOf(Context.current());
  try {
    const ids: string[] = [];
    for (const messages of await messagesOf(tools, input)) {
      const id = await tools.chunks?.put(key, messages);
      if (id === undefined) return {};
      ids.push(id);
      tools.transcripts.stored(run, id, messages);
    }
    await tools.chunks?.remove(
      key,
      [...unused, ...(await unacknowledgedIds(tools, input))].filter((id) => !ids.includes(id)),
    );
    const remove = async () => tools.chunks?.remove(key, ids);
    if (await isOrphanChunk(tools, key, remove)) return {};
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
  for (const order of unacknowledged)
    ids.push(...(await messagesOf(tools, order).catch(() => [])).map(chunkIdOf));
  return ids;
}

/** The messages of an order, by chunk. @throws as `Transcripts.slice` */
async function messagesOf(
  { transcripts }: ActivityTools,
  { messages: wanted, chunks }: Pick<OffloadTranscriptInput, 'messages' | 'chunks'>,
): Promise<readonly (readonly Message[])[]> {
  if (chunks.length === 0) return [];
  const messages = await transcripts.slice(runOf(Context.current()), wanted);
  return chunksOf({ messages, chunks });
}

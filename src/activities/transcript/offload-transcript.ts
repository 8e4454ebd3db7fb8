/**
 * Stores the oldest messages of a conversation before a run ends, so that the next one need not carry them, and removes those that
 * nothing refers to any more. Safe to repeat: what is stored is named by its content.
 */
import { Context } from '@temporalio/activity';
import { chunkIdOf } from '../../projection/reading/transcript-chunks.js';
import type {
  SpillTranscriptInput,
  SpillTranscriptResult,
} from '../../protocol/conversation/offloaded-messages.js';
import type { ActivityTools } from '../shared/deps.js';
import { reasonOf, toFailure } from '../shared/failure.js';
import { runOf } from '../shared/transcripts.js';
import { isStoredInVain } from './deleted-runs.js';

/**
 * | what happens | outcome |
 * |---|---|
 * | everything is stored | the ids, one for each chunk |
 * | this worker has no blob store, or the conversation has been deleted | no ids: the messages are carried |
 * | the store is away | failure `store_unavailable`: the messages are carried |
 * | the messages cannot be had | failure `transcript_miss`: the same |
 */
export async function spillTranscript(
  tools: ActivityTools,
  input: SpillTranscriptInput,
): Promise<SpillTranscriptResult> {
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
      [...unused, ...(await untoldIds(tools, input))].filter((id) => !ids.includes(id)),
    );
    const remove = async () => tools.chunks?.remove(key, ids);
    if (await isStoredInVain(tools, key, remove)) return {};
    const stored = ids.map((id, index) => ({ id, count: chunks[index] ?? 0 }));
    tools.transcripts.stored(runOf(Context.current()), wanted, stored);
    return { ids };
  } catch (error) {
    tools.logger.warn('messages not stored', { ...key, reason: reasonOf(error) });
    throw toFailure(error, 'store_unavailable');
  }
}

/**
 * Of chunks that an order may have left whose answer was lost: named by their content, they can be found by it. None is in use but what
 * this order stores: the workflow names only messages that the transcript still has whole, and no message is in it twice.
 */
async function untoldIds(
  tools: ActivityTools,
  { untold = [] }: SpillTranscriptInput,
): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const { messages: wanted, chunks } of untold) {
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

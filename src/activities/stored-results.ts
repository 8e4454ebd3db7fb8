/** Large results of tool calls: how an activity stores them, and how a tool's code reads them. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { StoredResults } from '../define/context.js';
import type { ConversationKey } from '../protocol/ids.js';
import { KEEP_RESULT_DEADLINE_MS } from '../protocol/limits.js';
import type { LargeResults } from '../tools/large-results.js';
import { READ_RESULTS } from '../tools/read-results.js';
import type { ActivityTools } from './deps.js';
import { reasonOf } from './failure.js';

/** A store that is away, or slow, costs the rest of the result and never the call. */
export function largeResults(
  tools: ActivityTools,
  input: ConversationKey & { readonly agent: string },
): { readonly large?: LargeResults } {
  const { blobs, registry, logger } = tools;
  if (blobs === undefined) return {};
  const { tenant, conversationId, agent } = input;
  const key = { tenant, conversationId };
  const keep: LargeResults['keep'] = async (text, type) => {
    const over = new AbortController();
    try {
      return await Promise.race([
        blobs.put(key, { type, content: Buffer.from(text) }),
        tooLate(over.signal),
      ]);
    } catch (error) {
      logger.warn('large result not stored', { ...key, reason: reasonOf(error) });
      return undefined;
    } finally {
      over.abort();
    }
  };
  return { large: { keep, readable: registry.tool(agent, READ_RESULTS) !== undefined } };
}

async function tooLate(over: AbortSignal): Promise<never> {
  await sleep(KEEP_RESULT_DEADLINE_MS, undefined, { signal: over });
  throw new Error(`not stored within ${KEEP_RESULT_DEADLINE_MS} ms`);
}

/** Nothing of another conversation can be read: every reading is of this one. */
export function storedResultsOf(tools: ActivityTools, key: ConversationKey): StoredResults {
  const { blobs } = tools;
  const { tenant, conversationId } = key;
  return {
    read: async (id, range) => {
      const found = await blobs?.get({ tenant, conversationId }, id, range);
      if (found === undefined) return undefined;
      const { ref, content } = found;
      return { bytes: ref.bytes, type: ref.type, content };
    },
  };
}

/** Stores large results of tool calls for an activity, and reads them for a tool's code. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { StoredResults } from '../../define/tool/context.js';
import { unavailable } from '../../model/shared/failure.js';
import type { BlobContent } from '../../projection/index.js';
import { AUDIT_HEAD, auditOf } from '../../projection/model-calls/audited.js';
import { KEEP_RESULT_DEADLINE_MS } from '../../protocol/limits/service-limits.js';
import type { ModelFiles } from '../../protocol/model/model.js';
import type { BlobRef } from '../../protocol/values/blobs.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import type { LargeResults } from '../../tools/results/large-results.js';
import { READ_RESULTS } from '../../tools/results/read-results.js';
import type { ActivityTools } from '../shared/deps.js';
import { reasonOf } from '../shared/failure.js';
import { isOrphanChunk } from './deleted-runs.js';

/** An unavailable or slow store loses the rest of the result, never the call. */
export function largeResults(
  tools: ActivityTools,
  input: ConversationKey & { readonly agent: string },
): { readonly large?: LargeResults } {
  if (tools.blobs === undefined) return {};
  const keep: LargeResults['keep'] = (text, type) =>
    stored(tools, input, { type, content: Buffer.from(text) });
  const readable = tools.registry.tool(input.agent, READ_RESULTS) !== undefined;
  const keepFile = (content: Uint8Array): Promise<BlobRef | undefined> =>
    stored(tools, input, { type: 'application/octet-stream', content });
  return { large: { keep, keepFile, readable } };
}

/** Files of a conversation for its model. */
export function modelFiles(
  tools: ActivityTools,
  key: ConversationKey,
): { readonly files?: ModelFiles } {
  const { blobs } = tools;
  if (blobs === undefined) return {};
  const { tenant, conversationId } = key;
  const files: ModelFiles = {
    read: async ({ id }) => {
      try {
        const found = await blobs.get({ tenant, conversationId }, id);
        return found === undefined || auditOf(found.content) !== undefined
          ? undefined
          : found.content;
      } catch (error) {
        tools.logger.warn('file not read', { tenant, conversationId, reason: reasonOf(error) });
        throw unavailable('The store of files cannot be read');
      }
    },
    write: (content) => stored(tools, key, { type: 'application/octet-stream', content }),
  };
  return { files };
}

/** Undefined, at the latest after `KEEP_RESULT_DEADLINE_MS`, when the blob cannot be stored now. Never throws. */
export async function stored(
  tools: ActivityTools,
  { tenant, conversationId }: ConversationKey,
  blob: BlobContent,
): Promise<BlobRef | undefined> {
  const over = new AbortController();
  const key = { tenant, conversationId };
  try {
    return await Promise.race([kept(tools, key, blob), tooLate(over.signal)]);
  } catch (error) {
    tools.logger.warn('large result not stored', { ...key, reason: reasonOf(error) });
    return undefined;
  } finally {
    over.abort();
  }
}

/** Undefined when the conversation has been deleted meanwhile. */
async function kept(
  tools: ActivityTools,
  key: ConversationKey,
  blob: BlobContent,
): Promise<BlobRef | undefined> {
  const ref = await tools.blobs?.put(key, blob);
  if (ref === undefined) return undefined;
  const remove = async () => tools.blobs?.delete?.(key, [ref.id]);
  return (await isOrphanChunk(tools, key, remove)) ? undefined : ref;
}

async function tooLate(over: AbortSignal): Promise<never> {
  await sleep(KEEP_RESULT_DEADLINE_MS, undefined, { signal: over });
  throw new Error(`not stored within ${KEEP_RESULT_DEADLINE_MS} ms`);
}

/**
 * Reads results of this conversation only; results of other conversations are unreachable, and so are audits of model
 * calls, which have the instructions of the agent.
 */
export function storedResultsOf(tools: ActivityTools, key: ConversationKey): StoredResults {
  const { blobs } = tools;
  const { tenant, conversationId } = key;
  const of = { tenant, conversationId };
  return {
    read: async (id, range) => {
      const found = await blobs?.get(of, id, range);
      if (found === undefined) return undefined;
      const head = range === undefined ? found : await blobs?.get(of, id, AUDIT_HEAD);
      if (head === undefined || auditOf(head.content) !== undefined) return undefined;
      const { ref, content } = found;
      return { bytes: ref.bytes, type: ref.type, content };
    },
  };
}

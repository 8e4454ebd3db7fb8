/** The client's deletions port over the event log, and the blobs, webhooks, spaces and documents beside it. */
import type { DeletionsPort } from '../../client/ports/deletions.js';
import { MAX_LIST_PAGE } from '../../protocol/limits/service-limits.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import type { BlobStore } from '../../store/ports/blobs.js';
import { isDeletedRun } from '../../store/ports/deletions.js';
import type { DocumentStore } from '../../store/ports/documents/documents.js';
import { type LiveChannel, tenantKey } from '../../store/ports/live.js';
import type { EventLog } from '../../store/ports/log.js';
import type { SpaceStore } from '../../store/ports/spaces/spaces.js';
import type { WebhookStore } from '../../store/ports/webhooks.js';

const PAGE = 200;
/** Behind every id of a stored value. */
const LAST = { id: 'g' };

/**
 * Whether a run writes after the deletion of its conversation, for none. False as well when another conversation has
 * begun under the id: a blob stored now belongs to that one, and is deleted with it.
 */
export function createIsOrphanedRun(
  log: Pick<EventLog, 'deletion' | 'head'>,
): (key: ConversationKey, runId: string) => Promise<boolean> {
  return async (key, runId) =>
    (await isDeletedRun(log, key, runId)) && (await log.head(key)) === undefined;
}

export function createDeletions(deps: {
  readonly log: EventLog;
  readonly blobs?: BlobStore | undefined;
  readonly webhooks?: WebhookStore | undefined;
  readonly spaces?: SpaceStore | undefined;
  readonly documents?: DocumentStore | undefined;
  /** Gets a hint of each deletion, so that calls of the conversation leave worklists and offers at once. */
  readonly live?: LiveChannel | undefined;
}): DeletionsPort {
  const { log, blobs, webhooks, spaces, documents, live } = deps;
  return {
    isKnown: async (key) =>
      (await log.head(key)) !== undefined ||
      (await log.deletion(key)) !== undefined ||
      (await hasBlobs(blobs, key)),
    isDeleted: async (key) =>
      (await log.head(key)) === undefined && (await log.deletion(key)) !== undefined,
    isDeletedRun: (key, runId) => isDeletedRun(log, key, runId),
    begin: async ({ unlessMoved, ...request }) => {
      const onlyAt = unlessMoved === undefined ? {} : { onlyAt: unlessMoved };
      const begun = await log.beginDeletion({ ...request, ...onlyAt });
      if (begun === undefined) return undefined;
      const { tenant, conversationId: moved } = request;
      live?.publish({ type: 'appended', ...tenantKey(tenant), generation: 0, lastSeq: 0, moved });
      await blobs?.delete(request);
      return begun.runIds;
    },
    below: (key) => storedBelow(log, key),
    extend: async ({ resumed = false, ...request }) => {
      const known = await log.deletion(request);
      await log.extendDeletion(request);
      // Deleted again, because the tools of its runs could store more until the runs had ended. Not if another
      // conversation has begun under the id.
      if ((await log.head(request)) !== undefined) return;
      const hadAll = request.runIds.every((id) => known?.runIds.includes(id));
      // Runs of the tombstone remove what they store late; only one that it did not have leaves it.
      if (resumed && known !== undefined && hadAll)
        await removeBefore(blobs, request, known.requestedAtMs);
      else await blobs?.delete(request);
    },
    finish: (request) => log.finishDeletion(request),
    removeOfTenant: async (tenant) => {
      await webhooks?.removeEndpoints(tenant);
      await spaces?.removeOfTenant(tenant);
      await documents?.removeOfTenant(tenant);
    },
    ofTenant: async function* (tenant) {
      for (let after: string | undefined; ; ) {
        const page = await log.keysOfTenant({
          tenant,
          limit: PAGE,
          ...(after === undefined ? {} : { after }),
        });
        yield* page;
        after = page.at(-1)?.conversationId;
        if (after === undefined || page.length < PAGE) break;
      }
      if (blobs !== undefined) yield* keysOfBlobs(blobs, tenant);
    },
  };
}

/** Whether values are stored for a conversation, such as files of a message that was never sent. */
async function hasBlobs(
  blobs: Pick<BlobStore, 'list'> | undefined,
  key: ConversationKey,
): Promise<boolean> {
  const { tenant, conversationId } = key;
  const after = { tenant, conversationId, ref: { id: '' } };
  const [first] = (await blobs?.list({ tenant, limit: 1, after })) ?? [];
  return first?.conversationId === conversationId;
}

/** Removes values that were stored before a time in milliseconds since 1970. */
async function removeBefore(
  blobs: BlobStore | undefined,
  { tenant, conversationId }: ConversationKey,
  beforeMs: number,
): Promise<void> {
  let after = { tenant, conversationId, ref: { id: '' } };
  for (;;) {
    const page = (await blobs?.list({ tenant, limit: PAGE, after })) ?? [];
    const own = page.filter((blob) => blob.conversationId === conversationId);
    const old = own.filter(({ storedAt }) => Date.parse(storedAt) < beforeMs);
    const ids = old.map(({ ref }) => ref.id);
    if (ids.length > 0) await blobs?.delete({ tenant, conversationId }, ids);
    const last = own.at(-1);
    if (last === undefined || own.length < PAGE) return;
    after = { tenant, conversationId, ref: { id: last.ref.id } };
  }
}

/** Conversations of a tenant for which values are stored. */
async function* keysOfBlobs(
  blobs: Pick<BlobStore, 'list'>,
  tenant: string,
): AsyncGenerator<ConversationKey> {
  for (let after: ConversationKey | undefined; ; ) {
    const behind = after === undefined ? {} : { after: { ...after, ref: LAST } };
    const [next] = await blobs.list({ tenant, limit: 1, ...behind });
    if (next === undefined) return;
    after = { tenant, conversationId: next.conversationId };
    yield after;
  }
}

/** Sub-agents of a deleted conversation that are to be deleted with it, at any depth. */
async function storedBelow(
  log: Pick<EventLog, 'deletion' | 'list'>,
  { tenant, conversationId: above }: ConversationKey,
): Promise<readonly ConversationKey[]> {
  const root = (await log.deletion({ tenant, conversationId: above }))?.root;
  const below: ConversationKey[] = [];
  if (root === undefined) return below;
  for (let cursor: string | undefined; ; ) {
    const from = cursor === undefined ? {} : { cursor };
    const page = await log.list({ tenant, root, limit: MAX_LIST_PAGE, ...from });
    for (const { conversationId, parent } of page.conversations)
      if (parent?.path.some((step) => step.conversationId === above) === true)
        below.push({ tenant, conversationId });
    cursor = page.nextCursor;
    if (cursor === undefined) return below;
  }
}

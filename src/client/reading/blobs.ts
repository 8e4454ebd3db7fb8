/** Reads stored values of a conversation for an application, and stores files that it adds. */

import { MAX_BLOB_BYTES } from '../../protocol/limits/service-limits.js';
import type { BlobRef } from '../../protocol/values/blobs.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { ConversationError, invalidField } from '../api/errors.js';
import type { BlobRange, BlobRead, BlobsPort } from '../ports/blobs.js';

/** @throws {ConversationError} unknown_blob, also if no store is configured; errors of the store */
export async function readBlob(
  blobs: BlobsPort | undefined,
  key: ConversationKey,
  wanted: { readonly id: string; readonly range: BlobRange | undefined },
): Promise<BlobRead> {
  const { id, range } = wanted;
  const found = await blobs?.get(key, id, range);
  if (found !== undefined) return found;
  const reason = blobs === undefined ? '; no blob store is configured here' : '';
  throw new ConversationError(
    'unknown_blob',
    `Conversation "${key.conversationId}" has no stored value "${id}"${reason}`,
  );
}

/**
 * Stores a file for the attachments of a message. Safe to repeat: the same bytes have the same reference.
 * @throws {ConversationError} invalid_request; body_too_large; store_unavailable, also if no store is configured
 */
export async function storeFile(
  blobs: BlobsPort | undefined,
  key: ConversationKey,
  content: Uint8Array,
): Promise<BlobRef> {
  if (!((content as unknown) instanceof Uint8Array) || content.byteLength === 0)
    throw invalidField('', 'must be the bytes of a file, at least one');
  if (content.byteLength > MAX_BLOB_BYTES)
    throw new ConversationError(
      'body_too_large',
      `A file may have at most ${MAX_BLOB_BYTES} bytes, got ${content.byteLength}`,
    );
  if (blobs?.put === undefined)
    throw new ConversationError('store_unavailable', 'No blob store is configured here');
  return await blobs.put(key, { type: 'application/octet-stream', content });
}

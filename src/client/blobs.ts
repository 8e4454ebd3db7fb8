/** Stored values of a conversation, as an application reads them. */
import type { BlobRef } from '../protocol/blobs.js';
import type { ConversationKey } from '../protocol/ids.js';
import { EngineError } from './errors.js';

/** Bytes of a stored value; what lies beyond its end is left out. */
export interface BlobRange {
  /** From 0. */
  readonly offset: number;
  readonly length: number;
}

export interface BlobRead {
  readonly ref: BlobRef;
  /** Of the range, or all of it. */
  readonly content: Uint8Array;
}

/** The blobs port of the client: where large values are read. The blob store of the event log fits. */
export interface BlobsPort {
  get(key: ConversationKey, id: string, range?: BlobRange): Promise<BlobRead | undefined>;
}

/** @throws {EngineError} unknown_blob, also where no store is configured; whatever the store throws */
export async function readBlob(
  blobs: BlobsPort | undefined,
  key: ConversationKey,
  wanted: { readonly id: string; readonly range: BlobRange | undefined },
): Promise<BlobRead> {
  const { id, range } = wanted;
  const found = await blobs?.get(key, id, range);
  if (found !== undefined) return found;
  const reason = blobs === undefined ? '; no blob store is configured here' : '';
  throw new EngineError(
    'unknown_blob',
    `Conversation "${key.conversationId}" has no stored value "${id}"${reason}`,
  );
}

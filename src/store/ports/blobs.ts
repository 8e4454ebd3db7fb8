/**
 * The blob port: stores values that are too large for events and payloads by the hash of their content, each within its
 * conversation. Adapters: sqlite, Postgres and a folder; one conformance suite (`test/support/conformance/blobs.ts`)
 * holds for all. Every method may reject with `StoreUnavailable`. Blobs never change, so every reader may cache them
 * for ever.
 */
import { createHash } from 'node:crypto';
import { MAX_BLOB_BYTES } from '../../protocol/limits/service-limits.js';
import { BLOB_TYPES, type BlobRef, type BlobType, isBlobId } from '../../protocol/values/blobs.js';
import type { ConversationKey } from '../../protocol/values/ids.js';

export interface BlobContent {
  readonly type: BlobType;
  /** At most `MAX_BLOB_BYTES`. */
  readonly content: Uint8Array;
}

/** Bytes of a blob; a part beyond its end is left out. */
export interface BlobRange {
  /** From 0. */
  readonly offset: number;
  readonly length: number;
}

export interface BlobRead {
  readonly ref: BlobRef;
  /** The bytes of the range, or all bytes. */
  readonly content: Uint8Array;
}

export interface StoredBlob extends ConversationKey {
  readonly ref: BlobRef;
  /** ISO 8601; the time of the last `put`. */
  readonly storedAt: string;
}

export interface BlobListOptions {
  /** @defaultValue all of them */
  readonly tenant?: string;
  readonly limit: number;
  /** The last blob of the previous page. */
  readonly after?: ConversationKey & { readonly ref: Pick<BlobRef, 'id'> };
}

export interface BlobStore {
  /**
   * Stores a value under the hash of its content. Safe to repeat, and to run in several processes at once: the value is
   * stored once, and every call returns the same reference. Stored whole or not at all, also when the process dies.
   * @throws {RangeError} when it is larger than `MAX_BLOB_BYTES`.
   */
  put(key: ConversationKey, blob: BlobContent): Promise<BlobRef>;
  /** Undefined when this conversation has no such blob, even if another has; also for a text that is not a blob id. */
  get(key: ConversationKey, id: string, range?: BlobRange): Promise<BlobRead | undefined>;
  /** In the order of tenant, conversation and id; for clean-up. */
  list(options: BlobListOptions): Promise<readonly StoredBlob[]>;
  /** Removes these blobs of a conversation, or all of them; resolves to their number. Safe to repeat. */
  delete(key: ConversationKey, ids?: readonly string[]): Promise<number>;
  close(): Promise<void>;
}

/** The reference of a value, the same in every store. @throws {RangeError} when it is larger than `MAX_BLOB_BYTES`. */
export function blobRefOf({ type, content }: BlobContent): BlobRef {
  const bytes = content.byteLength;
  if (bytes > MAX_BLOB_BYTES)
    throw new RangeError(`a blob has at most ${MAX_BLOB_BYTES} bytes, got ${bytes}`);
  const id = createHash('sha256').update(`${type}\n`).update(content).digest('hex');
  return { id, bytes, type };
}

/** Converts any numbers to a valid range: whole numbers from 0. */
export function wholeRange({ offset, length }: BlobRange): BlobRange {
  return { offset: wholeFrom(offset), length: wholeFrom(length) };
}

function wholeFrom(value: number): number {
  return Math.min(Math.max(0, Math.floor(value)), MAX_BLOB_BYTES) || 0;
}

/**
 * The reference of a stored row. @throws {TypeError} when the row is not a stored blob, because another program has
 * changed it.
 */
export function storedRef(id: unknown, bytes: unknown, type: unknown): BlobRef {
  const known = BLOB_TYPES.find((name) => name === type);
  if (known === undefined || !isBlobId(id)) throw new TypeError('not a stored blob');
  return { id, bytes: Number(bytes), type: known };
}

/** The blobs port of the client: interfaces only. */
import type { BlobRef } from '../../protocol/values/blobs.js';
import type { ConversationKey } from '../../protocol/values/ids.js';

/** Bytes of a stored value; a part beyond its end is left out. */
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

/** Reads large values and stores files. The blob store of the event log implements it. */
export interface BlobsPort {
  get(key: ConversationKey, id: string, range?: BlobRange): Promise<BlobRead | undefined>;
  /** Absent: this client cannot store files. */
  put?(
    key: ConversationKey,
    file: { readonly type: 'application/octet-stream'; readonly content: Uint8Array },
  ): Promise<BlobRef>;
}

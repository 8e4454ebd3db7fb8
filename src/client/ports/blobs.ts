/** What a client needs to read stored values: interfaces only. */
import type { BlobRef } from '../../protocol/values/blobs.js';
import type { ConversationKey } from '../../protocol/values/ids.js';

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

/** The blobs port of the client: where large values are read, and files are stored. The blob store of the event log fits. */
export interface BlobsPort {
  get(key: ConversationKey, id: string, range?: BlobRange): Promise<BlobRead | undefined>;
  /** Absent: nothing can be stored from here. */
  put?(
    key: ConversationKey,
    file: { readonly type: 'application/octet-stream'; readonly content: Uint8Array },
  ): Promise<BlobRef>;
}

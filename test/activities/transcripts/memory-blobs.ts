/** A blob store in the memory of a test. */
import { type BlobContent, blobRefOf } from '../../../src/store/ports/blobs.js';
import type { key } from '../tools/fixtures.js';

export class MemoryBlobs {
  readonly stored = new Map<string, BlobContent>();

  put(about: typeof key, blob: BlobContent) {
    const ref = blobRefOf(blob);
    this.stored.set(`${about.conversationId} ${ref.id}`, blob);
    return Promise.resolve(ref);
  }

  get(about: typeof key, id: string) {
    const blob = this.stored.get(`${about.conversationId} ${id}`);
    if (blob === undefined) return Promise.resolve(undefined);
    return Promise.resolve({ ref: blobRefOf(blob), content: blob.content });
  }
}

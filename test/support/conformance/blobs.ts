/** The contract of every adapter of the blob port. `make` gives an empty store each time. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAX_BLOB_BYTES } from '../../../src/protocol/limits/service-limits.js';
import { BLOB_TYPES, type BlobType } from '../../../src/protocol/values/blobs.js';
import type { ConversationKey } from '../../../src/protocol/values/ids.js';
import type { BlobContent, BlobRead, BlobStore } from '../../../src/store/ports/blobs.js';

const KEY: ConversationKey = { tenant: 'default', conversationId: 'c1' };
const text = (content: string, type: BlobType = 'text/plain'): BlobContent => ({
  type,
  content: Buffer.from(content),
});
const shown = (read: BlobRead | undefined): string | undefined =>
  read === undefined ? undefined : Buffer.from(read.content).toString();

export function describeBlobs(name: string, make: () => Promise<BlobStore>): void {
  describe(name, () => {
    let blobs: BlobStore;
    beforeEach(async () => {
      blobs = await make();
    });
    afterEach(async () => {
      await blobs.close();
    });
    const all = async (): Promise<readonly string[]> =>
      (await blobs.list({ limit: 100 })).map(
        ({ tenant, conversationId, ref }) => `${tenant}/${conversationId}/${ref.bytes}`,
      );

    it.each(BLOB_TYPES)('returns a value of type %s byte for byte', async (type) => {
      const content = Uint8Array.from({ length: 1_000 }, (_, index) => index % 256);
      const ref = await blobs.put(KEY, { type, content });
      const id = expect.stringMatching(/^[0-9a-f]{64}$/) as string;
      expect(ref).toEqual({ id, bytes: 1_000, type });
      const read = await blobs.get(KEY, ref.id);
      expect(read?.ref).toEqual(ref);
      expect(Buffer.from(read?.content ?? []).equals(content)).toBe(true);
      expect(await blobs.list({ limit: 9 })).toMatchObject([{ ...KEY, ref }]);
      expect(await blobs.delete(KEY, [ref.id])).toBe(1);
      expect(await blobs.get(KEY, ref.id)).toBeUndefined();
    });

    it('returns the same reference for the same value, and keeps it once', async () => {
      const [one, two] = await Promise.all([
        blobs.put(KEY, text('the same')),
        blobs.put(KEY, text('the same')),
      ]);
      expect(two).toEqual(one);
      expect(await blobs.put(KEY, text('the same'))).toEqual(one);
      expect(await all()).toEqual(['default/c1/8']);
    });

    it('keeps equal bytes of another type apart', async () => {
      const plain = await blobs.put(KEY, text('"a"'));
      const json = await blobs.put(KEY, text('"a"', 'application/json'));
      expect(json.id).not.toBe(plain.id);
      expect((await blobs.get(KEY, plain.id))?.ref.type).toBe('text/plain');
      expect((await blobs.get(KEY, json.id))?.ref.type).toBe('application/json');
    });

    it('returns any part, and the bytes that exist of a part beyond the end', async () => {
      const { id } = await blobs.put(KEY, text('0123456789'));
      const part = async (offset: number, length: number): Promise<string | undefined> =>
        shown(await blobs.get(KEY, id, { offset, length }));
      expect(await part(0, 3)).toBe('012');
      expect(await part(7, 2)).toBe('78');
      expect(await part(8, 100)).toBe('89');
      expect(await part(10, 5)).toBe('');
      expect(await part(99, 5)).toBe('');
      expect(await part(4, 0)).toBe('');
      expect(await part(-5, Number.MAX_SAFE_INTEGER)).toBe('0123456789');
      expect((await blobs.get(KEY, id, { offset: 2, length: 1 }))?.ref.bytes).toBe(10);
    });

    it('keeps an empty value', async () => {
      const ref = await blobs.put(KEY, text(''));
      expect(ref.bytes).toBe(0);
      expect(shown(await blobs.get(KEY, ref.id))).toBe('');
    });

    it('returns nothing for a value that was never put, and for a malformed id', async () => {
      await blobs.put(KEY, text('a'));
      expect(await blobs.get(KEY, 'f'.repeat(64))).toBeUndefined();
      for (const id of ['', 'nothing', '../../etc/passwd', 'a\0b', 'F'.repeat(64)])
        expect(await blobs.get(KEY, id)).toBeUndefined();
    });

    it('shows a value to its own conversation alone, however alike the ids are', async () => {
      const ref = await blobs.put(KEY, text('secret'));
      const others: readonly ConversationKey[] = [
        { ...KEY, conversationId: 'c2' },
        { ...KEY, conversationId: 'C1' },
        { ...KEY, tenant: 'other' },
        { tenant: 'default/c1', conversationId: '' },
      ];
      for (const other of others) expect(await blobs.get(other, ref.id)).toBeUndefined();
      expect(shown(await blobs.get(KEY, ref.id))).toBe('secret');
    });

    it('serves conversations whose ids are names of folders', async () => {
      for (const conversationId of ['..', '.', 'CON', 'x'.repeat(128)]) {
        const ref = await blobs.put({ ...KEY, conversationId }, text(conversationId));
        expect(shown(await blobs.get({ ...KEY, conversationId }, ref.id))).toBe(conversationId);
      }
    });

    it('takes a value of the largest size, and refuses a larger one with the name of the limit', async () => {
      const content = Buffer.alloc(MAX_BLOB_BYTES, 'x');
      const ref = await blobs.put(KEY, { type: 'text/plain', content });
      const last = { offset: MAX_BLOB_BYTES - 2, length: 10 };
      expect(shown(await blobs.get(KEY, ref.id, last))).toBe('xx');
      const larger = Buffer.alloc(MAX_BLOB_BYTES + 1, 'x');
      await expect(blobs.put(KEY, { type: 'text/plain', content: larger })).rejects.toThrow(
        `a blob has at most ${MAX_BLOB_BYTES} bytes`,
      );
    });

    it('lists in pages, each blob once, with the time at which it was put', async () => {
      const before = Date.now();
      const keys = ['a', 'b', 'c'].map((conversationId) => ({ ...KEY, conversationId }));
      for (const key of keys) for (const value of ['1', '22']) await blobs.put(key, text(value));
      await blobs.put({ ...KEY, tenant: 'other' }, text('333'));
      const pages: string[] = [];
      let after: Awaited<ReturnType<BlobStore['list']>>[number] | undefined;
      for (;;) {
        const page = await blobs.list({ limit: 2, ...(after === undefined ? {} : { after }) });
        for (const { tenant, conversationId, ref, storedAt } of page) {
          pages.push(`${tenant}/${conversationId}/${ref.id}`);
          expect(Date.parse(storedAt)).toBeGreaterThanOrEqual(before - 2_000);
        }
        after = page.at(-1);
        if (page.length < 2) break;
      }
      expect(pages).toHaveLength(7);
      expect(pages).toEqual([...new Set(pages)].sort());
      expect(await blobs.list({ tenant: 'other', limit: 9 })).toMatchObject([
        { tenant: 'other', conversationId: 'c1', ref: { bytes: 3, type: 'text/plain' } },
      ]);
    });

    it('removes single blobs, or those of a conversation, and nothing else', async () => {
      const one = await blobs.put(KEY, text('1'));
      await blobs.put(KEY, text('22'));
      await blobs.put({ ...KEY, conversationId: 'c2' }, text('333'));
      await blobs.put({ ...KEY, tenant: 'other' }, text('4444'));
      await blobs.put({ tenant: 'other', conversationId: 'c9' }, text('55555'));
      expect(await blobs.delete(KEY, [one.id, 'f'.repeat(64)])).toBe(1);
      expect(await all()).toEqual(['default/c1/2', 'default/c2/3', 'other/c1/4', 'other/c9/5']);
      expect(await blobs.delete(KEY, [])).toBe(0);
      expect(await blobs.delete(KEY)).toBe(1);
      expect(await blobs.delete(KEY)).toBe(0);
      expect(await all()).toEqual(['default/c2/3', 'other/c1/4', 'other/c9/5']);
      expect((await blobs.put(KEY, text('1'))).id).toBe(one.id);
      expect(shown(await blobs.get(KEY, one.id))).toBe('1');
    });
  });
}

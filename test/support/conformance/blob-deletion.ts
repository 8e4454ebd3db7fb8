/** Checks that a blob store has nothing left of a deleted conversation, wherever the blobs lie. */
import { describe, expect, it } from 'vitest';
import { createDeletions, createIsOrphanedRun } from '../../../src/projection/duties/deletions.js';
import { TranscriptChunks } from '../../../src/projection/reading/transcript-chunks.js';
import type { BlobStore } from '../../../src/store/ports/blobs.js';
import type { EventLog } from '../../../src/store/ports/log.js';
import { KEY, stamped, started, turn } from '../samples/log-events.js';
import { until } from '../until.js';

interface Stores {
  readonly log: EventLog;
  readonly blobs: BlobStore;
}

const EVENTS = stamped([started(), ...turn('t1')]);
const OTHER = { ...KEY, conversationId: 'other' };
const STRANGER = { ...KEY, tenant: 'stranger' };
const RESULT = { type: 'text/plain', content: Buffer.from('a large result') } as const;

export function describeDeletedBlobs(name: string, open: () => Promise<Stores>): void {
  describe(name, () => {
    /** A conversation, another one and one of another tenant, each with a result and stored messages. */
    async function three() {
      const { log, blobs } = await open();
      const chunks = new TranscriptChunks({ log, blobs });
      for (const key of [KEY, OTHER, STRANGER]) {
        await log.append({ ...key, runId: 'run-a', events: EVENTS });
        await blobs.put(key, RESULT);
        await chunks.put(key, [{ role: 'user', id: 'm', turnId: 't1', parts: [] }]);
      }
      const left = async () =>
        (await blobs.list({ limit: 99 })).map(
          ({ tenant, conversationId }) => `${tenant}/${conversationId}`,
        );
      const deletions = createDeletions({ log, blobs });
      return { log, blobs, left, deletions, isOrphanedRun: createIsOrphanedRun(log) };
    }
    const twice = ({ tenant, conversationId }: typeof KEY) => {
      const line = `${tenant}/${conversationId}`;
      return [line, line];
    };

    it('are gone with their conversation, results and stored messages, and no others', async () => {
      const { left, deletions } = await three();
      const runIds = (await deletions.begin({ ...KEY, runIds: ['run-a'] })) ?? [];
      expect(await left()).toEqual([...twice(OTHER), ...twice(STRANGER)]);
      await deletions.finish({ ...KEY, runIds });
      expect(await left()).toEqual([...twice(OTHER), ...twice(STRANGER)]);
    });

    it('are gone with their tenant', async () => {
      const { left, deletions } = await three();
      for await (const key of deletions.ofTenant(KEY.tenant)) {
        const runIds = (await deletions.begin({ ...key, runIds: [] })) ?? [];
        await deletions.finish({ ...key, runIds });
      }
      expect(await left()).toEqual(twice(STRANGER));
    });

    it('are gone with a conversation that never began, whose files were stored for its first message', async () => {
      const { blobs, left, deletions } = await three();
      const never = { ...KEY, conversationId: 'never' };
      for (const content of ['1', '2'])
        await blobs.put(never, { type: 'application/octet-stream', content: Buffer.from(content) });
      expect(await deletions.isKnown(never)).toBe(true);
      expect(await deletions.isKnown({ ...KEY, conversationId: 'neve' })).toBe(false);
      expect(await deletions.isKnown({ ...never, tenant: 'stranger' })).toBe(false);
      const keys = new Set<string>();
      for await (const { conversationId } of deletions.ofTenant(KEY.tenant))
        keys.add(conversationId);
      expect([...keys].sort()).toEqual([KEY, OTHER, never].map((key) => key.conversationId).sort());
      await deletions.begin({ ...never, runIds: [] });
      expect(await left()).toEqual([...twice(KEY), ...twice(OTHER), ...twice(STRANGER)]);
    });

    it('are gone when they came between the beginning of the deletion and the end of its runs', async () => {
      const { blobs, left, deletions } = await three();
      await deletions.begin({ ...KEY, runIds: [] });
      await blobs.put(KEY, RESULT);
      await deletions.extend({ ...KEY, runIds: ['run-a'] });
      expect(await left()).not.toContain(twice(KEY)[0]);
    });

    describe('once the deletion is continued', () => {
      const RESUMED = { ...KEY, runIds: ['run-a'], resumed: true };
      const file = (name: string) => {
        return { type: 'application/octet-stream', content: Buffer.from(name) } as const;
      };

      /** Times of files are of the clock tick before. */
      const later = async () => {
        const from = Date.now();
        await until('a later time', () => Date.now() > from + 20);
      };

      it('are kept where they came since for the next conversation under the id', async () => {
        const { blobs, deletions } = await three();
        await deletions.begin({ ...KEY, runIds: [] });
        await later();
        const { id } = await blobs.put(KEY, file('next'));
        await deletions.extend(RESUMED);
        expect(await blobs.get(KEY, id)).toMatchObject({ ref: { id } });
      });

      it('are gone where they came before it, or from a run that it did not know', async () => {
        const { log, blobs, deletions } = await three();
        const { id } = await blobs.put(KEY, file('old'));
        await later();
        // The process was killed before it removed the values.
        await createDeletions({ log }).begin({ ...KEY, runIds: [] });
        await later();
        const next = await blobs.put(KEY, file('next'));
        await deletions.extend(RESUMED);
        expect(await blobs.get(KEY, id)).toBeUndefined();
        expect(await blobs.get(KEY, next.id)).toMatchObject({ ref: { id: next.id } });
        await deletions.extend({ ...RESUMED, runIds: ['run-a', 'run-b'] });
        expect(await blobs.get(KEY, next.id)).toBeUndefined();
      });
    });

    it('are refused as too late, unless another conversation has begun under the id', async () => {
      const { log, blobs, left, deletions, isOrphanedRun } = await three();
      expect(await isOrphanedRun(KEY, 'run-a')).toBe(false);
      const runIds = (await deletions.begin({ ...KEY, runIds: ['run-b'] })) ?? [];
      await deletions.finish({ ...KEY, runIds });
      expect(await isOrphanedRun(KEY, 'run-a')).toBe(true);
      expect(await isOrphanedRun(KEY, 'run-b')).toBe(true);
      expect(await isOrphanedRun(KEY, 'run-c')).toBe(false);
      await log.append({ ...KEY, runId: 'run-c', events: EVENTS });
      await blobs.put(KEY, RESULT);
      // A repeat of the old deletion keeps the blobs of the new conversation.
      await deletions.extend({ ...KEY, runIds: ['run-a', 'run-b'] });
      await deletions.finish({ ...KEY, runIds });
      expect(await left()).toContain(twice(KEY)[0]);
      expect(await isOrphanedRun(KEY, 'run-a')).toBe(false);
    });
  });
}

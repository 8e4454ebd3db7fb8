/** Files that a model receives and makes: stored beside the log of their conversation. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadFiles, urlOf } from '../../../src/model/shared/files.js';
import type { Message } from '../../../src/protocol/conversation/messages.js';
import { auditText } from '../../../src/protocol/model/audits.js';
import type { ModelFiles } from '../../../src/protocol/model/model.js';
import type { ImagePart } from '../../../src/protocol/values/attachments.js';
import { blobRefOf } from '../../../src/store/ports/blobs.js';
import { openSqliteStores } from '../../../src/store/sqlite/event-log.js';
import { promise } from '../../support/promise.js';
import { answer, environment, key, modelInput, modelOf, setUp } from '../tools/fixtures.js';
import { MemoryBlobs } from '../transcripts/memory-blobs.js';

async function withFiles(
  blobs: Pick<MemoryBlobs, 'put' | 'get'> | undefined,
  use: (files: ModelFiles | undefined) => Promise<void>,
): Promise<void> {
  const { activities } = setUp({
    model: modelOf(async (_request, { files }) => {
      await use(files);
      return answer();
    }),
    ...(blobs === undefined ? {} : { blobs }),
  });
  await environment().run(activities.callModel, modelInput());
}

const CONTENT = new Uint8Array([1, 2, 3]);
const IMAGE: ImagePart = {
  type: 'image',
  source: { blob: blobRefOf({ type: 'application/octet-stream', content: CONTENT }) },
  mediaType: 'image/png',
};

describe('a model', () => {
  it('finds its stored files again, in its own conversation', async () => {
    const blobs = new MemoryBlobs();
    await withFiles(blobs, async (files) => {
      const ref = await files?.write(CONTENT);
      expect(ref).toMatchObject({ bytes: 3, type: 'application/octet-stream' });
      expect(await files?.read(ref!)).toEqual(CONTENT);
      expect(await files?.read({ ...ref!, id: 'f'.repeat(64) })).toBeUndefined();
    });
    expect([...blobs.stored.keys()][0]).toContain(key.conversationId);
  });

  it('never gets the audit of a model call, which the log names, as a file', async () => {
    const blobs = new MemoryBlobs();
    const call = { turnId: 't', step: 1, attempt: 1, purpose: 'answer', outcome: 'answered' };
    const content = Buffer.from(auditText(call, { request: { system: 'Instructions.' } }));
    const audit = await blobs.put(key, { type: 'application/json', content });
    await withFiles(blobs, async (files) => {
      expect(await files?.read(audit)).toBeUndefined();
    });
  });

  it('never gets a file of another tenant, also where conversation and content have the same names', {
    ...promise('G347'),
  }, async () => {
    const stores = await openSqliteStores({ file: ':memory:' });
    onTestFinished(() => stores.log.close());
    const texts: (string | undefined)[] = [];
    // One worker, whose model and store serve both tenants.
    const { activities } = setUp({
      blobs: stores.blobs,
      model: modelOf(async ({ messages }, { files }) => {
        const loaded = await loadFiles(messages, files);
        texts.push(urlOf(IMAGE, loaded));
        return answer();
      }),
    });
    await stores.blobs.put(key, { type: 'application/octet-stream', content: CONTENT });
    const message: Message = { role: 'user', id: 'm1', turnId: 'turn_1', parts: [IMAGE] };
    const transcript = { epoch: 0, base: 0, append: [message] };
    for (const tenant of ['default', 'beta', 'default', 'beta'])
      await environment().run(activities.callModel, modelInput({ tenant, transcript }));
    const shown = `data:image/png;base64,${Buffer.from(CONTENT).toString('base64')}`;
    expect(texts).toEqual([shown, undefined, shown, undefined]);
  });

  it('gets an error that storing failed while the store is down, and is retried when it cannot read', async () => {
    const away = {
      put: () => Promise.reject(new Error('away')),
      get: () => Promise.reject(new Error('away')),
    };
    await withFiles(away, async (files) => {
      expect(await files?.write(CONTENT)).toBeUndefined();
    });
    const ref = blobRefOf({ type: 'application/octet-stream', content: CONTENT });
    await expect(
      withFiles(away, async (files) => {
        await files?.read(ref);
      }),
    ).rejects.toMatchObject({ type: 'model_unavailable', nonRetryable: false });
  });

  it('has no files without a store', async () => {
    await withFiles(undefined, (files) => {
      expect(files).toBeUndefined();
      return Promise.resolve();
    });
  });
});

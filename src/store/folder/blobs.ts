/**
 * Blobs as files of one folder, which several machines may share (a network drive works, because files are written
 * whole, renamed and never changed). Names of sub-folders are hashes, since ids may differ only in upper and lower
 * case.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { type BlobRef, type BlobType, isBlobId } from '../../protocol/values/blobs.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { isRecord } from '../../protocol/values/json.js';
import type {
  BlobContent,
  BlobListOptions,
  BlobRange,
  BlobRead,
  BlobStore,
  StoredBlob,
} from '../ports/blobs.js';
import { blobRefOf, wholeRange } from '../ports/blobs.js';
import { StoreUnavailable } from '../ports/log.js';

/** Endings of the files. */
const ENDINGS: Readonly<Record<BlobType, string>> = {
  'application/json': '.json',
  'application/octet-stream': '.bin',
  'text/plain': '.txt',
};
const TYPES = Object.keys(ENDINGS) as readonly BlobType[];
/** Holds the key of the conversation that a folder belongs to. */
const KEY_FILE = 'conversation.key';
/** Tries of one write: the folder is created again if it is removed during a write. */
const MAX_TRIES = 3;

/**
 * Opens a folder, and creates it when it is absent. @throws {StoreUnavailable} naming the folder when that is not
 * possible.
 */
export async function openFolderBlobStore(options: {
  readonly folder: string;
}): Promise<BlobStore> {
  const store = new FolderBlobStore(options.folder);
  await store.makeFolder();
  return store;
}

class FolderBlobStore implements BlobStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async makeFolder(): Promise<void> {
    await this.#working(() => mkdir(this.#folder, { recursive: true }));
  }

  async put(key: ConversationKey, blob: BlobContent): Promise<BlobRef> {
    const ref = blobRefOf(blob);
    await this.#working(async () => {
      for (let tries = 1; ; tries += 1)
        try {
          await this.#write(key, ref, blob.content);
          return;
        } catch (error) {
          if (!isAbsent(error) || tries >= MAX_TRIES) throw error;
        }
    });
    return ref;
  }

  async get(key: ConversationKey, id: string, range?: BlobRange): Promise<BlobRead | undefined> {
    if (!isBlobId(id)) return undefined;
    return await this.#working(async () => {
      for (const type of TYPES) {
        const found = await readPart(fileIn(this.#folderOf(key), { id, type }), range);
        if (found !== undefined)
          return { ref: { id, bytes: found.bytes, type }, content: found.content };
      }
      return undefined;
    });
  }

  async list(options: BlobListOptions): Promise<readonly StoredBlob[]> {
    const { tenant, limit, after } = options;
    return await this.#working(async () => {
      const found: StoredBlob[] = [];
      const first = after === undefined ? '' : orderOf(after, after.ref.id);
      const from = after === undefined ? '' : orderOf(after);
      const wanted = (await this.#conversations(tenant)).filter(({ key }) => orderOf(key) >= from);
      for (const { key, folder } of wanted) {
        if (found.length >= limit) break;
        for (const blob of await blobsIn(folder, key))
          if (found.length < limit && orderOf(key, blob.ref.id) > first) found.push(blob);
      }
      return found;
    });
  }

  async delete(key: ConversationKey, ids?: readonly string[]): Promise<number> {
    const folder = this.#folderOf(key);
    return await this.#working(async () => {
      const wanted = new Set(ids);
      const doomed = (await blobsIn(folder, key)).filter(
        ({ ref }) => ids === undefined || wanted.has(ref.id),
      );
      for (const { ref } of doomed) await rm(fileIn(folder, ref), { force: true });
      if (ids === undefined) await rm(folder, { recursive: true, force: true });
      return doomed.length;
    });
  }

  async close(): Promise<void> {}

  async #write(key: ConversationKey, ref: BlobRef, content: Uint8Array): Promise<void> {
    const folder = this.#folderOf(key);
    await mkdir(folder, { recursive: true });
    const { tenant, conversationId } = key;
    const owner = join(folder, KEY_FILE);
    if (!(await exists(owner)))
      await writeWhole(owner, Buffer.from(JSON.stringify({ tenant, conversationId })));
    const file = fileIn(folder, ref);
    if (await exists(file)) {
      const now = new Date();
      await utimes(file, now, now);
    } else await writeWhole(file, content);
  }

  async #conversations(
    ofTenant?: string,
  ): Promise<readonly { key: ConversationKey; folder: string }[]> {
    const found: { key: ConversationKey; folder: string }[] = [];
    const tenants = ofTenant === undefined ? await namesIn(this.#folder) : [hashOf(ofTenant)];
    for (const tenant of tenants)
      for (const conversation of await namesIn(join(this.#folder, tenant))) {
        const folder = join(this.#folder, tenant, conversation);
        const key = await ownerOf(folder);
        if (key !== undefined) found.push({ key, folder });
      }
    return found.sort((left, right) => (orderOf(left.key) < orderOf(right.key) ? -1 : 1));
  }

  #folderOf({ tenant, conversationId }: ConversationKey): string {
    return join(this.#folder, hashOf(tenant), hashOf(conversationId));
  }

  async #working<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error) || error instanceof StoreUnavailable)
        throw error;
      throw new StoreUnavailable(`The blobs in ${this.#folder} cannot be used: ${error.message}`, {
        cause: error,
      });
    }
  }
}

async function readPart(
  file: string,
  range: BlobRange | undefined,
): Promise<{ bytes: number; content: Uint8Array } | undefined> {
  const handle = await open(file).catch(undefinedIfAbsent);
  if (handle === undefined) return undefined;
  try {
    const { size } = await handle.stat();
    const { offset, length } =
      range === undefined ? { offset: 0, length: size } : wholeRange(range);
    const content = Buffer.alloc(Math.max(0, Math.min(length, size - offset)));
    let at = 0;
    while (at < content.length) {
      const { bytesRead } = await handle.read(content, at, content.length - at, offset + at);
      if (bytesRead === 0) break;
      at += bytesRead;
    }
    return { bytes: size, content: content.subarray(0, at) };
  } finally {
    await handle.close();
  }
}

/** Writes under a temporary name and renames the file, so that no reader ever finds a part of it. */
async function writeWhole(file: string, content: Uint8Array): Promise<void> {
  const draft = `${file}.${randomUUID()}.tmp`;
  try {
    const handle = await open(draft, 'wx');
    try {
      await handle.writeFile(content);
      await handle.datasync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function blobsIn(folder: string, key: ConversationKey): Promise<readonly StoredBlob[]> {
  const { tenant, conversationId } = key;
  const found: StoredBlob[] = [];
  for (const name of (await namesIn(folder)).sort())
    for (const type of TYPES) {
      const ending = ENDINGS[type];
      const id = name.slice(0, -ending.length);
      if (!name.endsWith(ending) || !isBlobId(id)) continue;
      const known = await stat(join(folder, name)).catch(undefinedIfAbsent);
      if (known === undefined) continue;
      const ref = { id, bytes: known.size, type };
      found.push({ tenant, conversationId, ref, storedAt: known.mtime.toISOString() });
    }
  return found;
}

async function ownerOf(folder: string): Promise<ConversationKey | undefined> {
  const text = await readFile(join(folder, KEY_FILE), 'utf8').catch(undefinedIfAbsent);
  if (text === undefined) return undefined;
  const { tenant, conversationId } = recordOf(text);
  if (typeof tenant !== 'string' || typeof conversationId !== 'string') return undefined;
  return { tenant, conversationId };
}

function recordOf(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(text);
  return isRecord(value) ? value : {};
}

async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(undefinedIfAbsent)) ?? [];
}

async function exists(file: string): Promise<boolean> {
  return (await stat(file).catch(undefinedIfAbsent)) !== undefined;
}

function undefinedIfAbsent(error: unknown): undefined {
  if (!isAbsent(error)) throw error;
  return undefined;
}

/** True when the file or a folder of its path does not exist. */
function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

function fileIn(folder: string, { id, type }: Pick<BlobRef, 'id' | 'type'>): string {
  return join(folder, `${id}${ENDINGS[type]}`);
}

/** Sort key; no id has a character below the separator. */
function orderOf({ tenant, conversationId }: ConversationKey, id = ''): string {
  return [tenant, conversationId, id].join('\0');
}

function hashOf(name: string): string {
  return createHash('sha256').update(name).digest('hex');
}

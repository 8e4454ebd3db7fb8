/** Blobs in the file of the sqlite event log. */

import type { ConversationKey } from '../../protocol/values/ids.js';
import { keyOf, numberIn, type Row } from '../plans/rows.js';
import type {
  BlobContent,
  BlobListOptions,
  BlobRange,
  BlobRead,
  BlobStore,
  StoredBlob,
} from '../ports/blobs.js';
import { blobRefOf, storedRef, wholeRange } from '../ports/blobs.js';
import type { SqliteDatabase } from './database/database.js';

const ONE = 'tenant = ? AND conversation_id = ? AND id = ?';

export class SqliteBlobStore implements BlobStore {
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  async put({ tenant, conversationId }: ConversationKey, blob: BlobContent) {
    const ref = blobRefOf(blob);
    await this.#database.write(() => {
      const seen = this.#database.run(
        `UPDATE blobs SET stored_at_ms = ? WHERE ${ONE}`,
        Date.now(),
        tenant,
        conversationId,
        ref.id,
      );
      if (seen > 0) return;
      this.#database.run(
        `INSERT INTO blobs (tenant, conversation_id, id, type, bytes, stored_at_ms, content)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
        tenant,
        conversationId,
        ref.id,
        ref.type,
        ref.bytes,
        Date.now(),
        blob.content,
      );
    });
    return ref;
  }

  async get({ tenant, conversationId }: ConversationKey, id: string, range?: BlobRange) {
    const { offset, length } = range === undefined ? WHOLE : wholeRange(range);
    const row = await this.#database.read(() =>
      this.#database.get(
        `SELECT id, bytes, type, substr(content, ? + 1, ?) AS part FROM blobs WHERE ${ONE}`,
        offset,
        length,
        tenant,
        conversationId,
        id,
      ),
    );
    return row === undefined ? undefined : readOf(row);
  }

  async list({ tenant, limit, after }: BlobListOptions) {
    const rows = await this.#database.read(() =>
      this.#database.all(
        `SELECT tenant, conversation_id, id, bytes, type, stored_at_ms FROM blobs
         WHERE (?1 IS NULL OR tenant = ?1) AND (tenant, conversation_id, id) > (?2, ?3, ?4)
         ORDER BY tenant, conversation_id, id LIMIT ?5`,
        tenant ?? null,
        after?.tenant ?? '',
        after?.conversationId ?? '',
        after?.ref.id ?? '',
        limit,
      ),
    );
    return rows.map(storedOf);
  }

  async delete({ tenant, conversationId }: ConversationKey, ids?: readonly string[]) {
    return await this.#database.write(() =>
      this.#database.run(
        `DELETE FROM blobs WHERE tenant = ?1 AND conversation_id = ?2
         AND (?3 IS NULL OR id IN (SELECT value FROM json_each(?3)))`,
        tenant,
        conversationId,
        ids === undefined ? null : JSON.stringify(ids),
      ),
    );
  }

  async close() {
    this.#database.close();
  }
}

const WHOLE: BlobRange = { offset: 0, length: Number.MAX_SAFE_INTEGER };

function readOf(row: Row): BlobRead {
  const { part } = row;
  // A part beyond the end is empty, and sqlite returns an empty blob as null.
  const content = part instanceof Uint8Array ? part : new Uint8Array();
  return { ref: storedRef(row['id'], row['bytes'], row['type']), content };
}

function storedOf(row: Row): StoredBlob {
  return {
    ...keyOf(row),
    ref: storedRef(row['id'], row['bytes'], row['type']),
    storedAt: new Date(numberIn(row, 'stored_at_ms')).toISOString(),
  };
}

/** Blobs in the database of the Postgres event log. */

import type { ConversationKey } from '../../protocol/values/ids.js';
import { keyOf, type Row } from '../plans/rows.js';
import type {
  BlobContent,
  BlobListOptions,
  BlobRange,
  BlobRead,
  BlobStore,
  StoredBlob,
} from '../ports/blobs.js';
import { blobRefOf, storedRef, wholeRange } from '../ports/blobs.js';
import type { PostgresDatabase } from './database/database.js';

export class PostgresBlobStore implements BlobStore {
  readonly #database: PostgresDatabase;
  readonly #table: string;

  constructor(database: PostgresDatabase) {
    this.#database = database;
    this.#table = database.table('blobs');
  }

  async put({ tenant, conversationId }: ConversationKey, blob: BlobContent) {
    const ref = blobRefOf(blob);
    // Most values are new; for a known one, only the time is sent.
    const seen = await this.#database.run(
      `UPDATE ${this.#table} SET stored_at = clock_timestamp()
       WHERE tenant = $1 AND conversation_id = $2 AND id = $3`,
      tenant,
      conversationId,
      ref.id,
    );
    if (seen > 0) return ref;
    await this.#database.run(
      `INSERT INTO ${this.#table} (tenant, conversation_id, id, type, bytes, stored_at, content)
       VALUES ($1, $2, $3, $4, $5, clock_timestamp(), $6)
       ON CONFLICT (tenant, conversation_id, id) DO UPDATE SET stored_at = excluded.stored_at`,
      tenant,
      conversationId,
      ref.id,
      ref.type,
      ref.bytes,
      blob.content,
    );
    return ref;
  }

  async get({ tenant, conversationId }: ConversationKey, id: string, range?: BlobRange) {
    const part = range === undefined ? undefined : wholeRange(range);
    const row = await this.#database.get(
      `SELECT id, bytes, type, substring(content FROM $4::int + 1 FOR $5::int) AS part FROM ${this.#table}
       WHERE tenant = $1 AND conversation_id = $2 AND id = $3`,
      tenant,
      conversationId,
      id,
      part?.offset ?? 0,
      part?.length ?? MAX_INT,
    );
    return row === undefined ? undefined : readOf(row);
  }

  async list({ tenant, limit, after }: BlobListOptions) {
    const rows = await this.#database.all(
      `SELECT tenant, conversation_id, id, bytes, type, stored_at FROM ${this.#table}
       WHERE ($1::text IS NULL OR tenant = $1) AND (tenant, conversation_id, id) > ($2, $3, $4)
       ORDER BY tenant, conversation_id, id LIMIT $5`,
      tenant ?? null,
      after?.tenant ?? '',
      after?.conversationId ?? '',
      after?.ref.id ?? '',
      limit,
    );
    return rows.map(storedOf);
  }

  async delete({ tenant, conversationId }: ConversationKey, ids?: readonly string[]) {
    return await this.#database.run(
      `DELETE FROM ${this.#table} WHERE tenant = $1 AND conversation_id = $2
       AND ($3::text[] IS NULL OR id = ANY ($3::text[]))`,
      tenant,
      conversationId,
      ids ?? null,
    );
  }

  async close() {
    await this.#database.close();
  }
}

/** Together with the offset below the maximum of a Postgres int. */
const MAX_INT = 2_000_000_000;

function readOf(row: Row): BlobRead {
  const { part } = row;
  if (!(part instanceof Uint8Array)) throw new TypeError('column part is not binary');
  return { ref: storedRef(row['id'], row['bytes'], row['type']), content: part };
}

function storedOf(row: Row): StoredBlob {
  const { stored_at: storedAt } = row;
  if (!(storedAt instanceof Date)) throw new TypeError('column stored_at is not a time');
  return {
    ...keyOf(row),
    ref: storedRef(row['id'], row['bytes'], row['type']),
    storedAt: storedAt.toISOString(),
  };
}

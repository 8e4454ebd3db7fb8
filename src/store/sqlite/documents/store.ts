/** Documents in the sqlite file of the event log. */

import { documentOf, hasRoom, numberIn, textIn } from '../../plans/rows.js';
import type {
  DocumentStore,
  DocumentsKey,
  DocumentsPut,
  StoredDocument,
} from '../../ports/documents/documents.js';
import type { SqliteDatabase } from '../database/database.js';

export class SqliteDocumentStore implements DocumentStore {
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  async list({ tenant, kind, owner }: DocumentsKey, limit: number) {
    const rows = await this.#database.read(() =>
      this.#database.all(
        `SELECT * FROM documents WHERE tenant = ? AND kind = ? AND owner = ? ORDER BY name LIMIT ?`,
        tenant,
        kind,
        owner,
        limit,
      ),
    );
    return rows.map(documentOf);
  }

  async get({ tenant, kind, owner }: DocumentsKey, name: string) {
    const row = await this.#database.read(() =>
      this.#database.get(
        'SELECT * FROM documents WHERE tenant = ? AND kind = ? AND owner = ? AND name = ?',
        tenant,
        kind,
        owner,
        name,
      ),
    );
    return row === undefined ? undefined : documentOf(row);
  }

  async put({ tenant, kind, owner }: DocumentsKey, given: DocumentsPut) {
    return await this.#database.write(() => {
      const before = this.#database.all(
        `SELECT name${given.accepts === undefined ? '' : ', document'} FROM documents
         WHERE tenant = ? AND kind = ? AND owner = ?`,
        tenant,
        kind,
        owner,
      );
      if (!hasRoom(before, given)) return undefined;
      return given.documents.map(({ name, document }): StoredDocument => {
        const counted = this.#database.get(
          `INSERT INTO document_owners (tenant, kind, owner, last_version) VALUES (?, ?, ?, 1)
           ON CONFLICT DO UPDATE SET last_version = last_version + 1 RETURNING last_version`,
          tenant,
          kind,
          owner,
        );
        const row = this.#database.get(
          `INSERT INTO documents (tenant, kind, owner, name, version, since_version, document, changed_at_ms)
           VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7) ON CONFLICT DO UPDATE
           SET version = excluded.version, document = excluded.document, changed_at_ms = excluded.changed_at_ms
           RETURNING *`,
          tenant,
          kind,
          owner,
          name,
          numberIn(counted ?? {}, 'last_version'),
          JSON.stringify(document),
          given.nowMs,
        );
        return documentOf(row ?? {});
      });
    });
  }

  async delete({ tenant, kind, owner }: DocumentsKey, names: readonly string[]) {
    const rows = await this.#database.write(() =>
      this.#database.all(
        `DELETE FROM documents WHERE tenant = ? AND kind = ? AND owner = ?
           AND name IN (SELECT value FROM json_each(?)) RETURNING name`,
        tenant,
        kind,
        owner,
        JSON.stringify(names),
      ),
    );
    const found = new Set(rows.map(({ name }) => name));
    return names.filter((name) => found.delete(name));
  }

  async owners({ tenant, kind, limit, after = '' }: Parameters<DocumentStore['owners']>[0]) {
    const rows = await this.#database.read(() =>
      this.#database.all(
        `SELECT owner FROM document_owners AS own WHERE tenant = ? AND kind = ? AND owner > ? AND EXISTS
           (SELECT 1 FROM documents WHERE tenant = own.tenant AND kind = own.kind AND owner = own.owner)
         ORDER BY owner LIMIT ?`,
        tenant,
        kind,
        after,
        limit,
      ),
    );
    return rows.map((row) => textIn(row, 'owner'));
  }

  async removeOfTenant(tenant: string) {
    return await this.#database.write(() => {
      this.#database.run('DELETE FROM document_owners WHERE tenant = ?', tenant);
      return this.#database.run('DELETE FROM documents WHERE tenant = ?', tenant);
    });
  }
}

/** Documents in the Postgres schema of the event log. Writers of an owner take turns by its row. */

import { documentOf, hasRoom, numberIn, textIn } from '../../plans/rows.js';
import type {
  DocumentStore,
  DocumentsKey,
  DocumentsPut,
  StoredDocument,
} from '../../ports/documents/documents.js';
import type { PostgresDatabase } from '../database/database.js';

export class PostgresDocumentStore implements DocumentStore {
  readonly #database: PostgresDatabase;
  readonly #owners: string;
  readonly #documents: string;

  constructor(database: PostgresDatabase) {
    this.#database = database;
    this.#owners = database.table('document_owners');
    this.#documents = database.table('documents');
  }

  async list({ tenant, kind, owner }: DocumentsKey, limit: number) {
    const rows = await this.#database.all(
      `SELECT * FROM ${this.#documents} WHERE tenant = $1 AND kind = $2 AND owner = $3 ORDER BY name LIMIT $4`,
      tenant,
      kind,
      owner,
      limit,
    );
    return rows.map(documentOf);
  }

  async get({ tenant, kind, owner }: DocumentsKey, name: string) {
    const [row] = await this.#database.all(
      `SELECT * FROM ${this.#documents} WHERE tenant = $1 AND kind = $2 AND owner = $3 AND name = $4`,
      tenant,
      kind,
      owner,
      name,
    );
    return row === undefined ? undefined : documentOf(row);
  }

  async put({ tenant, kind, owner }: DocumentsKey, given: DocumentsPut) {
    const { documents, nowMs } = given;
    return await this.#database.write(async (queries) => {
      const counted = await queries.get(
        `INSERT INTO ${this.#owners} AS own (tenant, kind, owner, last_version) VALUES ($1, $2, $3, $4)
         ON CONFLICT (tenant, kind, owner) DO UPDATE SET last_version = own.last_version + $4 RETURNING last_version`,
        tenant,
        kind,
        owner,
        documents.length,
      );
      const before = await queries.all(
        `SELECT name${given.accepts === undefined ? '' : ', document'} FROM ${this.#documents}
         WHERE tenant = $1 AND kind = $2 AND owner = $3`,
        tenant,
        kind,
        owner,
      );
      if (!hasRoom(before, given)) return undefined;
      const first = numberIn(counted ?? {}, 'last_version') - documents.length + 1;
      const stored: StoredDocument[] = [];
      for (const [index, { name, document }] of documents.entries()) {
        const row = await queries.get(
          `INSERT INTO ${this.#documents} (tenant, kind, owner, name, version, since_version, document, changed_at_ms)
           VALUES ($1, $2, $3, $4, $5, $5, $6, $7) ON CONFLICT (tenant, kind, owner, name) DO UPDATE
           SET version = excluded.version, document = excluded.document, changed_at_ms = excluded.changed_at_ms
           RETURNING *`,
          tenant,
          kind,
          owner,
          name,
          first + index,
          JSON.stringify(document),
          nowMs,
        );
        stored.push(documentOf(row ?? {}));
      }
      return stored;
    });
  }

  async delete({ tenant, kind, owner }: DocumentsKey, names: readonly string[]) {
    const rows = await this.#database.write(async (queries) => {
      const owned = await queries.get(
        `SELECT 1 FROM ${this.#owners} WHERE tenant = $1 AND kind = $2 AND owner = $3 FOR UPDATE`,
        tenant,
        kind,
        owner,
      );
      if (owned === undefined) return [];
      return await queries.all(
        `DELETE FROM ${this.#documents} WHERE tenant = $1 AND kind = $2 AND owner = $3 AND name = ANY ($4::text[])
         RETURNING name`,
        tenant,
        kind,
        owner,
        names,
      );
    });
    const found = new Set(rows.map(({ name }) => name));
    return names.filter((name) => found.delete(name));
  }

  async owners({ tenant, kind, limit, after = '' }: Parameters<DocumentStore['owners']>[0]) {
    const rows = await this.#database.all(
      `SELECT owner FROM ${this.#owners} AS own WHERE tenant = $1 AND kind = $2 AND owner > $3 AND EXISTS
         (SELECT 1 FROM ${this.#documents} AS kept
          WHERE kept.tenant = own.tenant AND kept.kind = own.kind AND kept.owner = own.owner)
       ORDER BY owner LIMIT $4`,
      tenant,
      kind,
      after,
      limit,
    );
    return rows.map((row) => textIn(row, 'owner'));
  }

  async removeOfTenant(tenant: string) {
    return await this.#database.write(async (queries) => {
      await queries.run(`DELETE FROM ${this.#owners} WHERE tenant = $1`, tenant);
      return await queries.run(`DELETE FROM ${this.#documents} WHERE tenant = $1`, tenant);
    });
  }
}

/** Marks of trouble in the Postgres event log. */
import type { ConversationKey } from '../../../protocol/values/ids.js';
import type { Trouble } from '../../../protocol/values/trouble.js';
import { keyOf } from '../../plans/rows.js';
import { isNewTrouble, troubleFrom } from '../../plans/service/troubles.js';
import { failingOf } from '../../plans/service/webhook-events.js';
import type { Troubles } from '../../ports/troubles.js';
import { NOW_MS, type PostgresDatabase, type Queries } from '../database/database.js';
import { Outbox } from '../webhooks/outbox.js';
import { lockedDeletion, lockedHead } from './append.js';

export class PostgresTroubles implements Troubles {
  readonly #database: PostgresDatabase;
  readonly #table: string;
  readonly #lastSeq: string;

  constructor(database: PostgresDatabase) {
    this.#database = database;
    this.#table = database.table('troubles');
    this.#lastSeq = `(SELECT last_seq FROM ${database.table('conversations')} WHERE tenant = $1 AND conversation_id = $2)`;
  }

  async markTrouble(key: ConversationKey, trouble: Trouble) {
    return await this.#database.write(async (queries) => {
      const head = await lockedHead(this.#database, queries, key);
      const deletion = await lockedDeletion(this.#database, queries, key);
      if (deletion?.runIds.includes(trouble.runId) === true) return false;
      const before = await this.#read(queries, key);
      await queries.run(
        `INSERT INTO ${this.#table} (tenant, conversation_id, last_seq, kind, trouble)
         VALUES ($1, $2, coalesce(${this.#lastSeq}, 0), $3, $4)
         ON CONFLICT (tenant, conversation_id) DO UPDATE SET
           last_seq = excluded.last_seq, kind = excluded.kind, trouble = excluded.trouble`,
        key.tenant,
        key.conversationId,
        trouble.kind,
        JSON.stringify(trouble),
      );
      const failing = failingOf(key, { before, now: trouble }, head?.snapshot);
      if (failing !== undefined) await new Outbox(this.#database, queries).store(key, [failing]);
      const isNew = isNewTrouble(before, trouble);
      if (isNew) await this.#changed(queries, key);
      return isNew;
    });
  }

  async clearTrouble(key: ConversationKey) {
    return await this.#database.write(async (queries) => {
      // Locked first, in the order of `markTrouble` and of appends.
      await lockedHead(this.#database, queries, key);
      const removed = await queries.run(
        `DELETE FROM ${this.#table} WHERE tenant = $1 AND conversation_id = $2`,
        key.tenant,
        key.conversationId,
      );
      if (removed > 0) await this.#changed(queries, key);
      return removed > 0;
    });
  }

  async trouble(key: ConversationKey) {
    return await this.#read(this.#database, key);
  }

  async troubles({ limit, after }: Parameters<Troubles['troubles']>[0]) {
    const rows = await this.#database.all(
      `SELECT tenant, conversation_id, trouble FROM ${this.#table}
       WHERE (tenant, conversation_id) > ($1, $2) ORDER BY tenant, conversation_id LIMIT $3`,
      after?.tenant ?? '',
      after?.conversationId ?? '',
      limit,
    );
    return rows.flatMap((row) => {
      const trouble = troubleFrom(row['trouble']);
      return trouble === undefined ? [] : [{ ...keyOf(row), trouble }];
    });
  }

  /** Lists show marks, so the row of the conversation has changed. */
  async #changed(queries: Queries, { tenant, conversationId }: ConversationKey): Promise<void> {
    await queries.run(
      `UPDATE ${this.#database.table('conversations')} SET changed_at_ms = ${NOW_MS}
       WHERE tenant = $1 AND conversation_id = $2`,
      tenant,
      conversationId,
    );
  }

  async #read(
    queries: Pick<Queries, 'get'>,
    { tenant, conversationId }: ConversationKey,
  ): Promise<Trouble | undefined> {
    const row = await queries.get(
      `SELECT trouble FROM ${this.#table} WHERE tenant = $1 AND conversation_id = $2
         AND last_seq = coalesce(${this.#lastSeq}, 0)`,
      tenant,
      conversationId,
    );
    return troubleFrom(row?.['trouble']);
  }
}

/** Tombstones in the Postgres event log, by the clock of the database. */

import type { ConversationKey } from '../../../protocol/values/ids.js';
import { deletedGeneration, deletedRoot, isAt } from '../../plans/append.js';
import { CONVERSATION_TABLES, deletionOf, keyOf, textIn } from '../../plans/rows.js';
import type { Deletion, Deletions } from '../../ports/deletions.js';
import type { PostgresDatabase, Queries } from '../database/database.js';
import { NOW_MS } from '../database/database.js';
import { lockedHead } from './append.js';

export class PostgresDeletions implements Deletions {
  readonly #database: PostgresDatabase;
  readonly #deletions: string;
  readonly #spaces: string;

  constructor(database: PostgresDatabase) {
    this.#database = database;
    this.#deletions = database.table('deletions');
    this.#spaces = database.table('spaces');
  }

  async beginDeletion(request: Parameters<Deletions['beginDeletion']>[0]) {
    return await this.#database.write((queries) => this.#begin(queries, request));
  }

  async extendDeletion(request: Parameters<Deletions['extendDeletion']>[0]) {
    await this.#database.write(async (queries) => {
      await lockedHead(this.#database, queries, request);
      const known = (await this.#find(queries, request))?.runIds ?? [];
      await queries.run(
        `UPDATE ${this.#deletions} SET run_ids = $1 WHERE tenant = $2 AND conversation_id = $3`,
        JSON.stringify([...new Set([...known, ...request.runIds])]),
        request.tenant,
        request.conversationId,
      );
    });
  }

  async finishDeletion(request: Parameters<Deletions['finishDeletion']>[0]) {
    await this.#database.write(async (queries) => {
      await lockedHead(this.#database, queries, request);
      const known = (await this.#find(queries, request))?.runIds ?? [];
      if (known.some((runId) => !request.runIds.includes(runId))) return;
      await queries.run(
        `UPDATE ${this.#deletions} SET finished_at_ms = ${NOW_MS}
         WHERE tenant = $1 AND conversation_id = $2 AND finished_at_ms IS NULL`,
        request.tenant,
        request.conversationId,
      );
    });
  }

  async deletion(key: ConversationKey) {
    return await this.#find(this.#database, key);
  }

  async unfinishedDeletions({
    limit,
    forMs,
    after,
  }: Parameters<Deletions['unfinishedDeletions']>[0]) {
    const rows = await this.#database.all(
      `SELECT * FROM ${this.#deletions} WHERE finished_at_ms IS NULL AND requested_at_ms <= ${NOW_MS} - $1::bigint
         AND (requested_at_ms, tenant, conversation_id) > ($2::bigint, $3, $4)
       ORDER BY requested_at_ms, tenant, conversation_id LIMIT $5`,
      forMs,
      after?.requestedAtMs ?? 0,
      after?.tenant ?? '',
      after?.conversationId ?? '',
      limit,
    );
    return rows.map(deletionOf);
  }

  async keysOfTenant({ tenant, limit, after = '' }: Parameters<Deletions['keysOfTenant']>[0]) {
    const rows = await this.#database.all(
      `SELECT tenant, conversation_id FROM ${this.#database.table('conversations')}
         WHERE tenant = $1 AND conversation_id > $2
       UNION SELECT tenant, conversation_id FROM ${this.#deletions}
         WHERE tenant = $1 AND conversation_id > $2 AND finished_at_ms IS NULL
       ORDER BY conversation_id LIMIT $3`,
      tenant,
      after,
      limit,
    );
    return rows.map(keyOf);
  }

  async forgetDeletions({ limit, forMs }: Parameters<Deletions['forgetDeletions']>[0]) {
    return await this.#database.run(
      `DELETE FROM ${this.#deletions} WHERE (tenant, conversation_id) IN (
         SELECT tenant, conversation_id FROM ${this.#deletions}
         WHERE finished_at_ms <= ${NOW_MS} - $1::bigint ORDER BY finished_at_ms LIMIT $2)`,
      forMs,
      limit,
    );
  }

  /** Reads and removes the rows under the lock of the head, or of its absence, so that no append comes between. */
  async #begin(
    queries: Queries,
    request: Parameters<Deletions['beginDeletion']>[0],
  ): Promise<Deletion | undefined> {
    const { tenant, conversationId, onlyAt } = request;
    const head = await lockedHead(this.#database, queries, request);
    if (onlyAt !== undefined && !isAt(head, onlyAt)) return undefined;
    const stored = await queries.all(
      `SELECT DISTINCT run_id FROM ${this.#database.table('events')} WHERE tenant = $1 AND conversation_id = $2`,
      tenant,
      conversationId,
    );
    const earlier = await this.#find(queries, request);
    const runIds = new Set(earlier?.runIds);
    for (const row of stored) runIds.add(textIn(row, 'run_id'));
    if (head !== undefined) runIds.add(head.runId);
    for (const runId of request.runIds) runIds.add(runId);
    await queries.run(
      `INSERT INTO ${this.#deletions} (tenant, conversation_id, run_ids, generation, root, requested_at_ms)
       VALUES ($1, $2, $3, $4, $5, ${NOW_MS})
       ON CONFLICT (tenant, conversation_id) DO UPDATE SET
         run_ids = excluded.run_ids, generation = excluded.generation, root = excluded.root,
         requested_at_ms = excluded.requested_at_ms, finished_at_ms = NULL`,
      tenant,
      conversationId,
      JSON.stringify([...runIds]),
      deletedGeneration(head, earlier),
      deletedRoot(request, head, earlier) ?? null,
    );
    for (const table of CONVERSATION_TABLES) {
      // Only now, since messages to these spaces wait from here on.
      if (table === 'space_members') await this.#changeMembers(queries, request);
      await queries.run(
        `DELETE FROM ${this.#database.table(table)} WHERE tenant = $1 AND conversation_id = $2`,
        tenant,
        conversationId,
      );
    }
    return await this.#find(queries, request);
  }

  /**
   * Readers of the spaces of a conversation learn by this that the members have changed. In order, as other deletions
   * take these locks.
   */
  async #changeMembers(
    queries: Queries,
    { tenant, conversationId }: ConversationKey,
  ): Promise<void> {
    await queries.run(
      `WITH own AS MATERIALIZED (
         SELECT tenant, space_id FROM ${this.#spaces} WHERE tenant = $1 AND space_id IN (
           SELECT space_id FROM ${this.#database.table('space_members')} WHERE tenant = $1 AND conversation_id = $2)
         ORDER BY space_id FOR UPDATE)
       UPDATE ${this.#spaces} AS spaces SET members_version = members_version + 1
       FROM own WHERE spaces.tenant = own.tenant AND spaces.space_id = own.space_id`,
      tenant,
      conversationId,
    );
  }

  async #find(queries: Pick<Queries, 'get'>, key: ConversationKey): Promise<Deletion | undefined> {
    const row = await queries.get(
      `SELECT * FROM ${this.#deletions} WHERE tenant = $1 AND conversation_id = $2`,
      key.tenant,
      key.conversationId,
    );
    return row === undefined ? undefined : deletionOf(row);
  }
}

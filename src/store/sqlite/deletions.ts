/** Tombstones in the sqlite event log. Synchronous; callers wrap them. */

import type { ConversationKey } from '../../protocol/values/ids.js';
import { deletedGeneration, deletedRoot, isAt } from '../plans/append.js';
import { CONVERSATION_TABLES, deletionOf, keyOf, textIn } from '../plans/rows.js';
import type { Deletion, Deletions } from '../ports/deletions.js';
import type { SqliteDatabase } from './database/database.js';
import { readHead } from './read.js';

export function readDeletion(database: SqliteDatabase, key: ConversationKey): Deletion | undefined {
  const row = database.get(
    'SELECT * FROM deletions WHERE tenant = ? AND conversation_id = ?',
    key.tenant,
    key.conversationId,
  );
  return row === undefined ? undefined : deletionOf(row);
}

/** Whether a run is of a conversation that was deleted. */
export function isOfDeleted(
  database: SqliteDatabase,
  key: ConversationKey,
  runId: string,
): boolean {
  return readDeletion(database, key)?.runIds.includes(runId) === true;
}

/** To be called inside a write transaction. */
export function beginDeletion(
  database: SqliteDatabase,
  request: Parameters<Deletions['beginDeletion']>[0],
): Deletion | undefined {
  const { tenant, conversationId, onlyAt } = request;
  const head = readHead(database, request);
  if (onlyAt !== undefined && !isAt(head, onlyAt)) return undefined;
  const stored = database
    .all(
      `SELECT run_id FROM conversations WHERE tenant = ? AND conversation_id = ?
       UNION SELECT run_id FROM events WHERE tenant = ? AND conversation_id = ?`,
      tenant,
      conversationId,
      tenant,
      conversationId,
    )
    .map((row) => textIn(row, 'run_id'));
  const earlier = readDeletion(database, request);
  const runIds = [...new Set([...(earlier?.runIds ?? []), ...stored, ...request.runIds])];
  database.run(
    `INSERT INTO deletions (tenant, conversation_id, run_ids, generation, root, requested_at_ms)
     VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (tenant, conversation_id) DO UPDATE SET
       run_ids = excluded.run_ids, generation = excluded.generation, root = excluded.root,
       requested_at_ms = excluded.requested_at_ms, finished_at_ms = NULL`,
    tenant,
    conversationId,
    JSON.stringify(runIds),
    deletedGeneration(head, earlier),
    deletedRoot(request, head, earlier) ?? null,
    Date.now(),
  );
  // Readers of its spaces learn by this that the members have changed.
  database.run(
    `UPDATE spaces SET members_version = members_version + 1 WHERE (tenant, space_id) IN (
       SELECT tenant, space_id FROM space_members WHERE tenant = ? AND conversation_id = ?)`,
    tenant,
    conversationId,
  );
  for (const table of CONVERSATION_TABLES)
    database.run(
      `DELETE FROM ${table} WHERE tenant = ? AND conversation_id = ?`,
      tenant,
      conversationId,
    );
  return readDeletion(database, request);
}

/** To be called inside a write transaction. */
export function extendDeletion(
  database: SqliteDatabase,
  request: Parameters<Deletions['extendDeletion']>[0],
): void {
  const known = readDeletion(database, request)?.runIds ?? [];
  database.run(
    'UPDATE deletions SET run_ids = ? WHERE tenant = ? AND conversation_id = ?',
    JSON.stringify([...new Set([...known, ...request.runIds])]),
    request.tenant,
    request.conversationId,
  );
}

/** To be called inside a write transaction. */
export function finishDeletion(
  database: SqliteDatabase,
  request: Parameters<Deletions['finishDeletion']>[0],
): void {
  const known = readDeletion(database, request)?.runIds ?? [];
  if (known.some((runId) => !request.runIds.includes(runId))) return;
  database.run(
    'UPDATE deletions SET finished_at_ms = ? WHERE tenant = ? AND conversation_id = ? AND finished_at_ms IS NULL',
    Date.now(),
    request.tenant,
    request.conversationId,
  );
}

export function readUnfinished(
  database: SqliteDatabase,
  { limit, forMs, after }: Parameters<Deletions['unfinishedDeletions']>[0],
): readonly Deletion[] {
  return database
    .all(
      `SELECT * FROM deletions WHERE finished_at_ms IS NULL AND requested_at_ms <= ?
         AND (requested_at_ms, tenant, conversation_id) > (?, ?, ?)
       ORDER BY requested_at_ms, tenant, conversation_id LIMIT ?`,
      Date.now() - forMs,
      after?.requestedAtMs ?? 0,
      after?.tenant ?? '',
      after?.conversationId ?? '',
      limit,
    )
    .map(deletionOf);
}

export function readKeysOfTenant(
  database: SqliteDatabase,
  { tenant, limit, after = '' }: Parameters<Deletions['keysOfTenant']>[0],
): readonly ConversationKey[] {
  return database
    .all(
      `SELECT tenant, conversation_id FROM conversations WHERE tenant = ? AND conversation_id > ?
       UNION SELECT tenant, conversation_id FROM deletions
         WHERE tenant = ? AND conversation_id > ? AND finished_at_ms IS NULL
       ORDER BY conversation_id LIMIT ?`,
      tenant,
      after,
      tenant,
      after,
      limit,
    )
    .map(keyOf);
}

/** To be called inside a write transaction. */
export function forgetDeletions(
  database: SqliteDatabase,
  { limit, forMs }: Parameters<Deletions['forgetDeletions']>[0],
): number {
  return database.run(
    `DELETE FROM deletions WHERE rowid IN (
       SELECT rowid FROM deletions WHERE finished_at_ms <= ? ORDER BY finished_at_ms LIMIT ?)`,
    Date.now() - forMs,
    limit,
  );
}

/** Lists and counts of the sqlite event log, and the reads of the sweep. Synchronous; callers wrap them. */

import type { ConversationKey } from '../../protocol/values/ids.js';
import { type Dialect, listedOf, listedQuery, listPage, listQuery } from '../plans/list-query.js';
import type { ListRequest } from '../plans/presence.js';
import { changesOf, closedHeadOf, keyOf, openHeadOf } from '../plans/rows.js';
import { countQueries, countsOf } from '../plans/service/counts.js';
import type {
  Changes,
  ClosedHead,
  ConversationList,
  ConversationLists,
  ListedConversation,
  OpenHead,
} from '../ports/lists.js';
import type { GoneAgents } from '../ports/presence.js';
import type { LogCounts } from '../ports/service/counts.js';
import type { SqliteDatabase } from './database/database.js';

function askedBy(call: string, ids: string): string {
  return `EXISTS (SELECT 1 FROM json_each(${call}.requesters) AS name
    WHERE name.value IN (SELECT value FROM json_each(${ids})))`;
}

export const SQLITE: Dialect = {
  conversations: 'conversations',
  pendingCalls: 'pending_calls',
  troubles: 'troubles',
  // Without statistics sqlite uses an index on tools or deadlines, and then compares each call with all calls of the
  // tenant.
  byKey: 'INDEXED BY sqlite_autoindex_pending_calls_1',
  parameter: (nth) => `?${nth}`,
  admits: (call, { id, roles, verified }) => {
    const column = `${call}.audience`;
    const has = (list: string, names: string): string =>
      `EXISTS (SELECT 1 FROM json_each(rule.json, '$.${list}') AS name
        WHERE name.value IN (SELECT value FROM json_each(${names})))`;
    const names = (field: string): string => `rule.json -> '$.${field}' IS NOT NULL`;
    return `(${column} IS NULL OR NOT EXISTS (
      SELECT 1 FROM (SELECT ${column} AS json UNION ALL SELECT value FROM json_each(${column}, '$.also')) AS rule
      WHERE ((${names('users')} OR ${names('roles')}) AND NOT ${has('users', id)} AND NOT ${has('roles', roles)})
        OR ${has('exclude', id)} OR (${names('requireVerified')} AND ${verified} = 0)))
      AND NOT (${call}.excludes_requester = 1 AND ${askedBy(call, id)})`;
  },
  isOneOf: (column, texts) => `${column} IN (SELECT value FROM json_each(${texts}))`,
  askedBy,
};

/** @throws {RangeError} when the cursor is not one of this store. */
export function listSnapshots(database: SqliteDatabase, options: ListRequest): ConversationList {
  const { sql, values } = listQuery(options, SQLITE);
  return listPage(options, database.all(sql, ...values));
}

const OPEN_HEAD =
  'SELECT tenant, conversation_id, run_id, history_length, changed_at_ms FROM conversations';

export function readOpenHeads(
  database: SqliteDatabase,
  { limit, after }: Parameters<ConversationLists['openHeads']>[0],
): readonly OpenHead[] {
  return database
    .all(
      `${OPEN_HEAD} WHERE status <> 'closed' AND (tenant, conversation_id) > (?, ?)
       ORDER BY tenant, conversation_id LIMIT ?`,
      after?.tenant ?? '',
      after?.conversationId ?? '',
      limit,
    )
    .map(openHeadOf);
}

export function readRecentHeads(
  database: SqliteDatabase,
  { limit, withinMs, after }: Parameters<ConversationLists['recentHeads']>[0],
): readonly OpenHead[] {
  const sinceMs = Date.now() - withinMs;
  return database
    .all(
      `${OPEN_HEAD} WHERE status <> 'closed' AND changed_at_ms >= ?
         AND (changed_at_ms, tenant, conversation_id) > (?, ?, ?)
       ORDER BY changed_at_ms, tenant, conversation_id LIMIT ?`,
      sinceMs,
      after?.changedAtMs ?? 0,
      after?.tenant ?? '',
      after?.conversationId ?? '',
      limit,
    )
    .map(openHeadOf);
}

/** Parameters: tenant, first time, limit. */
export const CHANGES = {
  changed: `SELECT tenant, conversation_id, changed_at_ms, generation, last_seq, 0 AS deleted FROM conversations
    WHERE tenant = ? AND changed_at_ms >= ? ORDER BY changed_at_ms, conversation_id LIMIT ?`,
  deleted: `SELECT tenant, conversation_id, requested_at_ms AS changed_at_ms, 0 AS generation, 0 AS last_seq, 1 AS deleted
    FROM deletions WHERE tenant = ? AND requested_at_ms >= ? ORDER BY requested_at_ms, conversation_id LIMIT ?`,
} as const;

export function readChanges(
  database: SqliteDatabase,
  { tenants, sinceMs, lookBackMs, limit }: Parameters<ConversationLists['changes']>[0],
): Changes {
  const nowMs = Date.now();
  const fromMs = Math.min(sinceMs ?? nowMs, nowMs) - lookBackMs;
  const rows = tenants.flatMap((tenant) =>
    [CHANGES.changed, CHANGES.deleted].flatMap((sql) =>
      database.all(sql, tenant, fromMs, limit + 1),
    ),
  );
  return changesOf(rows, { nowMs, limit });
}

export function readListedIn(
  database: SqliteDatabase,
  of: { readonly tenant: string; readonly ids: readonly string[] },
  gone: GoneAgents,
): readonly ListedConversation[] {
  const { sql, values } = listedQuery(of, SQLITE);
  return listedOf(database.all(sql, ...values), gone);
}

export function readNotOpen(
  database: SqliteDatabase,
  keys: readonly ConversationKey[],
): readonly ConversationKey[] {
  return database
    .all(
      `SELECT key.value ->> 0 AS tenant, key.value ->> 1 AS conversation_id FROM json_each(?) AS key
       WHERE NOT EXISTS (SELECT 1 FROM conversations AS known WHERE known.tenant = key.value ->> 0
         AND known.conversation_id = key.value ->> 1 AND known.status <> 'closed')`,
      JSON.stringify(keys.map(({ tenant, conversationId }) => [tenant, conversationId])),
    )
    .map(keyOf);
}

export function readUnknown(
  database: SqliteDatabase,
  keys: readonly ConversationKey[],
): readonly ConversationKey[] {
  const isIn = (table: string): string =>
    `EXISTS (SELECT 1 FROM ${table} AS known WHERE known.tenant = key.value ->> 0
       AND known.conversation_id = key.value ->> 1)`;
  return database
    .all(
      `SELECT key.value ->> 0 AS tenant, key.value ->> 1 AS conversation_id FROM json_each(?) AS key
       WHERE NOT ${isIn('conversations')} AND NOT ${isIn('deletions')}`,
      JSON.stringify(keys.map(({ tenant, conversationId }) => [tenant, conversationId])),
    )
    .map(keyOf);
}

export function readClosedBefore(
  database: SqliteDatabase,
  { closedBeforeMs, limit, after }: Parameters<ConversationLists['closedBefore']>[0],
): readonly ClosedHead[] {
  return database
    .all(
      `SELECT tenant, conversation_id, generation, last_seq, run_id, closed_at_ms FROM conversations
       WHERE closed_at_ms < ? AND (closed_at_ms, tenant, conversation_id) > (?, ?, ?)
       ORDER BY closed_at_ms, tenant, conversation_id LIMIT ?`,
      closedBeforeMs,
      after?.closedAtMs ?? 0,
      after?.tenant ?? '',
      after?.conversationId ?? '',
      limit,
    )
    .map(closedHeadOf);
}

const COUNTS = countQueries(SQLITE, '?1');

export function readCounts(database: SqliteDatabase): LogCounts {
  return countsOf(database.all(COUNTS.waits, Date.now()), database.all(COUNTS.troubles));
}

/** Marks of trouble in the sqlite event log. Synchronous; callers wrap them. */
import type { ConversationKey } from '../../protocol/values/ids.js';
import type { Trouble } from '../../protocol/values/trouble.js';
import { keyOf } from '../plans/rows.js';
import { isNewTrouble, troubleFrom } from '../plans/service/troubles.js';
import { failingOf } from '../plans/service/webhook-events.js';
import type { Troubled, Troubles } from '../ports/troubles.js';
import type { SqliteDatabase } from './database/database.js';
import { isOfDeleted } from './deletions.js';
import { readHead } from './read.js';
import { storeOutbox } from './webhooks/outbox.js';

const LAST_SEQ = '(SELECT last_seq FROM conversations WHERE tenant = ?1 AND conversation_id = ?2)';

/** To be called inside a write transaction. */
export function markTrouble(
  database: SqliteDatabase,
  key: ConversationKey,
  trouble: Trouble,
): boolean {
  const { tenant, conversationId } = key;
  if (isOfDeleted(database, key, trouble.runId)) return false;
  const before = readTrouble(database, key);
  database.run(
    `INSERT INTO troubles (tenant, conversation_id, last_seq, kind, trouble)
     VALUES (?1, ?2, coalesce(${LAST_SEQ}, 0), ?3, ?4)
     ON CONFLICT (tenant, conversation_id) DO UPDATE SET
       last_seq = excluded.last_seq, kind = excluded.kind, trouble = excluded.trouble`,
    tenant,
    conversationId,
    trouble.kind,
    JSON.stringify(trouble),
  );
  const failing = failingOf(key, { before, now: trouble }, readHead(database, key)?.snapshot);
  if (failing !== undefined) storeOutbox(database, key, () => [failing]);
  const isNew = isNewTrouble(before, trouble);
  if (isNew) changed(database, key);
  return isNew;
}

/** To be called inside a write transaction. */
export function clearTrouble(database: SqliteDatabase, key: ConversationKey): boolean {
  const { tenant, conversationId } = key;
  const removed = database.run(
    'DELETE FROM troubles WHERE tenant = ? AND conversation_id = ?',
    tenant,
    conversationId,
  );
  if (removed > 0) changed(database, key);
  return removed > 0;
}

/** Lists show marks, so the row of the conversation has changed. */
function changed(database: SqliteDatabase, { tenant, conversationId }: ConversationKey): void {
  database.run(
    'UPDATE conversations SET changed_at_ms = ? WHERE tenant = ? AND conversation_id = ?',
    Date.now(),
    tenant,
    conversationId,
  );
}

export function readTrouble(
  database: SqliteDatabase,
  { tenant, conversationId }: ConversationKey,
): Trouble | undefined {
  const row = database.get(
    `SELECT trouble FROM troubles WHERE tenant = ?1 AND conversation_id = ?2
       AND last_seq = coalesce(${LAST_SEQ}, 0)`,
    tenant,
    conversationId,
  );
  return troubleFrom(row?.['trouble']);
}

export function readTroubles(
  database: SqliteDatabase,
  { limit, after }: Parameters<Troubles['troubles']>[0],
): readonly Troubled[] {
  return database
    .all(
      `SELECT tenant, conversation_id, trouble FROM troubles WHERE (tenant, conversation_id) > (?, ?)
       ORDER BY tenant, conversation_id LIMIT ?`,
      after?.tenant ?? '',
      after?.conversationId ?? '',
      limit,
    )
    .flatMap((row) => {
      const trouble = troubleFrom(row['trouble']);
      return trouble === undefined ? [] : [{ ...keyOf(row), trouble }];
    });
}

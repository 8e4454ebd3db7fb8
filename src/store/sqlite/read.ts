/** Reads of the sqlite event log: rows into heads, snapshots and events. Synchronous; callers wrap them. */

import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { ConversationKey, NameableKeys, TurnId } from '../../protocol/values/ids.js';
import { readBounds } from '../plans/paging.js';
import { eventOf, headOf, keyOf, numberIn } from '../plans/rows.js';
import type { EventsRead, ReadOptions } from '../ports/log.js';
import type { LogHead } from '../ports/log-head.js';
import type { SqliteDatabase } from './database/database.js';

export function readHead(database: SqliteDatabase, key: ConversationKey): LogHead | undefined {
  const row = database.get(
    'SELECT * FROM conversations WHERE tenant = ? AND conversation_id = ?',
    key.tenant,
    key.conversationId,
  );
  return row === undefined ? undefined : headOf(row);
}

export function readEvents(
  database: SqliteDatabase,
  key: ConversationKey,
  options: ReadOptions,
): EventsRead | undefined {
  const end = endOf(database, key, options.generation);
  if (end === undefined) return undefined;
  const events: CanonicalEvent[] = [];
  let bytes = 0;
  const { limit, maxBytes, afterSeq, beforeSeq } = readBounds(options);
  const isBackward = beforeSeq !== undefined;
  const rows = database.iterate(
    `SELECT seq, event, octet_length(event) AS bytes FROM events
     WHERE tenant = ? AND conversation_id = ? AND generation = ? AND seq > ? AND seq <= ?
     ORDER BY seq ${isBackward ? 'DESC' : 'ASC'} LIMIT ?`,
    key.tenant,
    key.conversationId,
    end.generation,
    afterSeq,
    isBackward ? Math.min(beforeSeq - 1, end.lastSeq) : end.lastSeq,
    // One more row shows whether there are more.
    limit + 1,
  );
  let more = false;
  for (const row of rows) {
    bytes += numberIn(row, 'bytes');
    // At least one, or a reader could never get past a big event.
    more = events.length === limit || (events.length > 0 && bytes > maxBytes);
    if (more) break;
    events.push(eventOf(row));
  }
  return { ...end, events, more };
}

/** Rows of one generation through a seq, oldest first, without its marker. */
export function* eventsThrough(
  database: SqliteDatabase,
  key: ConversationKey & { readonly generation: number },
  lastSeq: number,
): Generator<CanonicalEvent> {
  const rows = database.iterate(
    `SELECT event FROM events
     WHERE tenant = ? AND conversation_id = ? AND generation = ? AND seq BETWEEN 1 AND ? ORDER BY seq`,
    key.tenant,
    key.conversationId,
    key.generation,
    lastSeq,
  );
  for (const row of rows) yield eventOf(row);
}

export function readTurnEvents(
  database: SqliteDatabase,
  key: ConversationKey,
  turnId: TurnId,
): readonly CanonicalEvent[] {
  return database.all(TURN_EVENTS, turnId, key.tenant, key.conversationId).map(eventOf);
}

/** Names the index, because sqlite would use the primary key, and read all rows that the conversation ever had. */
export const TURN_EVENTS = `
  SELECT events.event FROM events INDEXED BY events_by_turn
  JOIN conversations USING (tenant, conversation_id, generation)
  WHERE turn_id = ? AND tenant = ? AND conversation_id = ? ORDER BY seq`;

/** Names the index for the same reason. A fork has copies of the origin's turns, and may go on with one. */
export const TURN_KEY = `
  SELECT tenant, conversation_id FROM events INDEXED BY events_by_turn
  WHERE turn_id = ?1 AND (?2 IS NULL OR tenant IN (SELECT value FROM json_each(?2)))
    AND (?3 IS NULL OR conversation_id = ?3)
  ORDER BY copied, seq, tenant, conversation_id LIMIT 1`;

export function findTurnKey(
  database: SqliteDatabase,
  turnId: TurnId,
  among?: NameableKeys,
): ConversationKey | undefined {
  const tenants = among === undefined ? null : JSON.stringify(among.tenants);
  const row = database.get(TURN_KEY, turnId, tenants, among?.conversationId ?? null);
  if (row === undefined) return undefined;
  return keyOf(row);
}

function endOf(
  database: SqliteDatabase,
  key: ConversationKey,
  generation: number | undefined,
): { generation: number; lastSeq: number } | undefined {
  const row = database.get(
    'SELECT generation, last_seq FROM conversations WHERE tenant = ? AND conversation_id = ?',
    key.tenant,
    key.conversationId,
  );
  if (row === undefined) return undefined;
  const newest = numberIn(row, 'generation');
  if (generation === undefined || generation === newest)
    return { generation: newest, lastSeq: numberIn(row, 'last_seq') };
  const older = database.get(
    'SELECT max(seq) AS last_seq FROM events WHERE tenant = ? AND conversation_id = ? AND generation = ?',
    key.tenant,
    key.conversationId,
    generation,
  );
  if (older === undefined || older['last_seq'] === null) return undefined;
  return { generation, lastSeq: numberIn(older, 'last_seq') };
}

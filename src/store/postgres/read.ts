/** Reads of the Postgres event log. */
import type { ConversationKey, TurnId } from '../../protocol/ids.js';
import { cursorOf, listLimit, positionOf, readBounds } from '../paging.js';
import type { ConversationList, EventsRead, ListOptions, LogHead, ReadOptions } from '../port.js';
import type { PostgresDatabase, Value } from './database.js';
import { numberIn, textIn } from './database.js';
import { eventOf, headOf, snapshotOf } from './rows.js';

export async function readHead(
  database: PostgresDatabase,
  key: ConversationKey,
): Promise<LogHead | undefined> {
  const row = await database.get(
    `SELECT * FROM ${database.table('conversations')} WHERE tenant = $1 AND conversation_id = $2`,
    key.tenant,
    key.conversationId,
  );
  return row === undefined ? undefined : headOf(row);
}

export async function readEvents(
  database: PostgresDatabase,
  key: ConversationKey,
  options: ReadOptions,
): Promise<EventsRead | undefined> {
  const end = await endOf(database, key, options.generation);
  if (end === undefined) return undefined;
  const { limit, maxBytes, afterSeq } = readBounds(options);
  // At least one event, or a reader could never get past a big one.
  const rows = await database.all(
    `SELECT seq, event FROM (
       SELECT seq, event, sum(octet_length(event)) OVER (ORDER BY seq) AS bytes, row_number() OVER (ORDER BY seq) AS nth
       FROM (
         SELECT seq, event FROM ${database.table('events')}
         WHERE tenant = $1 AND conversation_id = $2 AND generation = $3 AND seq > $4 AND seq <= $5
         ORDER BY seq LIMIT $6
       ) AS page
     ) AS counted WHERE bytes <= $7 OR nth = 1 ORDER BY seq`,
    key.tenant,
    key.conversationId,
    end.generation,
    afterSeq,
    end.lastSeq,
    limit,
    maxBytes,
  );
  const last = rows.at(-1);
  const more = last !== undefined && numberIn(last, 'seq') < end.lastSeq;
  return { ...end, events: rows.map(eventOf), more };
}

export async function readTurnEvents(
  database: PostgresDatabase,
  key: ConversationKey,
  turnId: TurnId,
): Promise<EventsRead['events']> {
  const rows = await database.all(
    `SELECT event FROM ${database.table('events')} JOIN ${database.table('conversations')}
       USING (tenant, conversation_id, generation)
     WHERE turn_id = $1 AND tenant = $2 AND conversation_id = $3 ORDER BY seq`,
    turnId,
    key.tenant,
    key.conversationId,
  );
  return rows.map(eventOf);
}

export async function findTurnKey(
  database: PostgresDatabase,
  turnId: TurnId,
): Promise<ConversationKey | undefined> {
  const row = await database.get(
    `SELECT tenant, conversation_id FROM ${database.table('events')}
     WHERE turn_id = $1 ORDER BY generation DESC LIMIT 1`,
    turnId,
  );
  if (row === undefined) return undefined;
  return { tenant: textIn(row, 'tenant'), conversationId: textIn(row, 'conversation_id') };
}

/**
 * Newest conversations first; positions never change, so paging neither repeats nor skips.
 * @throws {RangeError} when the cursor is not one of ours.
 */
export async function listSnapshots(
  database: PostgresDatabase,
  options: ListOptions,
): Promise<ConversationList> {
  const { tenant, agent, status, cursor } = options;
  const limit = listLimit(options);
  const filters: readonly (readonly [string, Value | undefined])[] = [
    ['tenant =', tenant],
    ['agent =', agent],
    ['status =', status],
    ['position <', cursor === undefined ? undefined : positionOf(cursor)],
  ];
  const values: Value[] = [];
  const conditions = filters.flatMap(([condition, value]) =>
    value === undefined ? [] : [`${condition} $${values.push(value)}`],
  );
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const rows = await database.all(
    `SELECT position, snapshot FROM ${database.table('conversations')} ${where}
     ORDER BY position DESC LIMIT $${values.push(limit + 1)}`,
    ...values,
  );
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    conversations: page.map(snapshotOf),
    ...(rows.length > limit && last !== undefined
      ? { nextCursor: cursorOf(numberIn(last, 'position')) }
      : {}),
  };
}

export async function readOpenHeads(
  database: PostgresDatabase,
  options: { readonly limit: number; readonly after?: ConversationKey },
): Promise<readonly LogHead[]> {
  const rows = await database.all(
    `SELECT * FROM ${database.table('conversations')}
     WHERE status <> 'closed' AND (tenant, conversation_id) > ($1, $2)
     ORDER BY tenant, conversation_id LIMIT $3`,
    options.after?.tenant ?? '',
    options.after?.conversationId ?? '',
    options.limit,
  );
  return rows.map(headOf);
}

async function endOf(
  database: PostgresDatabase,
  key: ConversationKey,
  generation: number | undefined,
): Promise<{ generation: number; lastSeq: number } | undefined> {
  const row = await database.get(
    `SELECT generation, last_seq FROM ${database.table('conversations')}
     WHERE tenant = $1 AND conversation_id = $2`,
    key.tenant,
    key.conversationId,
  );
  if (row === undefined) return undefined;
  const newest = numberIn(row, 'generation');
  if (generation === undefined || generation === newest)
    return { generation: newest, lastSeq: numberIn(row, 'last_seq') };
  const older = await database.get(
    `SELECT max(seq) AS last_seq FROM ${database.table('events')}
     WHERE tenant = $1 AND conversation_id = $2 AND generation = $3`,
    key.tenant,
    key.conversationId,
    generation,
  );
  if (older === undefined || older['last_seq'] === null) return undefined;
  return { generation, lastSeq: numberIn(older, 'last_seq') };
}

/** Reads of the Postgres event log. */

import type { ConversationKey, NameableKeys, TurnId } from '../../../protocol/values/ids.js';
import { readBounds } from '../../plans/paging.js';
import { eventOf, headOf, keyOf, numberIn } from '../../plans/rows.js';
import type { EventsRead, ReadOptions } from '../../ports/log.js';
import type { LogHead } from '../../ports/log-head.js';
import type { PostgresDatabase } from '../database/database.js';

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
  const { limit, maxBytes, afterSeq, beforeSeq } = readBounds(options);
  const order = beforeSeq === undefined ? 'ASC' : 'DESC';
  // At least one event, or a reader could never get past a big one; one more row shows whether there are more.
  const rows = await database.all(
    `SELECT event, (bytes <= $7 AND nth < $6) OR nth = 1 AS fits FROM (
       SELECT seq, event, sum(octet_length(event)) OVER (ORDER BY seq ${order}) AS bytes,
         row_number() OVER (ORDER BY seq ${order}) AS nth
       FROM (
         SELECT seq, event FROM ${database.table('events')}
         WHERE tenant = $1 AND conversation_id = $2 AND generation = $3 AND seq > $4 AND seq <= $5
         ORDER BY seq ${order} LIMIT $6
       ) AS page
     ) AS counted ORDER BY nth`,
    key.tenant,
    key.conversationId,
    end.generation,
    afterSeq,
    beforeSeq === undefined ? end.lastSeq : Math.min(beforeSeq - 1, end.lastSeq),
    limit + 1,
    maxBytes,
  );
  const page = rows.filter((row) => row['fits'] === true);
  return { ...end, events: page.map(eventOf), more: page.length < rows.length };
}

export async function readTurnEvents(
  database: PostgresDatabase,
  key: ConversationKey,
  turnId: TurnId,
): Promise<EventsRead['events']> {
  const rows = await database.all(
    // The few rows of the turn first: the primary key would lead over all rows that the conversation ever had.
    `WITH of_turn AS MATERIALIZED (SELECT * FROM ${database.table('events')} WHERE turn_id = $1)
     SELECT event FROM of_turn JOIN ${database.table('conversations')} USING (tenant, conversation_id, generation)
     WHERE tenant = $2 AND conversation_id = $3 ORDER BY seq`,
    turnId,
    key.tenant,
    key.conversationId,
  );
  return rows.map(eventOf);
}

export async function findTurnKey(
  database: PostgresDatabase,
  turnId: TurnId,
  among?: NameableKeys,
): Promise<ConversationKey | undefined> {
  const row = await database.get(
    // A fork has copies of the origin's turns, and may go on with one.
    `SELECT tenant, conversation_id FROM ${database.table('events')}
     WHERE turn_id = $1 AND ($2::text[] IS NULL OR tenant = ANY($2::text[]))
       AND ($3::text IS NULL OR conversation_id = $3::text)
     ORDER BY copied, seq, tenant, conversation_id LIMIT 1`,
    turnId,
    among?.tenants ?? null,
    among?.conversationId ?? null,
  );
  if (row === undefined) return undefined;
  return keyOf(row);
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

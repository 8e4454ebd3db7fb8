/** Rows of pending calls in the Postgres event log. Part of an append, inside its transaction. */

import type { ConversationKey, TurnId } from '../../../protocol/values/ids.js';
import {
  inputOfTurn,
  type PendingStates,
  pendingChange,
  requestersStored,
} from '../../plans/pending.js';
import { eventOf } from '../../plans/rows.js';
import type { PostgresDatabase, Queries } from '../database/database.js';

type Tables = Pick<PostgresDatabase, 'table'>;

/** To be called after the head and the events are written, because it reads both. */
export async function followPending(
  database: Tables,
  queries: Queries,
  states: PendingStates,
): Promise<void> {
  const { gone, put } = pendingChange(states);
  const { tenant, conversationId } = states.after;
  const table = database.table('pending_calls');
  if (gone.length > 0)
    await queries.run(
      `DELETE FROM ${table} WHERE tenant = $1 AND conversation_id = $2 AND tool_call_id = ANY ($3::text[])`,
      tenant,
      conversationId,
      gone,
    );
  if (put.length === 0) return;
  const requesters: (string | null)[] = [];
  for (const { askedIn } of put)
    requesters.push(
      askedIn === undefined
        ? null
        : await requestersOf(database, queries, { key: states.after, turnId: askedIn }),
    );
  await queries.run(
    `INSERT INTO ${table}
       (tenant, conversation_id, tool_call_id, position, tool, kind, deadline_ms, opened_at_ms, audience, requesters)
     SELECT tenant, conversation_id, tool_call_id, position, tool, kind, deadline_ms, opened_at_ms, audience::jsonb,
       requesters::jsonb
     FROM ${database.table('conversations')},
       unnest($3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::text[], $9::text[])
         AS row (tool_call_id, tool, kind, deadline_ms, opened_at_ms, audience, requesters)
     WHERE tenant = $1 AND conversation_id = $2
     ON CONFLICT (tenant, conversation_id, tool_call_id) DO UPDATE SET
       tool = excluded.tool, kind = excluded.kind, deadline_ms = excluded.deadline_ms,
       opened_at_ms = excluded.opened_at_ms, audience = excluded.audience, requesters = excluded.requesters`,
    tenant,
    conversationId,
    put.map(({ toolCallId }) => toolCallId),
    put.map(({ tool }) => tool),
    put.map(({ kind }) => kind),
    put.map(({ deadlineMs }) => deadlineMs),
    put.map(({ openedAtMs }) => openedAtMs),
    put.map(({ audience }) => audience ?? null),
    requesters,
  );
}

async function requestersOf(
  database: Tables,
  queries: Queries,
  { key, turnId }: { readonly key: ConversationKey; readonly turnId: TurnId },
): Promise<string> {
  const { tenant, conversationId } = key;
  const select = `SELECT event FROM ${database.table('events')} AS events
    JOIN ${database.table('conversations')} AS conversations USING (tenant, conversation_id, generation)
    WHERE tenant = $1 AND conversation_id = $2`;
  const messages = await queries.all(
    `${select} AND turn_id = $3 AND type IN ('user_message', 'turn_started') ORDER BY seq`,
    tenant,
    conversationId,
    turnId,
  );
  const events = messages.map(eventOf);
  const input = inputOfTurn(events);
  if (input === undefined) return requestersStored(events, []);
  // Inbox events belong to no turn, so the search runs along the conversation; few turns begin with them.
  const inputs = await queries.all(
    `${select} AND seq < $3 AND type = 'inbox_event' AND strpos(event, $4) > 0 ORDER BY seq DESC`,
    tenant,
    conversationId,
    input.beforeSeq,
    input.mark,
  );
  return requestersStored(events, inputs.map(eventOf));
}

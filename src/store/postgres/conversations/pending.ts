/** Rows of pending calls in the Postgres event log. Part of an append, inside its transaction. */

import type { ConversationKey, TurnId } from '../../../protocol/values/ids.js';
import {
  inputOfTurn,
  namesStored,
  type PendingRow,
  type PendingStates,
  pendingChange,
  requestersOfTurn,
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
  const turns = await requestersByTurn(database, queries, { key: states.after, put });
  const requestersOfRow = ({ turnId }: PendingRow): readonly string[] => turns.get(turnId) ?? [];
  await queries.run(
    `INSERT INTO ${table} AS known
       (tenant, conversation_id, position, tool_call_id, tool, agent, kind, risk, deadline_ms, opened_at_ms, audience,
        excludes_requester, requesters, claimed_by, item, warn_at_ms, claims, seq)
     SELECT tenant, conversation_id, position, row.tool_call_id, row.tool, row.agent, row.kind, row.risk,
       row.deadline_ms, row.opened_at_ms, row.audience::jsonb, row.excludes_requester = 1, row.requesters::jsonb, row.claimed_by, row.item,
       row.warn_at_ms, row.claims, row.seq
     FROM ${database.table('conversations')},
       unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::text[], $11::int[],
         $12::text[], $13::text[], $14::text[], $15::bigint[], $16::int[], $17::int[])
         AS row (tool_call_id, tool, agent, kind, risk, deadline_ms, opened_at_ms, audience, excludes_requester, requesters,
           claimed_by, item, warn_at_ms, claims, seq)
     WHERE tenant = $1 AND conversation_id = $2
     ON CONFLICT (tenant, conversation_id, tool_call_id) DO UPDATE SET
       tool = excluded.tool, agent = excluded.agent, kind = excluded.kind, risk = excluded.risk,
       deadline_ms = excluded.deadline_ms, opened_at_ms = excluded.opened_at_ms, audience = excluded.audience,
       excludes_requester = excluded.excludes_requester, requesters = excluded.requesters,
       claimed_by = excluded.claimed_by, item = excluded.item,
       warn_at_ms = CASE WHEN known.deadline_ms = excluded.deadline_ms
         THEN known.warn_at_ms ELSE excluded.warn_at_ms END,
       claims = known.claims + excluded.claims, seq = excluded.seq`,
    tenant,
    conversationId,
    put.map(({ toolCallId }) => toolCallId),
    put.map(({ tool }) => tool),
    put.map(({ agent }) => agent),
    put.map(({ kind }) => kind),
    put.map(({ risk }) => risk ?? null),
    put.map(({ deadlineMs }) => deadlineMs),
    put.map(({ openedAtMs }) => openedAtMs),
    put.map(({ audience }) => audience ?? null),
    put.map(({ excludesRequester }) => (excludesRequester ? 1 : 0)),
    put.map((row) => namesStored(requestersOfRow(row))),
    put.map(({ claimedBy }) => claimedBy ?? null),
    put.map((row) => row.item(requestersOfRow(row))),
    put.map(({ warnAtMs }) => warnAtMs ?? null),
    put.map(({ claims }) => claims),
    put.map(({ seq }) => seq),
  );
}

async function requestersByTurn(
  database: Tables,
  queries: Queries,
  { key, put }: { readonly key: ConversationKey; readonly put: readonly PendingRow[] },
): Promise<ReadonlyMap<TurnId, readonly string[]>> {
  const turns = new Map<TurnId, readonly string[]>();
  for (const { turnId } of put)
    if (!turns.has(turnId))
      turns.set(turnId, await requestersOf(database, queries, { key, turnId }));
  return turns;
}

async function requestersOf(
  database: Tables,
  queries: Queries,
  { key, turnId }: { readonly key: ConversationKey; readonly turnId: TurnId },
): Promise<readonly string[]> {
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
  if (input === undefined) return requestersOfTurn(events, []);
  // Inbox events belong to no turn, so the search runs along the conversation; few turns begin with them.
  const inputs = await queries.all(
    `${select} AND seq < $3 AND type = 'inbox_event' AND strpos(event, $4) > 0 ORDER BY seq DESC`,
    tenant,
    conversationId,
    input.beforeSeq,
    input.mark,
  );
  return requestersOfTurn(events, inputs.map(eventOf));
}

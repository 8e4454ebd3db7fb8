/** Rows of pending calls in the Postgres event log. Part of an append, inside its transaction. */
import type { ConversationSnapshot } from '../../protocol/conversation.js';
import { pendingChange } from '../pending-plan.js';
import type { PostgresDatabase, Queries } from './database.js';

export async function followPending(
  database: Pick<PostgresDatabase, 'table'>,
  queries: Queries,
  states: {
    readonly before: ConversationSnapshot | undefined;
    readonly after: ConversationSnapshot;
  },
): Promise<void> {
  const { gone, put } = pendingChange(states.before, states.after);
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
  await queries.run(
    `INSERT INTO ${table} (tenant, conversation_id, tool_call_id, position, tool, kind, deadline_ms, audience)
     SELECT tenant, conversation_id, tool_call_id, position, tool, kind, deadline_ms, audience::jsonb
     FROM ${database.table('conversations')},
       unnest($3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[])
         AS row (tool_call_id, tool, kind, deadline_ms, audience)
     WHERE tenant = $1 AND conversation_id = $2
     ON CONFLICT (tenant, conversation_id, tool_call_id) DO UPDATE SET
       tool = excluded.tool, kind = excluded.kind, deadline_ms = excluded.deadline_ms,
       audience = excluded.audience`,
    tenant,
    conversationId,
    put.map(({ toolCallId }) => toolCallId),
    put.map(({ tool }) => tool),
    put.map(({ kind }) => kind),
    put.map(({ deadlineMs }) => deadlineMs),
    put.map(({ audience }) => audience ?? null),
  );
}

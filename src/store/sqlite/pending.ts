/** Rows of pending calls in the sqlite event log. Part of an append, inside its transaction. */
import type { ConversationSnapshot } from '../../protocol/conversation.js';
import { pendingChange } from '../pending-plan.js';
import type { SqliteDatabase } from './database.js';

export function followPending(
  database: SqliteDatabase,
  before: ConversationSnapshot | undefined,
  after: ConversationSnapshot,
): void {
  const { gone, put } = pendingChange(before, after);
  const { tenant, conversationId } = after;
  for (const toolCallId of gone)
    database.run(
      'DELETE FROM pending_calls WHERE tenant = ? AND conversation_id = ? AND tool_call_id = ?',
      tenant,
      conversationId,
      toolCallId,
    );
  for (const { toolCallId, tool, kind, deadlineMs, audience } of put)
    database.run(
      `INSERT INTO pending_calls (tenant, conversation_id, tool_call_id, position, tool, kind, deadline_ms, audience)
       SELECT tenant, conversation_id, ?, position, ?, ?, ?, ? FROM conversations
       WHERE tenant = ? AND conversation_id = ?
       ON CONFLICT (tenant, conversation_id, tool_call_id) DO UPDATE SET
         tool = excluded.tool, kind = excluded.kind, deadline_ms = excluded.deadline_ms,
         audience = excluded.audience`,
      toolCallId,
      tool,
      kind,
      deadlineMs,
      audience ?? null,
      tenant,
      conversationId,
    );
}

/** Rows of pending calls in the sqlite event log. Part of an append, inside its transaction. */

import type { ConversationKey, TurnId } from '../../protocol/values/ids.js';
import {
  inputOfTurn,
  type PendingStates,
  pendingChange,
  requestersStored,
} from '../plans/pending.js';
import { eventOf } from '../plans/rows.js';
import type { SqliteDatabase } from './database.js';

/** To be called after the head and the events are written, because it reads both. */
export function followPending(database: SqliteDatabase, states: PendingStates): void {
  const { gone, put } = pendingChange(states);
  const { tenant, conversationId } = states.after;
  for (const toolCallId of gone)
    database.run(
      'DELETE FROM pending_calls WHERE tenant = ? AND conversation_id = ? AND tool_call_id = ?',
      tenant,
      conversationId,
      toolCallId,
    );
  for (const { toolCallId, tool, kind, deadlineMs, openedAtMs, audience, askedIn } of put)
    database.run(
      `INSERT INTO pending_calls
         (tenant, conversation_id, tool_call_id, position, tool, kind, deadline_ms, opened_at_ms, audience, requesters)
       SELECT tenant, conversation_id, ?, position, ?, ?, ?, ?, ?, ? FROM conversations
       WHERE tenant = ? AND conversation_id = ?
       ON CONFLICT (tenant, conversation_id, tool_call_id) DO UPDATE SET
         tool = excluded.tool, kind = excluded.kind, deadline_ms = excluded.deadline_ms,
         opened_at_ms = excluded.opened_at_ms, audience = excluded.audience, requesters = excluded.requesters`,
      toolCallId,
      tool,
      kind,
      deadlineMs,
      openedAtMs,
      audience ?? null,
      askedIn === undefined ? null : requestersOf(database, states.after, askedIn),
      tenant,
      conversationId,
    );
}

function requestersOf(database: SqliteDatabase, key: ConversationKey, turnId: TurnId): string {
  const events = database.all(MESSAGES, turnId, key.tenant, key.conversationId).map(eventOf);
  const input = inputOfTurn(events);
  if (input === undefined) return requestersStored(events, []);
  const { mark, beforeSeq } = input;
  const inputs = database.all(INPUTS, key.tenant, key.conversationId, beforeSeq, mark);
  return requestersStored(events, inputs.map(eventOf));
}

/** Names the index, because sqlite would use the primary key, and read all rows that the conversation ever had. */
export const MESSAGES = `
  SELECT events.event FROM events INDEXED BY events_by_turn
  JOIN conversations USING (tenant, conversation_id, generation)
  WHERE turn_id = ? AND tenant = ? AND conversation_id = ? AND type IN ('user_message', 'turn_started') ORDER BY seq`;

/** Inbox events belong to no turn, so the search runs along the conversation; few turns begin with them. */
const INPUTS = `
  SELECT events.event FROM events JOIN conversations USING (tenant, conversation_id, generation)
  WHERE tenant = ? AND conversation_id = ? AND seq < ? AND type = 'inbox_event' AND instr(event, ?) > 0 ORDER BY seq DESC`;

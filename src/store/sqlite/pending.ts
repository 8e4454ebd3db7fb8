/** Rows of pending calls in the sqlite event log: written as part of an append, and read as the worklist. */

import type { WaitingItem, WorklistCounts } from '../../protocol/log/worklist.js';
import type { ConversationId, ConversationKey, TurnId } from '../../protocol/values/ids.js';
import {
  inputOfTurn,
  namesStored,
  type PendingRow,
  type PendingStates,
  pendingChange,
  requestersOfTurn,
} from '../plans/pending.js';
import { eventOf } from '../plans/rows.js';
import {
  countQuery,
  itemOf,
  waitingCountsOf,
  waitingPage,
  worklistQuery,
} from '../plans/worklist-query.js';
import type { WaitingPage, WorklistRequest } from '../ports/worklist.js';
import type { SqliteDatabase } from './database/database.js';
import { SQLITE } from './lists.js';

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
  const turns = new Map<TurnId, readonly string[]>();
  for (const row of put) {
    const requesters = turns.get(row.turnId) ?? requestersOf(database, states.after, row.turnId);
    turns.set(row.turnId, requesters);
    putRow(database, states.after, { row, requesters });
  }
}

function putRow(
  database: SqliteDatabase,
  { tenant, conversationId }: ConversationKey,
  { row, requesters }: { readonly row: PendingRow; readonly requesters: readonly string[] },
): void {
  database.run(
    `INSERT INTO pending_calls
       (tenant, conversation_id, tool_call_id, position, tool, agent, kind, risk, deadline_ms, opened_at_ms, audience,
        excludes_requester, requesters, claimed_by, item, warn_at_ms, claims, seq)
     SELECT tenant, conversation_id, ?, position, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM conversations
     WHERE tenant = ? AND conversation_id = ?
     ON CONFLICT (tenant, conversation_id, tool_call_id) DO UPDATE SET
       tool = excluded.tool, agent = excluded.agent, kind = excluded.kind, risk = excluded.risk,
       deadline_ms = excluded.deadline_ms, opened_at_ms = excluded.opened_at_ms, audience = excluded.audience,
       excludes_requester = excluded.excludes_requester, requesters = excluded.requesters,
       claimed_by = excluded.claimed_by, item = excluded.item,
       warn_at_ms = CASE WHEN pending_calls.deadline_ms = excluded.deadline_ms
         THEN pending_calls.warn_at_ms ELSE excluded.warn_at_ms END,
       claims = pending_calls.claims + excluded.claims, seq = excluded.seq`,
    row.toolCallId,
    row.tool,
    row.agent,
    row.kind,
    row.risk ?? null,
    row.deadlineMs,
    row.openedAtMs,
    row.audience ?? null,
    row.excludesRequester ? 1 : 0,
    namesStored(requesters),
    row.claimedBy ?? null,
    row.item(requesters),
    row.warnAtMs ?? null,
    row.claims,
    row.seq,
    tenant,
    conversationId,
  );
}

function requestersOf(
  database: SqliteDatabase,
  key: ConversationKey,
  turnId: TurnId,
): readonly string[] {
  const events = database.all(MESSAGES, turnId, key.tenant, key.conversationId).map(eventOf);
  const input = inputOfTurn(events);
  if (input === undefined) return requestersOfTurn(events, []);
  const { mark, beforeSeq } = input;
  const inputs = database.all(INPUTS, key.tenant, key.conversationId, beforeSeq, mark);
  return requestersOfTurn(events, inputs.map(eventOf));
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

export function readWaiting(database: SqliteDatabase, request: WorklistRequest): WaitingPage {
  const { sql, values } = worklistQuery(request, SQLITE);
  return waitingPage(request, database.all(sql, ...values));
}

export function countWaiting(database: SqliteDatabase, request: WorklistRequest): WorklistCounts {
  const { sql, values } = countQuery(request, SQLITE);
  return waitingCountsOf(database.all(sql, ...values));
}

export function readWaitingIn(
  database: SqliteDatabase,
  tenant: string,
  conversationIds: readonly ConversationId[],
): readonly WaitingItem[] {
  const sql = `SELECT item FROM pending_calls
    WHERE tenant = ? AND conversation_id IN (SELECT value FROM json_each(?))`;
  return database.all(sql, tenant, JSON.stringify(conversationIds)).map(itemOf);
}

/** Deliveries of webhooks that an append, a mark of trouble or a wait's end writes, inside its transaction. */
import type { WebhookEnvelope, WebhookEvent } from '../../../protocol/log/webhook-events.js';
import type { ConversationKey } from '../../../protocol/values/ids.js';
import { eventOf, headOf, textIn } from '../../plans/rows.js';
import { expiringIn, warnsItself } from '../../plans/service/webhook-events.js';
import { deliveriesOf, endpointOf, timesOf } from '../../plans/webhook-rows.js';
import type { SqliteDatabase } from '../database/database.js';

/**
 * To be called last in an append: a wait that has ended must not be announced behind its end. Asks for the events only
 * where there is an endpoint.
 */
export function storeOutbox(
  database: SqliteDatabase,
  key: ConversationKey,
  events: () => readonly WebhookEvent[],
): void {
  const endpoints = database
    .all('SELECT * FROM webhook_endpoints WHERE tenant = ? OR tenant IS NULL', key.tenant)
    .map(endpointOf);
  if (endpoints.length === 0) return;
  for (const { endpointId, event } of deliveriesOf(events(), endpoints))
    insertDelivery(database, { ...key, endpointId, event });
}

/** Adds nothing if the endpoint has the event already. */
export function insertDelivery(
  database: SqliteDatabase,
  row: ConversationKey & { readonly endpointId: string; readonly event: WebhookEnvelope },
): void {
  const { dueMs, sinceMs } = timesOf(row.event);
  database.run(
    `INSERT INTO webhook_deliveries
       (endpoint_id, event_id, tenant, conversation_id, status, event, attempts, next_at_ms, since_ms)
     VALUES (?, ?, ?, ?, 'pending', ?, 0, ?, ?) ON CONFLICT (endpoint_id, event_id) DO NOTHING`,
    row.endpointId,
    row.event.id,
    row.tenant,
    row.conversationId,
    JSON.stringify(row.event),
    dueMs,
    sinceMs,
  );
}

/** To be called inside a write transaction. */
export function announceExpiring(
  database: SqliteDatabase,
  { nowMs, limit }: { readonly nowMs: number; readonly limit: number },
): number {
  const rows = database.all(
    `SELECT conversations.*, pending_calls.tool_call_id FROM pending_calls
     JOIN conversations USING (tenant, conversation_id)
     WHERE warn_at_ms <= ? ORDER BY warn_at_ms LIMIT ?`,
    nowMs,
    limit,
  );
  for (const row of rows) {
    const head = headOf(row);
    const toolCallId = textIn(row, 'tool_call_id');
    database.run(
      'UPDATE pending_calls SET warn_at_ms = NULL WHERE tenant = ? AND conversation_id = ? AND tool_call_id = ?',
      head.tenant,
      head.conversationId,
      toolCallId,
    );
    const event = expiringIn(head, toolCallId, nowMs);
    if (event !== undefined && !isAnnouncedByLog(database, event, toolCallId))
      storeOutbox(database, head, () => [event]);
  }
  return rows.length;
}

function isAnnouncedByLog(
  database: SqliteDatabase,
  { data }: WebhookEvent,
  toolCallId: string,
): boolean {
  const turnId = 'turnId' in data ? data.turnId : '';
  const plans = database.all(
    "SELECT event FROM events WHERE turn_id = ? AND type IN ('tool_call', 'call_planned') ORDER BY generation, seq",
    turnId,
  );
  return warnsItself(plans.map(eventOf), toolCallId);
}

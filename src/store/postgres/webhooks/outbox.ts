/** Deliveries of webhooks that an append, a mark of trouble or a wait's end writes, inside its transaction. */
import type { WebhookEnvelope, WebhookEvent } from '../../../protocol/log/webhook-events.js';
import type { ConversationKey } from '../../../protocol/values/ids.js';
import { eventOf, headOf, textIn } from '../../plans/rows.js';
import { expiringIn, warnsItself } from '../../plans/service/webhook-events.js';
import { deliveriesOf, endpointOf, timesOf } from '../../plans/webhook-rows.js';
import type { PostgresDatabase, Queries } from '../database/database.js';

type Tables = Pick<PostgresDatabase, 'table'>;

export class Outbox {
  readonly #database: Tables;
  readonly #queries: Queries;

  constructor(database: Tables, queries: Queries) {
    this.#database = database;
    this.#queries = queries;
  }

  /** To be called last in an append: a wait that has ended must not be announced behind its end. */
  async store(key: ConversationKey, events: readonly WebhookEvent[]): Promise<void> {
    if (events.length === 0) return;
    const endpoints = await this.#queries.all(
      `SELECT * FROM ${this.#database.table('webhook_endpoints')} WHERE tenant = $1 OR tenant IS NULL ORDER BY id`,
      key.tenant,
    );
    await this.insert(key, deliveriesOf(events, endpoints.map(endpointOf)));
  }

  /** Adds those that their endpoints do not have yet, in this order. */
  async insert(
    { tenant, conversationId }: ConversationKey,
    rows: readonly { readonly endpointId: string; readonly event: WebhookEnvelope }[],
  ): Promise<void> {
    if (rows.length === 0) return;
    await this.#queries.run(
      `INSERT INTO ${this.#database.table('webhook_deliveries')}
         (endpoint_id, event_id, tenant, conversation_id, status, event, attempts, next_at_ms, since_ms)
       SELECT endpoint_id, event_id, $1, $2, 'pending', event, 0, due_ms, since_ms
       FROM unnest($3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[]) WITH ORDINALITY
         AS row (endpoint_id, event_id, event, due_ms, since_ms, nth)
       ORDER BY nth
       ON CONFLICT (endpoint_id, event_id) DO NOTHING`,
      tenant,
      conversationId,
      rows.map(({ endpointId }) => endpointId),
      rows.map(({ event }) => event.id),
      rows.map(({ event }) => JSON.stringify(event)),
      rows.map(({ event }) => timesOf(event).dueMs),
      rows.map(({ event }) => timesOf(event).sinceMs),
    );
  }

  async announceExpiring(options: {
    readonly nowMs: number;
    readonly limit: number;
  }): Promise<number> {
    const { nowMs, limit } = options;
    const pending = this.#database.table('pending_calls');
    const rows = await this.#queries.all(
      `UPDATE ${pending} AS call SET warn_at_ms = NULL
       FROM ${this.#database.table('conversations')} AS conversation
       WHERE conversation.tenant = call.tenant AND conversation.conversation_id = call.conversation_id
         AND (call.tenant, call.conversation_id, call.tool_call_id) IN (
           SELECT tenant, conversation_id, tool_call_id FROM ${pending}
           WHERE warn_at_ms <= $1 ORDER BY warn_at_ms LIMIT $2 FOR UPDATE SKIP LOCKED)
       RETURNING conversation.*, call.tool_call_id`,
      nowMs,
      limit,
    );
    for (const row of rows) {
      const head = headOf(row);
      const toolCallId = textIn(row, 'tool_call_id');
      const event = expiringIn(head, toolCallId, nowMs);
      if (event !== undefined && !(await this.#isAnnouncedByLog(event, toolCallId)))
        await this.store(head, [event]);
    }
    return rows.length;
  }

  async #isAnnouncedByLog({ data }: WebhookEvent, toolCallId: string): Promise<boolean> {
    const plans = await this.#queries.all(
      `SELECT event FROM ${this.#database.table('events')}
       WHERE turn_id = $1 AND type IN ('tool_call', 'call_planned') ORDER BY generation, seq`,
      'turnId' in data ? data.turnId : '',
    );
    return warnsItself(plans.map(eventOf), toolCallId);
  }
}

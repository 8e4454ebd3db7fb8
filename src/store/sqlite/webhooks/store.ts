/** Endpoints and deliveries of webhooks in the sqlite file of the event log. */
import type { WebhookEnvelope } from '../../../protocol/log/webhook-events.js';
import { listLimit, positionOf } from '../../plans/paging.js';
import { numberIn, textIn } from '../../plans/rows.js';
import {
  claimedOf,
  countsOf,
  countsQuery,
  definitionOf,
  deliveryPage,
  oldestFirst,
  settledColumns,
  targetAfter,
  targetOf,
} from '../../plans/webhook-rows.js';
import type {
  ClaimedDelivery,
  DeliveryResult,
  WebhookStatus,
  WebhookStore,
  WebhookTarget,
} from '../../ports/webhooks.js';
import type { SqliteDatabase } from '../database/database.js';
import { announceExpiring, insertDelivery } from './outbox.js';

/** Walks the due deliveries in the order of their index, so that a claim of many costs as much as one of few. */
export const CLAIM = `
  UPDATE webhook_deliveries SET attempts = attempts + 1, next_at_ms = ?1, claim = lower(hex(randomblob(12)))
  WHERE position IN (
    SELECT position FROM webhook_deliveries AS due
    WHERE endpoint_id = ?2 AND status = 'pending' AND next_at_ms <= ?3
      AND EXISTS (SELECT 1 FROM webhook_endpoints WHERE id = ?2 AND status = 'active')
      AND NOT EXISTS (
        SELECT 1 FROM webhook_deliveries AS earlier
        WHERE earlier.endpoint_id = due.endpoint_id AND earlier.tenant = due.tenant
          AND earlier.conversation_id = due.conversation_id AND earlier.status = 'pending'
          AND earlier.position < due.position)
    ORDER BY next_at_ms, position LIMIT ?4)
  RETURNING *`;

export class SqliteWebhookStore implements WebhookStore {
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  async putEndpoint(...[given, secret]: Parameters<WebhookStore['putEndpoint']>) {
    return await this.#database.write(() => {
      const before = this.#target(given.id);
      const after = targetAfter(before, given, secret);
      if (after === undefined || after === before) return before;
      const { endpoint, secrets } = after;
      this.#database.run(
        `INSERT INTO webhook_endpoints (id, tenant, status, definition, secrets) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET
           tenant = excluded.tenant, definition = excluded.definition, secrets = excluded.secrets`,
        endpoint.id,
        endpoint.tenant ?? null,
        endpoint.status,
        definitionOf(endpoint),
        JSON.stringify(secrets),
      );
      return after;
    });
  }

  async endpoints({ tenant }: Parameters<WebhookStore['endpoints']>[0]) {
    return await this.#database.read(() =>
      oldestFirst(
        this.#database.all(
          'SELECT * FROM webhook_endpoints WHERE tenant = ?1 OR ?1 IS NULL',
          tenant ?? null,
        ),
      ),
    );
  }

  async endpoint(id: string) {
    return await this.#database.read(() => this.#target(id));
  }

  async setEndpointStatus(id: string, status: WebhookStatus) {
    return await this.#database.write(() => this.#setStatus(id, status));
  }

  async removeEndpoint(id: string) {
    return await this.#database.write(() => {
      this.#database.run('DELETE FROM webhook_deliveries WHERE endpoint_id = ?', id);
      return this.#database.run('DELETE FROM webhook_endpoints WHERE id = ?', id) > 0;
    });
  }

  async removeEndpoints(tenant: string) {
    return await this.#database.write(() => {
      this.#database.run(
        'DELETE FROM webhook_deliveries WHERE endpoint_id IN (SELECT id FROM webhook_endpoints WHERE tenant = ?)',
        tenant,
      );
      return this.#database.run('DELETE FROM webhook_endpoints WHERE tenant = ?', tenant);
    });
  }

  async enqueue(endpointId: string, event: WebhookEnvelope) {
    await this.#database.write(() => {
      const target = this.#target(endpointId);
      if (target === undefined) return;
      const key = { tenant: target.endpoint.tenant ?? '', conversationId: event.id };
      insertDelivery(this.#database, { ...key, endpointId, event });
    });
  }

  /** Only reads while no wait is about to end, or there is no endpoint. */
  async announceExpiring(options: Parameters<WebhookStore['announceExpiring']>[0]) {
    const due = await this.#database.read(() =>
      this.#database.get(
        'SELECT 1 FROM pending_calls WHERE warn_at_ms <= ? AND EXISTS (SELECT 1 FROM webhook_endpoints) LIMIT 1',
        options.nowMs,
      ),
    );
    if (due === undefined) return 0;
    return await this.#database.write(() => announceExpiring(this.#database, options));
  }

  async dueTargets(nowMs: number) {
    return await this.#database.read(() =>
      this.#database
        .all(
          `SELECT endpoint.* FROM webhook_endpoints AS endpoint JOIN webhook_deliveries AS oldest
             ON oldest.position = (
               SELECT position FROM webhook_deliveries AS due
               WHERE due.endpoint_id = endpoint.id AND due.status = 'pending' AND due.next_at_ms <= ?
               ORDER BY next_at_ms, position LIMIT 1)
           WHERE endpoint.status = 'active' ORDER BY oldest.next_at_ms, oldest.position`,
          nowMs,
        )
        .map(targetOf),
    );
  }

  async claimDeliveries(options: Parameters<WebhookStore['claimDeliveries']>[0]) {
    const { endpointId, limit, nowMs, leaseMs } = options;
    const rows = await this.#database.write(() =>
      this.#database.all(CLAIM, nowMs + leaseMs, endpointId, nowMs, limit),
    );
    return rows
      .toSorted((left, right) => numberIn(left, 'position') - numberIn(right, 'position'))
      .map(claimedOf);
  }

  async settleDelivery(delivery: ClaimedDelivery, result: DeliveryResult, nowMs: number) {
    return await this.#database.write(() => {
      const columns = settledColumns(result, nowMs);
      const row = this.#database.get(
        `UPDATE webhook_deliveries SET status = ?, next_at_ms = ?, since_ms = coalesce(?, since_ms), last_status = ?,
           last_error = ?, claim = NULL
         WHERE endpoint_id = ? AND event_id = ? AND claim = ? RETURNING tenant, conversation_id`,
        columns.status,
        columns.nextAtMs,
        columns.endedAtMs,
        columns.lastStatus,
        columns.lastError,
        delivery.endpointId,
        delivery.id,
        delivery.claim,
      );
      if (row === undefined) return false;
      // Those behind it are not looked at before it is tried again.
      if (columns.status === 'pending')
        this.#database.run(
          `UPDATE webhook_deliveries SET next_at_ms = ?1 WHERE endpoint_id = ? AND tenant = ? AND conversation_id = ?
             AND status = 'pending' AND next_at_ms < ?1`,
          columns.nextAtMs,
          delivery.endpointId,
          textIn(row, 'tenant'),
          textIn(row, 'conversation_id'),
        );
      if (result.type === 'gone') this.#setStatus(delivery.endpointId, 'disabled');
      return true;
    });
  }

  async deliveries(options: Parameters<WebhookStore['deliveries']>[0]) {
    const { endpointId, status, cursor } = options;
    const limit = listLimit(options);
    const rows = await this.#database.read(() =>
      this.#database.all(
        `SELECT * FROM webhook_deliveries WHERE endpoint_id = ?1 AND (status = ?2 OR ?2 IS NULL)
           AND (position < ?3 OR ?3 IS NULL) ORDER BY position DESC LIMIT ?4`,
        endpointId,
        status ?? null,
        cursor === undefined ? null : positionOf(cursor),
        limit + 1,
      ),
    );
    return deliveryPage(rows, limit);
  }

  async resendDelivery(endpointId: string, deliveryId: string, nowMs: number) {
    return await this.#database.write(
      () =>
        this.#database.run(
          `UPDATE webhook_deliveries SET status = 'pending', attempts = 0, next_at_ms = 0, since_ms = ?,
             position = (SELECT max(position) + 1 FROM webhook_deliveries)
           WHERE endpoint_id = ? AND event_id = ? AND status <> 'pending'`,
          nowMs,
          endpointId,
          deliveryId,
        ) > 0,
    );
  }

  async pruneDeliveries(options: Parameters<WebhookStore['pruneDeliveries']>[0]) {
    return await this.#database.write(() =>
      this.#database.run(
        `DELETE FROM webhook_deliveries WHERE position IN (
           SELECT position FROM webhook_deliveries
           WHERE (status = 'delivered' AND since_ms < ?) OR (status = 'dead' AND since_ms < ?)
             OR (status = 'pending' AND since_ms < ?)
           LIMIT ?)`,
        options.deliveredBeforeMs,
        options.deadBeforeMs,
        options.pendingBeforeMs,
        options.limit,
      ),
    );
  }

  async deliveryCounts() {
    return await this.#database.read(() =>
      countsOf(this.#database.get(countsQuery('webhook_deliveries'))),
    );
  }

  #target(id: string): WebhookTarget | undefined {
    const row = this.#database.get('SELECT * FROM webhook_endpoints WHERE id = ?', id);
    return row === undefined ? undefined : targetOf(row);
  }

  #setStatus(id: string, status: WebhookStatus): boolean {
    const isKnown =
      this.#database.run('UPDATE webhook_endpoints SET status = ? WHERE id = ?', status, id) > 0;
    if (status === 'active')
      this.#database.run(
        "UPDATE webhook_deliveries SET next_at_ms = 0 WHERE endpoint_id = ? AND status = 'pending' AND claim IS NULL",
        id,
      );
    return isKnown;
  }
}

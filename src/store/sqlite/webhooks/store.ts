/** Endpoints and deliveries of webhooks in the sqlite file of the event log. */
import type { WebhookEnvelope } from '../../../protocol/log/webhook-events.js';
import { listLimit, positionOf } from '../../plans/paging.js';
import { numberIn, textIn } from '../../plans/rows.js';
import {
  claimedOf,
  definitionOf,
  deliveryPage,
  endpointOf,
  secretsAfter,
  settledColumns,
  targetOf,
} from '../../plans/webhook-rows.js';
import type {
  ClaimedDelivery,
  DeliveryResult,
  WebhookEndpoint,
  WebhookStatus,
  WebhookStore,
  WebhookTarget,
} from '../../ports/webhooks.js';
import type { SqliteDatabase } from '../database/database.js';
import { announceExpiring, insertDelivery } from './outbox.js';

export class SqliteWebhookStore implements WebhookStore {
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  async putEndpoint(endpoint: WebhookEndpoint, secret: Parameters<WebhookStore['putEndpoint']>[1]) {
    await this.#database.write(() => {
      const before = this.#target(endpoint.id);
      const { createdAt } = before?.endpoint ?? endpoint;
      this.#database.run(
        `INSERT INTO webhook_endpoints (id, tenant, status, definition, secrets) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET
           tenant = excluded.tenant, definition = excluded.definition, secrets = excluded.secrets`,
        endpoint.id,
        endpoint.tenant ?? null,
        endpoint.status,
        definitionOf({ ...endpoint, createdAt }),
        JSON.stringify(secretsAfter(before?.secrets, secret)),
      );
    });
  }

  async endpoints({ tenant }: Parameters<WebhookStore['endpoints']>[0]) {
    return await this.#database.read(() =>
      this.#database
        .all(
          'SELECT * FROM webhook_endpoints WHERE tenant = ?1 OR ?1 IS NULL ORDER BY rowid',
          tenant ?? null,
        )
        .map(endpointOf),
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

  async enqueue(endpointId: string, event: WebhookEnvelope) {
    await this.#database.write(() => {
      const target = this.#target(endpointId);
      if (target === undefined) return;
      const tenant = target.endpoint.tenant ?? '';
      insertDelivery(this.#database, { tenant, conversationId: '', endpointId, event });
    });
  }

  /** Only reads while no wait is about to end. */
  async announceExpiring(options: Parameters<WebhookStore['announceExpiring']>[0]) {
    const due = await this.#database.read(() =>
      this.#database.get(
        'SELECT 1 FROM pending_calls WHERE warn_at_ms <= ? LIMIT 1',
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
          `SELECT * FROM webhook_endpoints WHERE status = 'active' AND EXISTS (
             SELECT 1 FROM webhook_deliveries AS due
             WHERE due.endpoint_id = webhook_endpoints.id AND due.status = 'pending' AND next_at_ms <= ?)
           ORDER BY id`,
          nowMs,
        )
        .map(targetOf),
    );
  }

  async claimDeliveries(options: Parameters<WebhookStore['claimDeliveries']>[0]) {
    const { endpointId, limit, nowMs, leaseMs } = options;
    const rows = await this.#database.write(() =>
      this.#database.all(
        `UPDATE webhook_deliveries SET attempts = attempts + 1, next_at_ms = ?, claim = lower(hex(randomblob(12)))
         WHERE position IN (
           SELECT position FROM webhook_deliveries AS due
           WHERE endpoint_id = ? AND status = 'pending' AND next_at_ms <= ? AND NOT EXISTS (
             SELECT 1 FROM webhook_deliveries AS earlier
             WHERE earlier.endpoint_id = due.endpoint_id AND earlier.tenant = due.tenant
               AND earlier.conversation_id = due.conversation_id AND earlier.status = 'pending'
               AND earlier.position < due.position)
             AND EXISTS (SELECT 1 FROM webhook_endpoints WHERE id = due.endpoint_id AND status = 'active')
           ORDER BY position LIMIT ?)
         RETURNING *`,
        nowMs + leaseMs,
        endpointId,
        nowMs,
        limit,
      ),
    );
    return rows
      .toSorted((left, right) => numberIn(left, 'position') - numberIn(right, 'position'))
      .map(claimedOf);
  }

  async settleDelivery(delivery: ClaimedDelivery, result: DeliveryResult, nowMs: number) {
    return await this.#database.write(() => {
      const columns = settledColumns(result, nowMs);
      const row = this.#database.get(
        `UPDATE webhook_deliveries SET status = ?, next_at_ms = ?, settled_at_ms = ?, last_status = ?, last_error = ?, claim = NULL
         WHERE endpoint_id = ? AND event_id = ? AND claim = ? RETURNING tenant, conversation_id`,
        columns.status,
        columns.nextAtMs,
        columns.settledAtMs,
        columns.lastStatus,
        columns.lastError,
        delivery.endpointId,
        delivery.id,
        delivery.claim,
      );
      if (row === undefined) return false;
      // Those behind it are not looked at before it is tried again.
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

  async resendDelivery(endpointId: string, deliveryId: string) {
    return await this.#database.write(
      () =>
        this.#database.run(
          `UPDATE webhook_deliveries SET status = 'pending', attempts = 0, next_at_ms = 0, settled_at_ms = NULL
           WHERE endpoint_id = ? AND event_id = ? AND status <> 'pending'`,
          endpointId,
          deliveryId,
        ) > 0,
    );
  }

  async pruneDeliveries(options: Parameters<WebhookStore['pruneDeliveries']>[0]) {
    return await this.#database.write(() =>
      this.#database.run(
        `DELETE FROM webhook_deliveries WHERE position IN (
           SELECT position FROM webhook_deliveries WHERE settled_at_ms IS NOT NULL
             AND ((status = 'delivered' AND settled_at_ms < ?) OR (status = 'dead' AND settled_at_ms < ?))
           LIMIT ?)`,
        options.deliveredBeforeMs,
        options.deadBeforeMs,
        options.limit,
      ),
    );
  }

  async deliveryCounts() {
    const row = await this.#database.read(() =>
      this.#database.get(
        `SELECT (SELECT count(*) FROM webhook_deliveries WHERE status = 'pending') AS pending,
           (SELECT count(*) FROM webhook_deliveries WHERE status = 'dead') AS dead`,
      ),
    );
    return { pending: numberIn(row ?? {}, 'pending'), dead: numberIn(row ?? {}, 'dead') };
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

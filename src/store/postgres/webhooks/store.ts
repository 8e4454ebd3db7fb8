/** Endpoints and deliveries of webhooks in the Postgres schema of the event log. */
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
import type { PostgresDatabase, Queries } from '../database/database.js';
import { Outbox } from './outbox.js';

/** Walks the due deliveries in the order of their index, so that a claim of many costs as much as one of few. */
export function claimQuery(database: Pick<PostgresDatabase, 'table'>): string {
  const deliveries = database.table('webhook_deliveries');
  const endpoints = database.table('webhook_endpoints');
  return `
    WITH due AS MATERIALIZED (
      SELECT position FROM ${deliveries} AS due
      WHERE endpoint_id = $2 AND status = 'pending' AND next_at_ms <= $3
        AND EXISTS (SELECT 1 FROM ${endpoints} WHERE id = $2 AND status = 'active')
        AND NOT EXISTS (
          SELECT 1 FROM ${deliveries} AS earlier
          WHERE earlier.endpoint_id = due.endpoint_id AND earlier.tenant = due.tenant
            AND earlier.conversation_id = due.conversation_id AND earlier.status = 'pending'
            AND earlier.position < due.position)
      ORDER BY next_at_ms, position LIMIT $4 FOR UPDATE SKIP LOCKED)
    UPDATE ${deliveries} AS claimed
    SET attempts = attempts + 1, next_at_ms = $1, claim = gen_random_uuid()::text
    FROM due WHERE claimed.position = due.position AND status = 'pending' AND next_at_ms <= $3
    RETURNING claimed.*`;
}

export class PostgresWebhookStore implements WebhookStore {
  readonly #database: PostgresDatabase;
  readonly #endpoints: string;
  readonly #deliveries: string;

  constructor(database: PostgresDatabase) {
    this.#database = database;
    this.#endpoints = database.table('webhook_endpoints');
    this.#deliveries = database.table('webhook_deliveries');
  }

  async putEndpoint(...[given, secret]: Parameters<WebhookStore['putEndpoint']>) {
    return await this.#database.write(async (queries) => {
      const before = await this.#target(queries, given.id, 'FOR UPDATE');
      const after = targetAfter(before, given, secret);
      if (after === undefined || after === before) return before;
      const { endpoint, secrets } = after;
      // A process that creates the same endpoint at the same time makes this one begin again (a conflict of keys).
      const verb =
        before === undefined
          ? `INSERT INTO ${this.#endpoints} (id, tenant, definition, secrets, status) VALUES ($1, $2, $3, $4, $5)`
          : `UPDATE ${this.#endpoints} SET tenant = $2, definition = $3, secrets = $4, status = $5 WHERE id = $1`;
      await queries.run(
        verb,
        endpoint.id,
        endpoint.tenant ?? null,
        definitionOf(endpoint),
        JSON.stringify(secrets),
        endpoint.status,
      );
      return after;
    });
  }

  async endpoints({ tenant }: Parameters<WebhookStore['endpoints']>[0]) {
    const rows = await this.#database.all(
      `SELECT * FROM ${this.#endpoints} WHERE tenant = $1 OR $1::text IS NULL`,
      tenant ?? null,
    );
    return oldestFirst(rows);
  }

  async endpoint(id: string) {
    return await this.#target(this.#database, id);
  }

  async setEndpointStatus(id: string, status: WebhookStatus) {
    return await this.#database.write((queries) => this.#setStatus(queries, id, status));
  }

  async removeEndpoint(id: string) {
    return await this.#database.write(async (queries) => {
      const removed = await queries.run(`DELETE FROM ${this.#endpoints} WHERE id = $1`, id);
      await queries.run(`DELETE FROM ${this.#deliveries} WHERE endpoint_id = $1`, id);
      return removed > 0;
    });
  }

  async removeEndpoints(tenant: string) {
    return await this.#database.write(async (queries) => {
      await queries.run(
        `DELETE FROM ${this.#deliveries} WHERE endpoint_id IN (SELECT id FROM ${this.#endpoints} WHERE tenant = $1)`,
        tenant,
      );
      return await queries.run(`DELETE FROM ${this.#endpoints} WHERE tenant = $1`, tenant);
    });
  }

  async enqueue(endpointId: string, event: WebhookEnvelope) {
    await this.#database.write(async (queries) => {
      const target = await this.#target(queries, endpointId);
      if (target === undefined) return;
      const key = { tenant: target.endpoint.tenant ?? '', conversationId: event.id };
      await new Outbox(this.#database, queries).insert(key, [{ endpointId, event }]);
    });
  }

  /** Only reads while no wait is about to end, or there is no endpoint. */
  async announceExpiring(options: Parameters<WebhookStore['announceExpiring']>[0]) {
    const due = await this.#database.get(
      `SELECT 1 FROM ${this.#database.table('pending_calls')}
       WHERE warn_at_ms <= $1 AND EXISTS (SELECT 1 FROM ${this.#endpoints}) LIMIT 1`,
      options.nowMs,
    );
    if (due === undefined) return 0;
    return await this.#database.write((queries) =>
      new Outbox(this.#database, queries).announceExpiring(options),
    );
  }

  async dueTargets(nowMs: number) {
    const rows = await this.#database.all(
      `SELECT endpoint.* FROM ${this.#endpoints} AS endpoint CROSS JOIN LATERAL (
         SELECT next_at_ms, position FROM ${this.#deliveries} AS due
         WHERE due.endpoint_id = endpoint.id AND due.status = 'pending' AND due.next_at_ms <= $1
         ORDER BY next_at_ms, position LIMIT 1) AS oldest
       WHERE endpoint.status = 'active' ORDER BY oldest.next_at_ms, oldest.position`,
      nowMs,
    );
    return rows.map(targetOf);
  }

  async claimDeliveries(options: Parameters<WebhookStore['claimDeliveries']>[0]) {
    const { endpointId, limit, nowMs, leaseMs } = options;
    const sql = claimQuery(this.#database);
    const rows = await this.#database.all(sql, nowMs + leaseMs, endpointId, nowMs, limit);
    return rows
      .toSorted((left, right) => numberIn(left, 'position') - numberIn(right, 'position'))
      .map(claimedOf);
  }

  async settleDelivery(delivery: ClaimedDelivery, result: DeliveryResult, nowMs: number) {
    return await this.#database.write(async (queries) => {
      const columns = settledColumns(result, nowMs);
      const row = await queries.get(
        `UPDATE ${this.#deliveries} SET status = $1, next_at_ms = $2, since_ms = coalesce($3, since_ms),
           last_status = $4, last_error = $5, claim = NULL
         WHERE endpoint_id = $6 AND event_id = $7 AND claim = $8 RETURNING tenant, conversation_id`,
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
        await queries.run(
          `UPDATE ${this.#deliveries} SET next_at_ms = $1
           WHERE endpoint_id = $2 AND tenant = $3 AND conversation_id = $4 AND status = 'pending' AND next_at_ms < $1`,
          columns.nextAtMs,
          delivery.endpointId,
          textIn(row, 'tenant'),
          textIn(row, 'conversation_id'),
        );
      if (result.type === 'gone') await this.#setStatus(queries, delivery.endpointId, 'disabled');
      return true;
    });
  }

  async deliveries(options: Parameters<WebhookStore['deliveries']>[0]) {
    const { endpointId, status, cursor } = options;
    const limit = listLimit(options);
    const rows = await this.#database.all(
      `SELECT * FROM ${this.#deliveries} WHERE endpoint_id = $1 AND (status = $2 OR $2::text IS NULL)
         AND (position < $3 OR $3::bigint IS NULL) ORDER BY position DESC LIMIT $4`,
      endpointId,
      status ?? null,
      cursor === undefined ? null : positionOf(cursor),
      limit + 1,
    );
    return deliveryPage(rows, limit);
  }

  async resendDelivery(endpointId: string, deliveryId: string, nowMs: number) {
    const changed = await this.#database.run(
      `UPDATE ${this.#deliveries} SET status = 'pending', attempts = 0, next_at_ms = 0, since_ms = $3,
         position = DEFAULT
       WHERE endpoint_id = $1 AND event_id = $2 AND status <> 'pending'`,
      endpointId,
      deliveryId,
      nowMs,
    );
    return changed > 0;
  }

  async pruneDeliveries(options: Parameters<WebhookStore['pruneDeliveries']>[0]) {
    const { deliveredBeforeMs, deadBeforeMs, pendingBeforeMs, limit } = options;
    const old = await this.#database.run(
      `DELETE FROM ${this.#deliveries} WHERE position IN (
         SELECT position FROM ${this.#deliveries}
         WHERE (status = 'delivered' AND since_ms < $1) OR (status = 'dead' AND since_ms < $2)
           OR (status = 'pending' AND since_ms < $3)
         LIMIT $4)`,
      deliveredBeforeMs,
      deadBeforeMs,
      pendingBeforeMs,
      limit,
    );
    return old + (await this.#pruneRemoved(limit));
  }

  /**
   * An append that reads the endpoints while one is removed may write deliveries of it behind the removal. Looks at each
   * endpoint that has deliveries, not at each delivery.
   */
  async #pruneRemoved(limit: number): Promise<number> {
    return await this.#database.run(
      `WITH RECURSIVE named AS (
         SELECT min(endpoint_id) AS id FROM ${this.#deliveries}
         UNION ALL
         SELECT (SELECT min(endpoint_id) FROM ${this.#deliveries} WHERE endpoint_id > named.id) FROM named
         WHERE named.id IS NOT NULL)
       DELETE FROM ${this.#deliveries} WHERE position IN (
         SELECT position FROM ${this.#deliveries}
         WHERE endpoint_id IN (SELECT id FROM named WHERE id NOT IN (SELECT id FROM ${this.#endpoints}))
         LIMIT $1)`,
      limit,
    );
  }

  async deliveryCounts() {
    return countsOf(await this.#database.get(countsQuery(this.#deliveries)));
  }

  async #target(
    queries: Pick<Queries, 'get'>,
    id: string,
    lock: '' | 'FOR UPDATE' = '',
  ): Promise<WebhookTarget | undefined> {
    const row = await queries.get(`SELECT * FROM ${this.#endpoints} WHERE id = $1 ${lock}`, id);
    return row === undefined ? undefined : targetOf(row);
  }

  async #setStatus(queries: Queries, id: string, status: WebhookStatus): Promise<boolean> {
    const changed = await queries.run(
      `UPDATE ${this.#endpoints} SET status = $1 WHERE id = $2`,
      status,
      id,
    );
    if (status === 'active')
      await queries.run(
        `UPDATE ${this.#deliveries} SET next_at_ms = 0 WHERE endpoint_id = $1 AND status = 'pending' AND claim IS NULL`,
        id,
      );
    return changed > 0;
  }
}

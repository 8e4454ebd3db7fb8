/** Lists and counts of the Postgres event log, and the reads of the sweep. */

import type { ConversationId, ConversationKey } from '../../../protocol/values/ids.js';
import {
  type Dialect,
  listedOf,
  listedQuery,
  listPage,
  listQuery,
} from '../../plans/list-query.js';
import { openCallOf, unclaimedQuery } from '../../plans/open-calls.js';
import {
  type ListRequest,
  NO_CONVERSATIONS,
  requestOf,
  withAttention,
} from '../../plans/presence.js';
import { changesOf, closedHeadOf, keyOf, numberIn, openHeadOf } from '../../plans/rows.js';
import { countQueries, countsOf } from '../../plans/service/counts.js';
import {
  countQuery,
  itemOf,
  waitingCountsOf,
  waitingPage,
  worklistQuery,
} from '../../plans/worklist-query.js';
import type { ConversationLists, ListOptions } from '../../ports/lists.js';
import type { OpenCalls, OpenCallsRead } from '../../ports/open-calls.js';
import type { LogStatistics } from '../../ports/service/counts.js';
import type { WorklistRequest, Worklists } from '../../ports/worklist.js';
import type { PostgresDatabase } from '../database/database.js';
import { NOW_MS } from '../database/database.js';
import { readGoneAgents } from './presence.js';

const OPEN_HEAD = 'tenant, conversation_id, run_id, history_length, changed_at_ms';

function each(names: string): string {
  return `ARRAY(SELECT jsonb_array_elements_text(${names}::jsonb))`;
}

function askedBy(call: string, ids: string): string {
  return `${call}.requesters ?| ${each(ids)}`;
}

export function postgresDialect(database: Pick<PostgresDatabase, 'table'>): Dialect {
  return {
    conversations: database.table('conversations'),
    pendingCalls: database.table('pending_calls'),
    troubles: database.table('troubles'),
    byKey: '',
    parameter: (nth) => `$${nth}`,
    admits: (call, { id, roles, verified }) => {
      const column = `${call}.audience`;
      const has = (list: string, names: string): string =>
        `coalesce(rule.json -> '${list}', '[]') ?| ${each(names)}`;
      const also = `jsonb_array_elements(coalesce(${column} -> 'also', '[]'))`;
      return `(${column} IS NULL OR NOT EXISTS (
        SELECT 1 FROM (SELECT ${column} UNION ALL SELECT ${also}) AS rule (json)
        WHERE ((rule.json ? 'users' OR rule.json ? 'roles') AND NOT ${has('users', id)} AND NOT ${has('roles', roles)})
          OR ${has('exclude', id)} OR (rule.json ? 'requireVerified' AND ${verified}::int = 0)))
        AND NOT (${call}.excludes_requester AND ${askedBy(call, id)})`;
    },
    // As an array: a sub-query would make the database read all conversations of the tenant.
    isOneOf: (column, texts) => `${column} = ANY (${each(texts)})`,
    askedBy,
  };
}

/** Parameters: the tenants, the first time, and the most rows of each kind of a tenant. */
export function changesQuery(database: Pick<PostgresDatabase, 'table'>): string {
  const of = (time: string, from: string): string =>
    `WHERE ${from}.tenant = named.tenant AND ${from}.${time} >= $2::bigint
     ORDER BY ${from}.${time}, ${from}.conversation_id LIMIT $3`;
  return `SELECT found.* FROM unnest($1::text[]) AS named (tenant) CROSS JOIN LATERAL (
      (SELECT tenant, conversation_id, changed_at_ms, generation, last_seq, 0 AS deleted
       FROM ${database.table('conversations')} AS one ${of('changed_at_ms', 'one')})
      UNION ALL
      (SELECT tenant, conversation_id, requested_at_ms, 0, 0, 1
       FROM ${database.table('deletions')} AS gone ${of('requested_at_ms', 'gone')})) AS found`;
}

export class PostgresLists implements ConversationLists, LogStatistics, OpenCalls, Worklists {
  readonly #database: PostgresDatabase;
  readonly #conversations: string;

  constructor(database: PostgresDatabase) {
    this.#database = database;
    this.#conversations = database.table('conversations');
  }

  async list(options: ListOptions = {}) {
    const gone = await readGoneAgents(this.#database);
    const request = requestOf(options, gone);
    if (request === undefined) return NO_CONVERSATIONS;
    return withAttention(await this.#list(request), gone);
  }

  async counts() {
    const { waits, troubles } = countQueries(postgresDialect(this.#database), NOW_MS);
    return countsOf(await this.#database.all(waits), await this.#database.all(troubles));
  }

  async unclaimedCalls(options: OpenCallsRead) {
    const { sql, values } = unclaimedQuery(options, postgresDialect(this.#database));
    return (await this.#database.all(sql, ...values)).map(openCallOf);
  }

  async #list(options: ListRequest) {
    const { sql, values } = listQuery(options, postgresDialect(this.#database));
    const rows = await this.#database.all(sql, ...values);
    return listPage(options, rows);
  }

  async waiting(request: WorklistRequest) {
    const { sql, values } = worklistQuery(request, postgresDialect(this.#database));
    return waitingPage(request, await this.#database.all(sql, ...values));
  }

  async waitingIn(tenant: string, conversationIds: readonly ConversationId[]) {
    const rows = await this.#database.all(
      `SELECT item FROM ${this.#database.table('pending_calls')}
       WHERE tenant = $1 AND conversation_id = ANY ($2::text[])`,
      tenant,
      conversationIds,
    );
    return rows.map(itemOf);
  }

  async countWaiting(request: WorklistRequest) {
    const { sql, values } = countQuery(request, postgresDialect(this.#database));
    return waitingCountsOf(await this.#database.all(sql, ...values));
  }

  async openHeads({ limit, after }: Parameters<ConversationLists['openHeads']>[0]) {
    const rows = await this.#database.all(
      `SELECT ${OPEN_HEAD} FROM ${this.#conversations}
       WHERE status <> 'closed' AND (tenant, conversation_id) > ($1, $2)
       ORDER BY tenant, conversation_id LIMIT $3`,
      after?.tenant ?? '',
      after?.conversationId ?? '',
      limit,
    );
    return rows.map(openHeadOf);
  }

  async recentHeads({ limit, withinMs, after }: Parameters<ConversationLists['recentHeads']>[0]) {
    const rows = await this.#database.all(
      `SELECT ${OPEN_HEAD} FROM ${this.#conversations}
       WHERE status <> 'closed' AND changed_at_ms >= ${NOW_MS} - $1::bigint
         AND (changed_at_ms, tenant, conversation_id) > ($2::bigint, $3, $4)
       ORDER BY changed_at_ms, tenant, conversation_id LIMIT $5`,
      withinMs,
      after?.changedAtMs ?? 0,
      after?.tenant ?? '',
      after?.conversationId ?? '',
      limit,
    );
    return rows.map(openHeadOf);
  }

  async changes({
    tenants,
    sinceMs,
    lookBackMs,
    limit,
  }: Parameters<ConversationLists['changes']>[0]) {
    const clock = await this.#database.get(`SELECT ${NOW_MS} AS now_ms`);
    const nowMs = numberIn(clock ?? {}, 'now_ms');
    const fromMs = Math.min(sinceMs ?? nowMs, nowMs) - lookBackMs;
    const sql = changesQuery(this.#database);
    const rows = await this.#database.all(sql, tenants, fromMs, limit + 1);
    return changesOf(rows, { nowMs, limit });
  }

  async listedIn(tenant: string, ids: readonly ConversationId[]) {
    const { sql, values } = listedQuery({ tenant, ids }, postgresDialect(this.#database));
    const [gone, rows] = await Promise.all([
      readGoneAgents(this.#database),
      this.#database.all(sql, ...values),
    ]);
    return listedOf(rows, gone);
  }

  async notOpen(keys: readonly ConversationKey[]) {
    const rows = await this.#database.all(
      `SELECT key.tenant, key.conversation_id FROM unnest($1::text[], $2::text[]) AS key (tenant, conversation_id)
       WHERE NOT EXISTS (SELECT 1 FROM ${this.#conversations} AS known WHERE known.tenant = key.tenant
         AND known.conversation_id = key.conversation_id AND known.status <> 'closed')`,
      keys.map(({ tenant }) => tenant),
      keys.map(({ conversationId }) => conversationId),
    );
    return rows.map(keyOf);
  }

  async unknown(keys: readonly ConversationKey[]) {
    const isIn = (table: string): string =>
      `EXISTS (SELECT 1 FROM ${this.#database.table(table)} AS known WHERE known.tenant = key.tenant
         AND known.conversation_id = key.conversation_id)`;
    const rows = await this.#database.all(
      `SELECT key.tenant, key.conversation_id FROM unnest($1::text[], $2::text[]) AS key (tenant, conversation_id)
       WHERE NOT ${isIn('conversations')} AND NOT ${isIn('deletions')}`,
      keys.map(({ tenant }) => tenant),
      keys.map(({ conversationId }) => conversationId),
    );
    return rows.map(keyOf);
  }

  async closedBefore({
    closedBeforeMs,
    limit,
    after,
  }: Parameters<ConversationLists['closedBefore']>[0]) {
    const rows = await this.#database.all(
      `SELECT tenant, conversation_id, generation, last_seq, run_id, closed_at_ms FROM ${this.#conversations}
       WHERE closed_at_ms < $1 AND (closed_at_ms, tenant, conversation_id) > ($2::bigint, $3, $4)
       ORDER BY closed_at_ms, tenant, conversation_id LIMIT $5`,
      closedBeforeMs,
      after?.closedAtMs ?? 0,
      after?.tenant ?? '',
      after?.conversationId ?? '',
      limit,
    );
    return rows.map(closedHeadOf);
  }
}

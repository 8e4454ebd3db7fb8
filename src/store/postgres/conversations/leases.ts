/** Rows of leases in the Postgres event log, by the clock of the database. */

import type { ConversationSnapshot } from '../../../protocol/conversation/conversation.js';
import { LATE_TOLERANCE_MS } from '../../../protocol/limits/limits.js';
import type { ConversationKey } from '../../../protocol/values/ids.js';
import { leasesAfter } from '../../plans/leases.js';
import { keyOf, numberIn, type Row, textIn } from '../../plans/rows.js';
import type { CallLease, CallLeases } from '../../ports/leases.js';
import type { PostgresDatabase, Queries } from '../database/database.js';
import { NOW_MS } from '../database/database.js';

/** Part of an append, inside its transaction. */
export async function followClaims(
  table: string,
  queries: Queries,
  states: {
    readonly before: ConversationSnapshot | undefined;
    readonly after: ConversationSnapshot;
  },
): Promise<void> {
  const leases = leasesAfter(states.before, states.after);
  if (leases === undefined) return;
  const { tenant, conversationId } = states.after;
  await queries.run(
    `DELETE FROM ${table} WHERE tenant = $1 AND conversation_id = $2 AND NOT claim_id = ANY ($3::text[])`,
    tenant,
    conversationId,
    leases.map(({ claimId }) => claimId),
  );
  for (const lease of leases)
    await queries.run(
      `INSERT INTO ${table} AS held
         (tenant, conversation_id, tool_call_id, claim_id, claim_seq, holder, lease_ms, lease_until_ms, lapsed)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, false)
       ON CONFLICT (tenant, conversation_id, tool_call_id) DO UPDATE SET
         claim_id = excluded.claim_id, claim_seq = excluded.claim_seq, holder = excluded.holder,
         lease_ms = excluded.lease_ms, lapsed = false,
         lease_until_ms = CASE WHEN held.claim_id = excluded.claim_id
           THEN greatest(held.lease_until_ms, excluded.lease_until_ms) ELSE excluded.lease_until_ms END
       WHERE held.claim_id <> excluded.claim_id OR held.claim_seq < excluded.claim_seq`,
      tenant,
      conversationId,
      lease.toolCallId,
      lease.claimId,
      lease.seq,
      holderText(lease.holder),
      lease.leaseMs,
      Date.parse(lease.leaseUntil),
    );
}

export class PostgresCallLeases implements CallLeases {
  readonly #database: PostgresDatabase;
  readonly #table: string;

  constructor(database: PostgresDatabase) {
    this.#database = database;
    this.#table = database.table('call_leases');
  }

  async callLeases(key: ConversationKey) {
    const rows = await this.#database.all(
      `SELECT * FROM ${this.#table} WHERE tenant = $1 AND conversation_id = $2 ORDER BY tool_call_id`,
      key.tenant,
      key.conversationId,
    );
    return rows.map(leaseOf);
  }

  async renewCallLease(renewal: Parameters<CallLeases['renewCallLease']>[0]) {
    const { call, claimId, holder, leaseMs } = renewal;
    const row = await this.#database.get(
      `UPDATE ${this.#table} SET lease_ms = coalesce($1::bigint, lease_ms),
         lease_until_ms = ${NOW_MS} + coalesce($1::bigint, lease_ms)
       WHERE tenant = $2 AND conversation_id = $3 AND tool_call_id = $4 AND claim_id = $5 AND holder = $6 AND NOT lapsed
       RETURNING *`,
      leaseMs ?? null,
      call.tenant,
      call.conversationId,
      call.toolCallId,
      claimId,
      holderText(holder),
    );
    return row === undefined ? undefined : leaseOf(row);
  }

  async lapsedCallLeases(options: Parameters<CallLeases['lapsedCallLeases']>[0]) {
    const { limit, after } = options;
    const rows = await this.#database.all(
      `UPDATE ${this.#table} SET lapsed = true
       WHERE lease_until_ms <= ${NOW_MS} - ${LATE_TOLERANCE_MS} AND (tenant, conversation_id, tool_call_id) IN (
         SELECT tenant, conversation_id, tool_call_id FROM ${this.#table}
         WHERE lease_until_ms <= ${NOW_MS} - ${LATE_TOLERANCE_MS}
           AND (tenant, conversation_id, tool_call_id) > ($1, $2, $3)
         ORDER BY tenant, conversation_id, tool_call_id LIMIT $4)
       RETURNING *`,
      after?.tenant ?? '',
      after?.conversationId ?? '',
      after?.toolCallId ?? '',
      limit,
    );
    return rows.map(leaseOf).sort(byKey);
  }

  async dropCallLease(lease: CallLease) {
    const { tenant, conversationId, toolCallId, claimId, seq, leaseUntil } = lease;
    await this.#database.run(
      `DELETE FROM ${this.#table} WHERE tenant = $1 AND conversation_id = $2 AND tool_call_id = $3
       AND claim_id = $4 AND claim_seq = $5 AND lease_until_ms = $6`,
      tenant,
      conversationId,
      toolCallId,
      claimId,
      seq,
      Date.parse(leaseUntil),
    );
  }
}

/** The holder as JSON, because an actor's id may contain characters that Postgres cannot hold as text. */
function holderText(holder: string): string {
  return JSON.stringify(holder);
}

function byKey(left: CallLease, right: CallLease): number {
  return orderOf(left) < orderOf(right) ? -1 : 1;
}

function orderOf({ tenant, conversationId, toolCallId }: CallLease): string {
  return [tenant, conversationId, toolCallId].join('\0');
}

function leaseOf(row: Row): CallLease {
  return {
    ...keyOf(row),
    toolCallId: textIn(row, 'tool_call_id'),
    claimId: textIn(row, 'claim_id'),
    seq: numberIn(row, 'claim_seq'),
    holder: JSON.parse(textIn(row, 'holder')) as string,
    leaseMs: numberIn(row, 'lease_ms'),
    leaseUntil: new Date(numberIn(row, 'lease_until_ms')).toISOString(),
  };
}

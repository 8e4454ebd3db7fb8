/** Rows of leases in the sqlite event log: of claims, and of duties of one process. Synchronous; callers wrap them. */

import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import { LATE_TOLERANCE_MS } from '../../protocol/limits/limits.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { heldLeaseOf, leasesAfter } from '../plans/leases.js';
import { keyOf, numberIn, type Row, textIn } from '../plans/rows.js';
import type { CallLease, CallLeases } from '../ports/leases.js';
import type { HeldLease, WantedLease } from '../ports/log.js';
import type { SqliteDatabase } from './database/database.js';

/** Part of an append, inside its transaction. */
export function followClaims(
  database: SqliteDatabase,
  before: ConversationSnapshot | undefined,
  after: ConversationSnapshot,
): void {
  const leases = leasesAfter(before, after);
  if (leases === undefined) return;
  const { tenant, conversationId } = after;
  database.run(
    `DELETE FROM call_leases WHERE tenant = ? AND conversation_id = ?
     AND claim_id NOT IN (SELECT value FROM json_each(?))`,
    tenant,
    conversationId,
    JSON.stringify(leases.map(({ claimId }) => claimId)),
  );
  for (const lease of leases)
    database.run(
      `INSERT INTO call_leases
         (tenant, conversation_id, tool_call_id, claim_id, claim_seq, holder, lease_ms, lease_until_ms, lapsed)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)
       ON CONFLICT (tenant, conversation_id, tool_call_id) DO UPDATE SET
         claim_id = excluded.claim_id, claim_seq = excluded.claim_seq, holder = excluded.holder,
         lease_ms = excluded.lease_ms, lapsed = 0,
         lease_until_ms = CASE WHEN call_leases.claim_id = excluded.claim_id
           THEN max(call_leases.lease_until_ms, excluded.lease_until_ms) ELSE excluded.lease_until_ms END
       WHERE call_leases.claim_id <> excluded.claim_id OR call_leases.claim_seq < excluded.claim_seq`,
      tenant,
      conversationId,
      lease.toolCallId,
      lease.claimId,
      lease.seq,
      lease.holder,
      lease.leaseMs,
      Date.parse(lease.leaseUntil),
    );
}

export function readLeases(database: SqliteDatabase, key: ConversationKey): readonly CallLease[] {
  return database
    .all(
      'SELECT * FROM call_leases WHERE tenant = ? AND conversation_id = ? ORDER BY tool_call_id',
      key.tenant,
      key.conversationId,
    )
    .map(leaseOf);
}

/** To be called inside a write transaction. */
export function renewLease(
  database: SqliteDatabase,
  { call, claimId, holder, leaseMs }: Parameters<CallLeases['renewCallLease']>[0],
): CallLease | undefined {
  const row = database.get(
    `UPDATE call_leases SET lease_ms = coalesce(?, lease_ms), lease_until_ms = ? + coalesce(?, lease_ms)
     WHERE tenant = ? AND conversation_id = ? AND tool_call_id = ? AND claim_id = ? AND holder = ? AND lapsed = 0
     RETURNING *`,
    leaseMs ?? null,
    Date.now(),
    leaseMs ?? null,
    call.tenant,
    call.conversationId,
    call.toolCallId,
    claimId,
    holder,
  );
  return row === undefined ? undefined : leaseOf(row);
}

/** Only reads: while no lease lapses, no write is needed. */
export function readLapsed(
  database: SqliteDatabase,
  { limit, after }: Parameters<CallLeases['lapsedCallLeases']>[0],
): readonly CallLease[] {
  return database
    .all(
      `SELECT * FROM call_leases WHERE lease_until_ms <= ? AND (tenant, conversation_id, tool_call_id) > (?, ?, ?)
       ORDER BY tenant, conversation_id, tool_call_id LIMIT ?`,
      Date.now() - LATE_TOLERANCE_MS,
      after?.tenant ?? '',
      after?.conversationId ?? '',
      after?.toolCallId ?? '',
      limit,
    )
    .map(leaseOf);
}

/** False when the lease was renewed meanwhile. To be called inside a write transaction. */
export function markLapsed(database: SqliteDatabase, lease: CallLease): boolean {
  return database.run(`UPDATE call_leases SET lapsed = 1 WHERE ${SAME}`, ...sameAs(lease)) > 0;
}

/** To be called inside a write transaction. */
export function dropLease(database: SqliteDatabase, lease: CallLease): void {
  database.run(`DELETE FROM call_leases WHERE ${SAME}`, ...sameAs(lease));
}

const SAME =
  'tenant = ? AND conversation_id = ? AND tool_call_id = ? AND claim_id = ? AND claim_seq = ? AND lease_until_ms = ?';

function sameAs(lease: CallLease): readonly [string, string, string, string, number, number] {
  const { tenant, conversationId, toolCallId, claimId, seq, leaseUntil } = lease;
  return [tenant, conversationId, toolCallId, claimId, seq, Date.parse(leaseUntil)];
}

function leaseOf(row: Row): CallLease {
  return {
    ...keyOf(row),
    toolCallId: textIn(row, 'tool_call_id'),
    claimId: textIn(row, 'claim_id'),
    seq: numberIn(row, 'claim_seq'),
    holder: textIn(row, 'holder'),
    leaseMs: numberIn(row, 'lease_ms'),
    leaseUntil: new Date(numberIn(row, 'lease_until_ms')).toISOString(),
  };
}

/** To be called inside a write transaction. */
export function acquireLease(
  database: SqliteDatabase,
  { name, holder, ttlMs, note }: WantedLease,
): boolean {
  const nowMs = Date.now();
  const changed = database.run(
    `INSERT INTO leases (name, holder, expires_at_ms, note) VALUES (?, ?, ?, ?)
     ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at_ms = excluded.expires_at_ms,
       note = coalesce(excluded.note, leases.note)
     WHERE leases.holder = excluded.holder OR leases.expires_at_ms <= ?`,
    name,
    holder,
    nowMs + ttlMs,
    note ?? null,
    nowMs,
  );
  return changed > 0;
}

export function readHeldLease(database: SqliteDatabase, name: string): HeldLease | undefined {
  const row = database.get('SELECT holder, expires_at_ms, note FROM leases WHERE name = ?', name);
  if (row === undefined) return undefined;
  return heldLeaseOf(row, numberIn(row, 'expires_at_ms') - Date.now());
}

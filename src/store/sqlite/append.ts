/** Appends of the sqlite event log: carries out an `AppendPlan` inside one transaction. */

import type { CanonicalEvent } from '../../protocol/log/events.js';
import { turnIdOf } from '../../protocol/log/events.js';
import {
  closedAtMs,
  contentHash,
  extendedSnapshot,
  foldSnapshot,
  headAfter,
  planAppend,
  presentGeneration,
  rewrittenMarker,
} from '../plans/append.js';
import { outboxOf, outboxOfRewrite } from '../plans/outbox.js';
import { eventOf, textIn } from '../plans/rows.js';
import type { AppendBatch, AppendResult } from '../ports/log.js';
import type { LogHead } from '../ports/log-head.js';
import type { SqliteDatabase } from './database/database.js';
import { readDeletion } from './deletions.js';
import { followClaims } from './leases.js';
import { followPending } from './pending.js';
import { eventsThrough, readHead } from './read.js';
import { storeOutbox } from './webhooks/outbox.js';

/** To be called inside a write transaction. */
export function appendBatch(database: SqliteDatabase, batch: AppendBatch): AppendResult {
  const deletion = readDeletion(database, batch);
  if (deletion?.runIds.includes(batch.runId) === true) return { outcome: 'deleted' };
  const head = readHead(database, batch);
  const plan = planAppend(batch, head, (seq) => hashAt(database, batch, { seq, head }));
  if (plan.type === 'gap') return { outcome: 'gap', lastSeq: plan.lastSeq };
  const generation = presentGeneration(head, deletion);
  if (plan.type === 'extend') return extend(database, batch, { head, generation, ...plan });
  if (head === undefined) throw new TypeError('only a stored log can be rewritten');
  return rewrite(database, batch, { head, ...plan });
}

function extend(
  database: SqliteDatabase,
  batch: AppendBatch,
  plan: {
    readonly head: LogHead | undefined;
    readonly generation: number;
    readonly events: readonly CanonicalEvent[];
    readonly confirms: boolean;
  },
): AppendResult {
  const { head, generation, events, confirms } = plan;
  if (head !== undefined && events.length === 0 && !confirms)
    return { outcome: 'appended', head, added: 0 };
  const snapshot = extendedSnapshot(batch, { from: head?.snapshot, events, generation });
  insertEvents(database, { ...batch, generation, events });
  const next = headAfter(batch, { before: head, generation, snapshot });
  if (head !== undefined && isListedAs(head, next)) moveHead(database, next);
  else putHead(database, next);
  if (batch.copied === true) return { outcome: 'appended', head: next, added: events.length };
  followClaims(database, head?.snapshot, snapshot);
  followPending(database, { before: head?.snapshot, after: snapshot, added: events });
  storeOutbox(database, batch, () => outboxOf(head?.snapshot, events, generation));
  return { outcome: 'appended', head: next, added: events.length };
}

function rewrite(
  database: SqliteDatabase,
  batch: AppendBatch,
  plan: {
    readonly head: LogHead;
    readonly keepThrough: number;
    readonly events: readonly CanonicalEvent[];
  },
): AppendResult {
  const { head, keepThrough, events } = plan;
  const { tenant, conversationId } = batch;
  const generation = head.generation + 1;
  const marker = rewrittenMarker(head.generation, keepThrough + 1);
  insertEvents(database, { ...batch, generation, events: [marker] });
  database.run(
    `INSERT INTO events (tenant, conversation_id, generation, seq, type, turn_id, run_id, hash, event, copied)
     SELECT tenant, conversation_id, ?, seq, type, turn_id, run_id, hash, event, copied FROM events
     WHERE tenant = ? AND conversation_id = ? AND generation = ? AND seq BETWEEN 1 AND ?`,
    generation,
    tenant,
    conversationId,
    head.generation,
    keepThrough,
  );
  insertEvents(database, { ...batch, generation, events });
  const kept = [...eventsThrough(database, { tenant, conversationId, generation }, keepThrough)];
  const folded = keepThrough === 0 ? undefined : foldSnapshot(undefined, kept, generation);
  const snapshot = foldSnapshot(folded, events, generation);
  const next = headAfter(batch, { before: undefined, generation, snapshot });
  putHead(database, next);
  followClaims(database, head.snapshot, snapshot);
  followPending(database, {
    before: head.snapshot,
    after: snapshot,
    added: [...kept, ...events],
    isRewritten: true,
  });
  storeOutbox(database, batch, () => {
    const replaced = eventsAfter(database, head, keepThrough);
    const rewritten = { kept: folded, replaced, replacedEnd: head.snapshot };
    return outboxOfRewrite({ ...rewritten, added: events, end: snapshot, generation });
  });
  return { outcome: 'rewritten', head: next, added: events.length };
}

function eventsAfter(
  database: SqliteDatabase,
  { tenant, conversationId, generation }: LogHead,
  seq: number,
): readonly CanonicalEvent[] {
  const rows = database.all(
    `SELECT event FROM events WHERE tenant = ? AND conversation_id = ? AND generation = ? AND seq > ? ORDER BY seq`,
    tenant,
    conversationId,
    generation,
    seq,
  );
  return rows.map(eventOf);
}

function hashAt(
  database: SqliteDatabase,
  batch: AppendBatch,
  at: { readonly seq: number; readonly head: LogHead | undefined },
): string | undefined {
  const row = database.get(
    'SELECT hash FROM events WHERE tenant = ? AND conversation_id = ? AND generation = ? AND seq = ?',
    batch.tenant,
    batch.conversationId,
    at.head?.generation ?? 0,
    at.seq,
  );
  return row === undefined ? undefined : textIn(row, 'hash');
}

function insertEvents(
  database: SqliteDatabase,
  rows: AppendBatch & { readonly generation: number },
): void {
  for (const event of rows.events) {
    database.run(
      `INSERT INTO events (tenant, conversation_id, generation, seq, type, turn_id, run_id, hash, event, copied)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      rows.tenant,
      rows.conversationId,
      rows.generation,
      event.seq,
      event.type,
      turnIdOf(event) ?? null,
      rows.runId,
      contentHash(event),
      JSON.stringify(event),
      rows.copied === true ? 1 : 0,
    );
  }
}

/** Whether agent, status and closing time are unchanged: then lists and indexes differ only in the time of change. */
function isListedAs({ snapshot: before }: LogHead, { snapshot: after }: LogHead): boolean {
  return (
    before.agent === after.agent &&
    before.status === after.status &&
    closedAtMs(before) === closedAtMs(after)
  );
}

/**
 * Serves most appends. Sets no indexed column that is unchanged, because sqlite rewrites the index entries of every
 * column that is set.
 */
function moveHead(database: SqliteDatabase, head: LogHead): void {
  database.run(
    `UPDATE conversations SET
       generation = ?, last_seq = ?, run_id = ?, history_length = ?, snapshot = ?, changed_at_ms = ?
     WHERE tenant = ? AND conversation_id = ?`,
    head.generation,
    head.lastSeq,
    head.runId,
    head.historyLength,
    JSON.stringify(head.snapshot),
    Date.now(),
    head.tenant,
    head.conversationId,
  );
}

function putHead(database: SqliteDatabase, head: LogHead): void {
  database.run(
    `INSERT INTO conversations
       (tenant, conversation_id, generation, last_seq, run_id, history_length, agent, status, snapshot, changed_at_ms, closed_at_ms, root)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (tenant, conversation_id) DO UPDATE SET
       generation = excluded.generation, last_seq = excluded.last_seq, run_id = excluded.run_id,
       history_length = excluded.history_length, agent = excluded.agent, status = excluded.status,
       snapshot = excluded.snapshot, changed_at_ms = excluded.changed_at_ms, closed_at_ms = excluded.closed_at_ms,
       root = excluded.root`,
    head.tenant,
    head.conversationId,
    head.generation,
    head.lastSeq,
    head.runId,
    head.historyLength,
    head.snapshot.agent,
    head.snapshot.status,
    JSON.stringify(head.snapshot),
    Date.now(),
    closedAtMs(head.snapshot) ?? null,
    head.snapshot.parent?.root ?? null,
  );
}

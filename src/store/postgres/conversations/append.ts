/** Appends of the Postgres event log: carries out an `AppendPlan` inside one transaction. */

import type { CanonicalEvent } from '../../../protocol/log/events.js';
import { turnIdOf } from '../../../protocol/log/events.js';
import { type ConversationKey, conversationKey } from '../../../protocol/values/ids.js';
import {
  closedAtMs,
  contentHash,
  extendedSnapshot,
  foldSnapshot,
  headAfter,
  planAppend,
  presentGeneration,
  rewrittenMarker,
} from '../../plans/append.js';
import { outboxOf, outboxOfRewrite } from '../../plans/outbox.js';
import { deletionOf, eventOf, headOf, numberIn, textIn } from '../../plans/rows.js';
import type { Deletion } from '../../ports/deletions.js';
import type { AppendBatch, AppendResult } from '../../ports/log.js';
import type { LogHead } from '../../ports/log-head.js';
import type { PostgresDatabase, Queries } from '../database/database.js';
import { NOW_MS } from '../database/database.js';
import { Outbox } from '../webhooks/outbox.js';
import { followClaims } from './leases.js';
import { followPending } from './pending.js';

/** To be called inside a transaction. */
export async function appendBatch(
  database: PostgresDatabase,
  queries: Queries,
  batch: AppendBatch,
): Promise<AppendResult> {
  const head = await lockedHead(database, queries, batch);
  const append = new Append(database, queries, batch);
  const deletion = await lockedDeletion(database, queries, batch);
  if (deletion?.runIds.includes(batch.runId) === true) return { outcome: 'deleted' };
  const hashes = await append.storedHashes(head);
  const plan = planAppend(batch, head, (seq) => hashes.get(seq));
  if (plan.type === 'gap') return { outcome: 'gap', lastSeq: plan.lastSeq };
  const generation = presentGeneration(head, deletion);
  if (plan.type === 'extend') return await append.extend({ head, generation, ...plan });
  if (head === undefined) throw new TypeError('only a stored log can be rewritten');
  return await append.rewrite({ head, ...plan });
}

/** The head, locked until the end of the transaction; if there is none, the lock keeps others from creating it. */
export async function lockedHead(
  database: PostgresDatabase,
  queries: Queries,
  key: ConversationKey,
): Promise<LogHead | undefined> {
  const { tenant, conversationId } = key;
  const select = `SELECT * FROM ${database.table('conversations')} WHERE tenant = $1 AND conversation_id = $2 FOR UPDATE`;
  const row = await queries.get(select, tenant, conversationId);
  if (row !== undefined) return headOf(row);
  // There is no row to lock yet, so its key is locked; a transaction that held this lock before has stored the row
  // meanwhile.
  await queries.get('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', conversationKey(key));
  const stored = await queries.get(select, tenant, conversationId);
  return stored === undefined ? undefined : headOf(stored);
}

/** The tombstone. To be called while the head is locked, so that a deletion is over or has yet to begin. */
export async function lockedDeletion(
  database: PostgresDatabase,
  queries: Queries,
  { tenant, conversationId }: ConversationKey,
): Promise<Deletion | undefined> {
  const row = await queries.get(
    `SELECT * FROM ${database.table('deletions')} WHERE tenant = $1 AND conversation_id = $2`,
    tenant,
    conversationId,
  );
  return row === undefined ? undefined : deletionOf(row);
}

class Append {
  readonly #conversations: string;
  readonly #events: string;
  readonly #leases: string;
  readonly #database: PostgresDatabase;
  readonly #queries: Queries;
  readonly #batch: AppendBatch;
  readonly #outbox: Outbox;

  constructor(database: PostgresDatabase, queries: Queries, batch: AppendBatch) {
    this.#database = database;
    this.#conversations = database.table('conversations');
    this.#events = database.table('events');
    this.#leases = database.table('call_leases');
    this.#queries = queries;
    this.#batch = batch;
    this.#outbox = new Outbox(database, queries);
  }

  /** Hashes of the stored rows that the batch repeats. */
  async storedHashes(head: LogHead | undefined): Promise<ReadonlyMap<number, string>> {
    const firstSeq = this.#batch.events[0]?.seq ?? Number.POSITIVE_INFINITY;
    if (head === undefined || firstSeq > head.lastSeq) return new Map();
    const rows = await this.#queries.all(
      `SELECT seq, hash FROM ${this.#events}
       WHERE tenant = $1 AND conversation_id = $2 AND generation = $3 AND seq >= $4`,
      this.#batch.tenant,
      this.#batch.conversationId,
      head.generation,
      firstSeq,
    );
    return new Map(rows.map((row) => [numberIn(row, 'seq'), textIn(row, 'hash')]));
  }

  async extend(plan: {
    readonly head: LogHead | undefined;
    readonly generation: number;
    readonly events: readonly CanonicalEvent[];
    readonly confirms: boolean;
  }): Promise<AppendResult> {
    const { head, generation, events, confirms } = plan;
    if (head !== undefined && events.length === 0 && !confirms)
      return { outcome: 'appended', head, added: 0 };
    const snapshot = extendedSnapshot(this.#batch, { from: head?.snapshot, events, generation });
    await this.#insert(generation, events);
    const next = headAfter(this.#batch, { before: head, generation, snapshot });
    await this.#putHead(next);
    if (this.#batch.copied === true)
      return { outcome: 'appended', head: next, added: events.length };
    const states = { before: head?.snapshot, after: snapshot };
    await followClaims(this.#leases, this.#queries, states);
    await followPending(this.#database, this.#queries, { ...states, added: events });
    await this.#outbox.store(this.#batch, outboxOf(head?.snapshot, events, generation));
    return { outcome: 'appended', head: next, added: events.length };
  }

  async rewrite(plan: {
    readonly head: LogHead;
    readonly keepThrough: number;
    readonly events: readonly CanonicalEvent[];
  }): Promise<AppendResult> {
    const { head, keepThrough, events } = plan;
    const { tenant, conversationId } = this.#batch;
    const generation = head.generation + 1;
    await this.#insert(generation, [rewrittenMarker(head.generation, keepThrough + 1)]);
    const kept = await this.#queries.all(
      `WITH kept AS (
         INSERT INTO ${this.#events} (tenant, conversation_id, generation, seq, type, turn_id, run_id, hash, event, copied)
         SELECT tenant, conversation_id, $1, seq, type, turn_id, run_id, hash, event, copied FROM ${this.#events}
         WHERE tenant = $2 AND conversation_id = $3 AND generation = $4 AND seq BETWEEN 1 AND $5
         RETURNING seq, event)
       SELECT event FROM kept ORDER BY seq`,
      generation,
      tenant,
      conversationId,
      head.generation,
      keepThrough,
    );
    await this.#insert(generation, events);
    const keptEvents = kept.map(eventOf);
    const folded = kept.length === 0 ? undefined : foldSnapshot(undefined, keptEvents, generation);
    const snapshot = foldSnapshot(folded, events, generation);
    const next = headAfter(this.#batch, { before: undefined, generation, snapshot });
    await this.#putHead(next);
    const states = { before: head.snapshot, after: snapshot };
    await followClaims(this.#leases, this.#queries, states);
    await followPending(this.#database, this.#queries, {
      ...states,
      added: [...keptEvents, ...events],
      isRewritten: true,
    });
    const replaced = await this.#eventsAfter(head, keepThrough);
    const rewritten = { kept: folded, replaced, replacedEnd: head.snapshot };
    const written = { added: events, end: snapshot, generation };
    await this.#outbox.store(this.#batch, outboxOfRewrite({ ...rewritten, ...written }));
    return { outcome: 'rewritten', head: next, added: events.length };
  }

  async #eventsAfter({ generation }: LogHead, seq: number): Promise<readonly CanonicalEvent[]> {
    const rows = await this.#queries.all(
      `SELECT event FROM ${this.#events}
       WHERE tenant = $1 AND conversation_id = $2 AND generation = $3 AND seq > $4 ORDER BY seq`,
      this.#batch.tenant,
      this.#batch.conversationId,
      generation,
      seq,
    );
    return rows.map(eventOf);
  }

  async #insert(generation: number, events: readonly CanonicalEvent[]): Promise<void> {
    if (events.length === 0) return;
    const { tenant, conversationId, runId } = this.#batch;
    await this.#queries.run(
      `INSERT INTO ${this.#events} (tenant, conversation_id, generation, seq, type, turn_id, run_id, hash, event, copied)
       SELECT $1, $2, $3, seq, type, turn_id, $4, hash, event, $10::boolean
       FROM unnest($5::int[], $6::text[], $7::text[], $8::text[], $9::text[]) AS row (seq, type, turn_id, hash, event)`,
      tenant,
      conversationId,
      generation,
      runId,
      events.map(({ seq }) => seq),
      events.map(({ type }) => type),
      events.map((event) => turnIdOf(event) ?? null),
      events.map((event) => contentHash(event)),
      events.map((event) => JSON.stringify(event)),
      String(this.#batch.copied === true),
    );
  }

  async #putHead(head: LogHead): Promise<void> {
    await this.#queries.run(
      `INSERT INTO ${this.#conversations}
         (tenant, conversation_id, generation, last_seq, run_id, history_length, agent, status, snapshot, closed_at_ms, root, changed_at_ms)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, ${NOW_MS})
       ON CONFLICT (tenant, conversation_id) DO UPDATE SET
         generation = excluded.generation, last_seq = excluded.last_seq, run_id = excluded.run_id,
         history_length = excluded.history_length, agent = excluded.agent, status = excluded.status,
         snapshot = excluded.snapshot, closed_at_ms = excluded.closed_at_ms, root = excluded.root, changed_at_ms = excluded.changed_at_ms`,
      head.tenant,
      head.conversationId,
      head.generation,
      head.lastSeq,
      head.runId,
      head.historyLength,
      head.snapshot.agent,
      head.snapshot.status,
      JSON.stringify(head.snapshot),
      closedAtMs(head.snapshot) ?? null,
      head.snapshot.parent?.root ?? null,
    );
  }
}

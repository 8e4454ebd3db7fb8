/** Rows of the event logs in SQL as heads, snapshots, events and documents: both databases have the same columns. */
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import type { Json } from '../../protocol/values/json.js';
import type { Deletion } from '../ports/deletions.js';
import type { DocumentsPut, NamedDocument, StoredDocument } from '../ports/documents/documents.js';
import type { Change, Changes, ClosedHead, OpenHead } from '../ports/lists.js';
import type { LogHead } from '../ports/log-head.js';

export type Row = Readonly<Record<string, unknown>>;

/** Tables whose rows of a conversation are removed with it; its tombstone is in another. */
export const CONVERSATION_TABLES: readonly string[] = [
  ...['events', 'pending_calls', 'troubles', 'call_leases', 'webhook_deliveries', 'space_members'],
  'conversations',
];

export function textIn(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw new TypeError(`column ${column} is not text`);
  return value;
}

/** Column as number; never beyond 2^53 here. Postgres returns BIGINT as text. */
export function numberIn(row: Row, column: string): number {
  return Number(row[column]);
}

export function keyOf(row: Row): ConversationKey {
  return { tenant: textIn(row, 'tenant'), conversationId: textIn(row, 'conversation_id') };
}

export function headOf(row: Row): LogHead {
  return {
    ...keyOf(row),
    generation: numberIn(row, 'generation'),
    lastSeq: numberIn(row, 'last_seq'),
    runId: textIn(row, 'run_id'),
    historyLength: numberIn(row, 'history_length'),
    snapshot: snapshotOf(row),
  };
}

export function snapshotOf(row: Row): ConversationSnapshot {
  return JSON.parse(textIn(row, 'snapshot')) as ConversationSnapshot;
}

export function eventOf(row: Row): CanonicalEvent {
  return JSON.parse(textIn(row, 'event')) as CanonicalEvent;
}

export function openHeadOf(row: Row): OpenHead {
  return {
    ...keyOf(row),
    runId: textIn(row, 'run_id'),
    historyLength: numberIn(row, 'history_length'),
    changedAtMs: numberIn(row, 'changed_at_ms'),
  };
}

/** Differs when the row of a conversation differs. */
export function versionOf(row: Row): string {
  return `${numberIn(row, 'changed_at_ms')}.${numberIn(row, 'generation')}.${numberIn(row, 'last_seq')}`;
}

/** Rows of both kinds have `changed_at_ms`, `generation`, `last_seq` and `deleted`: 1 for a deletion, else 0. */
export function changesOf(
  rows: readonly Row[],
  { nowMs, limit }: { readonly nowMs: number; readonly limit: number },
): Changes {
  const changes: Change[] = [];
  const counts = new Map<string, number>();
  const cut = new Set<string>();
  for (const row of rows) {
    const isDeletion = numberIn(row, 'deleted') === 1;
    const { tenant, conversationId } = keyOf(row);
    const kind = `${isDeletion} ${tenant}`;
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    // The statement reads one more than the limit.
    if (count > limit) {
      cut.add(tenant);
      continue;
    }
    const changedAtMs = numberIn(row, 'changed_at_ms');
    changes.push({ tenant, conversationId, changedAtMs, version: versionOf(row), isDeletion });
  }
  return { nowMs, changes, cut };
}

export function closedHeadOf(row: Row): ClosedHead {
  return {
    ...keyOf(row),
    generation: numberIn(row, 'generation'),
    lastSeq: numberIn(row, 'last_seq'),
    runId: textIn(row, 'run_id'),
    closedAtMs: numberIn(row, 'closed_at_ms'),
  };
}

export function deletionOf(row: Row): Deletion {
  const finishedAtMs = row['finished_at_ms'];
  return {
    ...keyOf(row),
    runIds: JSON.parse(textIn(row, 'run_ids')) as string[],
    generation: numberIn(row, 'generation'),
    ...(row['root'] === null ? {} : { root: textIn(row, 'root') }),
    requestedAtMs: numberIn(row, 'requested_at_ms'),
    ...(finishedAtMs === null ? {} : { finishedAtMs: Number(finishedAtMs) }),
  };
}

export function documentOf(row: Row): StoredDocument {
  return {
    name: textIn(row, 'name'),
    version: numberIn(row, 'version'),
    since: numberIn(row, 'since_version'),
    document: JSON.parse(textIn(row, 'document')) as Json,
    changedAt: new Date(numberIn(row, 'changed_at_ms')).toISOString(),
  };
}

/**
 * Whether an owner may have these documents besides, or in place of, those that it has: rows of `name` and, to be
 * judged, `document`.
 */
export function hasRoom(rows: readonly Row[], { documents, most, accepts }: DocumentsPut): boolean {
  const given = new Set(documents.map(({ name }) => name));
  const others = rows.filter((row) => !given.has(textIn(row, 'name')));
  if (others.length + documents.length > most) return false;
  if (accepts === undefined) return true;
  const before = rows.map((row): NamedDocument => {
    return { name: textIn(row, 'name'), document: JSON.parse(textIn(row, 'document')) as Json };
  });
  return accepts([...before.filter(({ name }) => !given.has(name)), ...documents], before);
}

/** Makes the counts of the event log of the rows that the queries of the adapters return. */
import type { SuspensionKind } from '../../../protocol/calls/suspensions.js';
import type { LogCounts } from '../../ports/service/counts.js';

type Row = Readonly<Record<string, unknown>>;

/** Statements of both adapters. `nowMs` is SQL for the present time in milliseconds. */
export function countQueries(
  tables: {
    readonly conversations: string;
    readonly pendingCalls: string;
    readonly troubles: string;
  },
  nowMs: string,
): { readonly waits: string; readonly troubles: string } {
  return {
    waits: `SELECT kind, count(*) AS open, sum(CASE WHEN deadline_ms < ${nowMs} THEN 1 ELSE 0 END) AS overdue,
      min(opened_at_ms) AS oldest_ms FROM ${tables.pendingCalls} GROUP BY kind ORDER BY kind`,
    troubles: `SELECT trouble.kind AS kind, count(*) AS marked FROM ${tables.troubles} AS trouble
      JOIN ${tables.conversations} AS marked ON marked.tenant = trouble.tenant
        AND marked.conversation_id = trouble.conversation_id AND marked.last_seq = trouble.last_seq
      WHERE marked.status <> 'closed' GROUP BY trouble.kind`,
  };
}

export function countsOf(waits: readonly Row[], troubles: readonly Row[]): LogCounts {
  const marked = (kind: string): number =>
    Number(troubles.find((row) => row['kind'] === kind)?.['marked'] ?? 0);
  return {
    waits: waits.map((row) => ({
      kind: row['kind'] as SuspensionKind,
      open: Number(row['open']),
      overdue: Number(row['overdue']),
      oldestOpenedAtMs: Number(row['oldest_ms']),
    })),
    failing: marked('failing'),
    slow: marked('slow'),
  };
}

/** Which rows of pending calls an append changes, decided without touching them; every adapter carries out the same plan. */
import type { ConversationSnapshot } from '../protocol/conversation.js';
import type { PendingCall } from '../protocol/suspensions.js';

export interface PendingRow {
  readonly toolCallId: string;
  readonly tool: string;
  readonly kind: string;
  readonly deadlineMs: number;
  /** As JSON; absent where anybody may resolve it. */
  readonly audience?: string;
}

export interface PendingChange {
  /** Ids of the calls that no longer wait. */
  readonly gone: readonly string[];
  readonly put: readonly PendingRow[];
}

/** The rows are those of `before`, which is what the store has now. */
export function pendingChange(
  before: ConversationSnapshot | undefined,
  after: ConversationSnapshot,
): PendingChange {
  const known = new Map(before?.pending.map((call) => [call.toolCallId, rowOf(call)]));
  const rows = after.pending.map(rowOf);
  const waiting = new Set(rows.map(({ toolCallId }) => toolCallId));
  return {
    gone: [...known.keys()].filter((id) => !waiting.has(id)),
    put: rows.filter((row) => !isSame(known.get(row.toolCallId), row)),
  };
}

function rowOf({ toolCallId, name, kind, deadline, audience }: PendingCall): PendingRow {
  return {
    toolCallId,
    tool: name,
    kind,
    deadlineMs: Date.parse(deadline),
    ...(audience === undefined ? {} : { audience: asStored(JSON.stringify(audience)) }),
  };
}

/** Escapes that no text of Postgres can hold become the sign for what cannot be shown, here and in what is looked for. */
export function asStored(json: string): string {
  return json.replaceAll(/\\u(?:0000|d[89a-f][0-9a-f]{2})/g, '\\ufffd');
}

function isSame(left: PendingRow | undefined, right: PendingRow): boolean {
  return (
    left?.tool === right.tool &&
    left.kind === right.kind &&
    left.deadlineMs === right.deadlineMs &&
    left.audience === right.audience
  );
}

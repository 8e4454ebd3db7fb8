/** Which rows of pending calls an append changes, decided without touching them; every adapter carries out the same plan. */
import { excludesRequester, requestersIn } from '../../core/calls/audience.js';
import type { PendingCall } from '../../protocol/calls/suspensions.js';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { TurnId } from '../../protocol/values/ids.js';

export interface PendingRow {
  readonly toolCallId: string;
  readonly tool: string;
  readonly kind: string;
  readonly deadlineMs: number;
  /** As JSON; absent where anybody may resolve it. */
  readonly audience?: string;
  /** The turn that asked, where its requesters are excluded: the adapter reads there who they are, and keeps it in the row. */
  readonly askedIn?: TurnId;
}

export interface PendingChange {
  /** Ids of the calls that no longer wait. */
  readonly gone: readonly string[];
  readonly put: readonly PendingRow[];
}

/** States of a conversation that an append leads from and to. */
export interface PendingStates {
  /** What the rows are of now. */
  readonly before: ConversationSnapshot | undefined;
  readonly after: ConversationSnapshot;
  /** What was added; absent where the log was rewritten, and nothing of it is as it was. */
  readonly added?: readonly CanonicalEvent[];
}

export function pendingChange({ before, after, added }: PendingStates): PendingChange {
  const known = new Map(before?.pending.map((call) => [call.toolCallId, rowOf(call)]));
  const rows = after.pending.map(rowOf);
  const waiting = new Set(rows.map(({ toolCallId }) => toolCallId));
  return {
    gone: [...known.keys()].filter((id) => !waiting.has(id)),
    put: rows.filter((row) => !isSame(known.get(row.toolCallId), row) || isAskedAnew(row, added)),
  };
}

/** Whoever sends a message that joins the turn is one of those who asked, from then on. */
function isAskedAnew({ askedIn }: PendingRow, added: PendingStates['added']): boolean {
  if (askedIn === undefined) return false;
  return added?.some((event) => event.type === 'user_message' && event.turnId === askedIn) ?? true;
}

/** The input that began a turn, where no message did: its id, and the seq that it stands before. */
export interface InputOfTurn {
  readonly eventId: string;
  /** What the JSON of the event has in it. */
  readonly mark: string;
  readonly beforeSeq: number;
}

export function inputOfTurn(events: readonly CanonicalEvent[]): InputOfTurn | undefined {
  for (const event of events) {
    const eventId = event.type === 'turn_started' ? event.inbox?.[0] : undefined;
    if (eventId !== undefined)
      return { eventId, mark: JSON.stringify({ eventId }).slice(1, -1), beforeSeq: event.seq };
  }
  return undefined;
}

/**
 * Ids of whoever asked in a turn, as JSON of a list. `events` are its messages; `inputs` those events that may be its `inputOfTurn`,
 * newest first. Whoever is in lost events is not known.
 */
export function requestersStored(
  events: readonly CanonicalEvent[],
  inputs: readonly CanonicalEvent[],
): string {
  const id = inputOfTurn(events)?.eventId;
  const began = inputs.find((event) => event.type === 'inbox_event' && event.eventId === id);
  return asStored(JSON.stringify(requestersIn(began === undefined ? events : [began, ...events])));
}

function rowOf({ toolCallId, turnId, name, kind, deadline, audience }: PendingCall): PendingRow {
  return {
    toolCallId,
    tool: name,
    kind,
    deadlineMs: Date.parse(deadline),
    ...(audience === undefined ? {} : { audience: asStored(JSON.stringify(audience)) }),
    ...(audience !== undefined && excludesRequester(audience) ? { askedIn: turnId } : {}),
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

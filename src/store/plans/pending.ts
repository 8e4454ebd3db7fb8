/**
 * Plans the rows of pending calls that an append changes, without touching them; every adapter carries out the same
 * plan.
 */
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
  readonly openedAtMs: number;
  /** As JSON; absent if every actor may resolve the call. */
  readonly audience?: string;
  /**
   * The turn of the call, if its audience excludes the requesters of the turn: the adapter reads their ids from the
   * turn's events and stores them in the row.
   */
  readonly askedIn?: TurnId;
}

export interface PendingChange {
  /** Ids of the calls that no longer wait. */
  readonly gone: readonly string[];
  readonly put: readonly PendingRow[];
}

/** The states of a conversation before and after an append. */
export interface PendingStates {
  /** The state that the stored rows reflect. */
  readonly before: ConversationSnapshot | undefined;
  readonly after: ConversationSnapshot;
  /** The events added; absent if the log was rewritten, so that every row has to be written anew. */
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

/** True when a message joined the turn: its sender is one of the requesters from then on. */
function isAskedAnew({ askedIn }: PendingRow, added: PendingStates['added']): boolean {
  if (askedIn === undefined) return false;
  return added?.some((event) => event.type === 'user_message' && event.turnId === askedIn) ?? true;
}

/** The inbox event that began a turn, if no message did: its id, and the seq before which it stands. */
export interface InputOfTurn {
  readonly eventId: string;
  /** Text that the JSON of the event contains. */
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
 * Ids of the requesters of a turn, as a JSON list. `events` are its messages; `inputs` the events that may be its
 * `inputOfTurn`, newest first. Requesters of lost events are missing.
 */
export function requestersStored(
  events: readonly CanonicalEvent[],
  inputs: readonly CanonicalEvent[],
): string {
  return asStored(JSON.stringify(requestersOfTurn(events, inputs)));
}

/** The same ids, of the turn of a whole log, oldest event first. */
export function requestersInLog(log: readonly CanonicalEvent[], turnId: TurnId): readonly string[] {
  const events = log.filter(
    (event) =>
      (event.type === 'user_message' || event.type === 'turn_started') && event.turnId === turnId,
  );
  return requestersOfTurn(events, log.toReversed());
}

function requestersOfTurn(
  events: readonly CanonicalEvent[],
  inputs: readonly CanonicalEvent[],
): readonly string[] {
  const id = inputOfTurn(events)?.eventId;
  const began = inputs.find((event) => event.type === 'inbox_event' && event.eventId === id);
  return requestersIn(began === undefined ? events : [began, ...events]);
}

function rowOf(call: PendingCall): PendingRow {
  const { toolCallId, turnId, name, kind, deadline, openedAt, audience } = call;
  return {
    toolCallId,
    tool: name,
    kind,
    deadlineMs: Date.parse(deadline),
    openedAtMs: Date.parse(openedAt),
    ...(audience === undefined ? {} : { audience: asStored(JSON.stringify(audience)) }),
    ...(audience !== undefined && excludesRequester(audience) ? { askedIn: turnId } : {}),
  };
}

/**
 * Replaces escapes that Postgres cannot hold as text with the replacement character, in stored values and in searched
 * ones.
 */
export function asStored(json: string): string {
  return json.replaceAll(/\\u(?:0000|d[89a-f][0-9a-f]{2})/g, '\\ufffd');
}

function isSame(left: PendingRow | undefined, right: PendingRow): boolean {
  return (
    left?.tool === right.tool &&
    left.kind === right.kind &&
    left.deadlineMs === right.deadlineMs &&
    left.openedAtMs === right.openedAtMs &&
    left.audience === right.audience
  );
}

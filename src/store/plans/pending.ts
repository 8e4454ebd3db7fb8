/**
 * Plans the rows of pending calls that an append changes, without touching them; every adapter carries out the same
 * plan.
 */
import { excludesRequester, requestersIn } from '../../core/calls/audience.js';
import { waitingItem } from '../../core/view/worklist.js';
import type { PendingCall } from '../../protocol/calls/suspensions.js';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { Audience } from '../../protocol/values/audience.js';
import type { TurnId } from '../../protocol/values/ids.js';
import { warnAtMs } from './webhook-rows.js';

export interface PendingRow {
  readonly toolCallId: string;
  readonly tool: string;
  readonly agent: string;
  readonly kind: string;
  readonly risk?: string;
  readonly deadlineMs: number;
  readonly openedAtMs: number;
  /** When webhooks are sent that the wait ends soon; absent: never. */
  readonly warnAtMs?: number;
  /** As JSON; absent if every actor may resolve the call. */
  readonly audience?: string;
  readonly excludesRequester: boolean;
  /** Id of the actor who holds the call, as a JSON list. */
  readonly claimedBy?: string;
  /** The turn of the call: the adapter reads the ids of its requesters from its events. */
  readonly turnId: TurnId;
  /** The item of the worklist, as JSON, for the requesters of the turn. */
  readonly item: (requesters: readonly string[]) => string;
  /** The claims that the append added; the adapter adds them to those of the row. */
  readonly claims: number;
  /** The end of the log with which the call became what the row says: a later change has a greater one. */
  readonly seq: number;
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
  /** The events added; the whole log if it was rewritten. */
  readonly added: readonly CanonicalEvent[];
  /** Present if the log was rewritten: every row is removed and written anew. */
  readonly isRewritten?: true;
}

export function pendingChange(states: PendingStates): PendingChange {
  const { before, after, added, isRewritten } = states;
  const known = new Map(before?.pending.map((call) => [call.toolCallId, call]));
  if (isRewritten === true)
    return { gone: [...known.keys()], put: after.pending.map((call) => rowOf(call, states)) };
  const waiting = new Set(after.pending.map(({ toolCallId }) => toolCallId));
  return {
    gone: [...known.keys()].filter((id) => !waiting.has(id)),
    // The fold keeps the objects of calls that it does not change.
    put: after.pending
      .filter((call) => known.get(call.toolCallId) !== call || isAskedAnew(call, added))
      .map((call) => rowOf(call, states)),
  };
}

/** True when a message joined the turn: its sender is one of the requesters from then on. */
function isAskedAnew({ turnId }: PendingCall, added: PendingStates['added']): boolean {
  return added.some((event) => event.type === 'user_message' && event.turnId === turnId);
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
 * Ids of the requesters of a turn. `events` are its messages; `inputs` the events that may be its `inputOfTurn`, newest
 * first. Requesters of lost events are missing.
 */
export function requestersOfTurn(
  events: readonly CanonicalEvent[],
  inputs: readonly CanonicalEvent[],
): readonly string[] {
  const id = inputOfTurn(events)?.eventId;
  const began = inputs.find((event) => event.type === 'inbox_event' && event.eventId === id);
  return requestersIn(began === undefined ? events : [began, ...events]);
}

/** The same ids, of the turn of a whole log, oldest event first. */
export function requestersInLog(log: readonly CanonicalEvent[], turnId: TurnId): readonly string[] {
  const events = log.filter(
    (event) =>
      (event.type === 'user_message' || event.type === 'turn_started') && event.turnId === turnId,
  );
  return requestersOfTurn(events, log.toReversed());
}

function rowOf(
  call: PendingCall,
  { after: snapshot, added }: Pick<PendingStates, 'added' | 'after'>,
): PendingRow {
  const { toolCallId, turnId, name, kind, risk, deadline, openedAt, audience, claim } = call;
  const warnAt = warnAtMs(call);
  return {
    toolCallId,
    turnId,
    tool: name,
    agent: call.agent ?? snapshot.agent,
    kind,
    ...(risk === undefined ? {} : { risk }),
    deadlineMs: Date.parse(deadline),
    openedAtMs: Date.parse(openedAt),
    ...(warnAt === undefined ? {} : { warnAtMs: Math.round(warnAt) }),
    ...(audience === undefined ? {} : { audience: namesStored(audience) }),
    excludesRequester: audience !== undefined && excludesRequester(audience),
    ...(claim === undefined ? {} : { claimedBy: namesStored([claim.by]) }),
    item: (requesters) => JSON.stringify(waitingItem(call, snapshot, requesters)),
    claims: added.filter((event) => isClaimOf(event, toolCallId)).length,
    seq: snapshot.seq,
  };
}

function isClaimOf(event: CanonicalEvent, toolCallId: string): boolean {
  return event.type === 'claimed' && event.toolCallId === toolCallId && event.renewal !== true;
}

/** Names, or an audience of names, in the form in which they are stored and searched. */
export function namesStored(names: readonly string[] | Audience): string {
  return asStored(JSON.stringify(names));
}

/**
 * Replaces escapes that Postgres cannot hold as text with the replacement character, in stored values and in searched
 * ones.
 */
function asStored(json: string): string {
  return json.replaceAll(/\\u(?:0000|d[89a-f][0-9a-f]{2})/g, '\\ufffd');
}

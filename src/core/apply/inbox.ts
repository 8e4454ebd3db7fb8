/** Folds inbox events, and the results of detached and late calls. Pure. */
import { TEXTS } from '../../protocol/failures/texts.js';
import type { InboxEvent } from '../../protocol/log/events.js';
import { requesterOfInput } from '../calls/audience.js';
import { endOfWait } from '../calls/claim.js';
import { lateCall } from '../calls/detached.js';
import { withMessage } from '../context/transcript.js';
import { contentDigest } from '../memory/duplicates.js';
import type { EndedCall } from '../state/calls.js';
import { keptDigest, requestKey } from '../state/requests.js';
import type { ConversationState, InboxEntry } from '../state/state.js';
import { callOf, stepCalls } from '../state/state.js';
import type { Stamped } from '../state/update.js';
import { remember } from '../state/update.js';
import { withPatchesDue } from './plugins.js';
import { withTombstone } from './tombstones.js';

/** Adds an event to the inbox, where it waits for the next model call. */
export function withInboxEvent(
  state: ConversationState,
  event: Stamped<InboxEvent>,
): ConversationState {
  const { eventId, seq, payload, kind } = event;
  const entry: InboxEntry = { eventId, text: textOf(event), requester: requesterOfInput(event) };
  const { inboxHeld: _over, ...rest } = state;
  const next = { ...rest, inbox: [...(state.inbox ?? []), entry] };
  if (event.toolCallId !== undefined) return next;
  const digest = keptDigest(contentDigest(kind, payload));
  return remember(next, { operation: 'inbox', key: requestKey(eventId), digest, seq });
}

function textOf({ eventId, kind, payload, toolCallId, name, result }: InboxEvent): string {
  return toolCallId !== undefined && name !== undefined && result !== undefined
    ? TEXTS.inboxResult(name, toolCallId, JSON.stringify(result.envelope))
    : TEXTS.inboxEvent(kind, eventId, JSON.stringify(payload ?? null));
}

/** Moves all entries of the inbox into the transcript as messages of the turn, in order of arrival. */
export function withInboxRead(state: ConversationState, turnId: string): ConversationState {
  const { inbox, inboxPausedUntil: _over, inboxHeld: _read, ...rest } = state;
  if (inbox === undefined) return state;
  let next: ConversationState = rest;
  for (const { eventId, text } of inbox) {
    const id = `${turnId}.inbox.${eventId}`;
    const parts = [{ type: 'text' as const, text }];
    next = withMessage(next, { role: 'user', id, turnId, parts, inbox: eventId });
  }
  return next;
}

/** Ends a detached or late call; one that has expired may still be answered once. */
export function backgroundEnded(
  state: ConversationState,
  event: Stamped<InboxEvent>,
): ConversationState {
  const { toolCallId = '', result, at } = event;
  const call = callOf(state, toolCallId);
  if (call === undefined || result === undefined) return state;
  const { status } = result;
  if (status === 'detached') return state;
  const deadline = call.closedWait === undefined ? undefined : endOfWait(call.closedWait);
  const patched = withPatchesDue(state, [{ plan: call.plan, turnId: call.turnId, result }]);
  const next = withTombstone(patched, call, { status, result, at, deadline });
  const { background, suspension: _closed, answer: _taken, ...rest } = call;
  const ended: EndedCall = { ...rest, status, result: call.result ?? result };
  const left = background === 'detached' ? lateCall(ended) : ended;
  const { [toolCallId]: _gone, ...others } = state.calls;
  const stays = left.background !== undefined || stepCalls(state).includes(call);
  return { ...next, calls: stays ? { ...state.calls, [toolCallId]: left } : others };
}

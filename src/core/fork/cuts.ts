/** The places of a log at which a conversation can be forked. Pure. */

import type { CanonicalEvent } from '../../protocol/log/events.js';
import { decide } from '../decide/decide.js';
import { isInternal } from '../events/internal.js';
import type { ConversationState } from '../state/state.js';

/**
 * Whether a step or a turn is finished in the state after this event: no model call is half recorded, and all that the
 * engine decides by itself is recorded. Calls of the step may wait or run.
 *
 * | the running turn | a fork is possible |
 * |---|---|
 * | none | once a model has answered; while a message waits, at the end of a turn only |
 * | waits for its first model answer | no |
 * | waits for a later answer | yes: the step before is finished |
 * | waits for calls | once each call of the step is recorded, and waits, runs or has its result |
 */
export function isCut(state: ConversationState, { type }: Pick<CanonicalEvent, 'type'>): boolean {
  const { turn, queue, closed, transcript } = state;
  if (closed || transcript.every(({ role }) => role === 'user')) return false;
  switch (turn?.phase) {
    case undefined:
      return (queue.length === 0 || type === 'turn_ended') && isSettled(withoutInput(state));
    case 'model':
      return turn.shownStep < turn.step && turn.step > 1 && isSettled(state);
    case 'tools':
      return isAsked(state) && isSettled(state);
    case 'ending':
      return false;
  }
}

/** A fork takes over neither of these, so nothing needs to follow from them. */
function withoutInput(state: ConversationState): ConversationState {
  const { inbox: _unread, parent: _caller, ...rest } = state;
  return { ...rest, queue: [] };
}

function isSettled(state: ConversationState): boolean {
  return !decide(state).some(isInternal);
}

/** Whether each call of the model's message is recorded. */
function isAsked({ turn, transcript }: ConversationState): boolean {
  const message = transcript.findLast((item) => item.role === 'assistant');
  if (message?.role !== 'assistant') return true;
  const wanted = message.parts.filter(({ type }) => type === 'tool_call').length;
  return (turn?.callIds.length ?? 0) >= wanted;
}

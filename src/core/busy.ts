/**
 * What a message does that comes while a turn runs. Pure.
 *
 * B1  What the message says itself counts before the agent's setting.
 * B2  Where the agent lets questions be detached, a message sets aside the calls that wait for a person, so that an open question
 *     never freezes the chat: the model reads that they are pending, and answers the message; their answers come later as new
 *     input.
 */
import type { EventBody } from '../protocol/events.js';
import type { SuspensionKind } from '../protocol/suspensions.js';
import { detachResult } from './aside.js';
import { resultEvent } from './event-bodies.js';
import type { CallState, ConversationState } from './state.js';
import { stepCalls } from './state.js';

/** Waits for people; browsers and backends answer soon, or not at all. */
const OF_PEOPLE: readonly SuspensionKind[] = ['approval', 'elicitation'];

/** `asked` is what the message says, if anything. */
export function onBusyOf(state: ConversationState, asked: unknown): unknown {
  if (asked !== undefined) return asked;
  return questionsOpen(state).length > 0 ? 'steer' : state.settings.onBusy;
}

/** The calls that such a message sets aside; none, when it says that it can wait, or where the agent blocks. */
function questionsOpen(state: ConversationState): readonly CallState[] {
  const { turn, settings } = state;
  const isGoingOn = turn?.phase === 'tools' && turn.cancel === undefined && turn.stop === undefined;
  if (settings.whileWaiting !== 'detach' || !isGoingOn) return [];
  return stepCalls(state).filter(
    ({ aside, suspension }) =>
      aside === undefined && suspension !== undefined && OF_PEOPLE.includes(suspension.kind),
  );
}

/** After a message that steers: the immediate results of the calls that wait for people. Those that do not fit go on waiting. */
export function setAsideEvents(state: ConversationState): readonly EventBody[] {
  const [next] = questionsOpen(state);
  if (next === undefined) return [];
  const result = detachResult(state, next.plan);
  return result.status === 'detached' ? [resultEvent(next, result)] : [];
}

/**
 * What a message does that comes while a turn runs. Pure.
 *
 * B1  What the message says itself counts before the agent's setting.
 * B2  Where the agent lets questions be detached, a message sets aside the calls that wait for a person, so that an open question
 *     never freezes the chat: the model reads that they are pending, and answers the message; their answers come later as new
 *     input.
 * B3  So does a message that waits already when a call comes to wait for a person, however it came to wait; but not one that said
 *     itself that it can.
 */
import type { EventBody } from '../protocol/events.js';
import { MAX_DETACHED_CALLS } from '../protocol/limits.js';
import type { SuspensionKind } from '../protocol/suspensions.js';
import { detachedCalls, detachResult } from './aside.js';
import { resultEvent } from './event-bodies.js';
import { isSince } from './revision.js';
import type { CallState, ConversationState } from './state.js';
import { stepCalls } from './state.js';

/** Waits for people; browsers and backends answer soon, or not at all. */
const OF_PEOPLE: readonly SuspensionKind[] = ['approval', 'elicitation'];

type MessageFields = Readonly<Record<string, unknown>>;

export function onBusyOf(state: ConversationState, message: MessageFields): unknown {
  const { onBusy: asked } = message;
  const isFallback = isOnlyIfRejected(state, message);
  if (asked !== undefined && !isFallback) return asked;
  const own = questionsOpen(state).length > 0 ? 'steer' : state.settings.onBusy;
  return isFallback && asked !== undefined && own === 'reject' ? asked : own;
}

/** Whether the message says itself that it can wait for a turn of its own. */
export function canWait(state: ConversationState, message: MessageFields): boolean {
  return isSince(state, 3) && message['onBusy'] === 'queue' && !isOnlyIfRejected(state, message);
}

function isOnlyIfRejected(state: ConversationState, { ifRejected }: MessageFields): boolean {
  return ifRejected === true && isSince(state, 3);
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

/** The calls that keep a message waiting, as far as there is room for them aside; those that do not fit go on waiting. */
export function dueAside(state: ConversationState): readonly CallState[] {
  if (!isSince(state, 3) || !isMessageWaiting(state)) return [];
  const room = Math.max(0, MAX_DETACHED_CALLS - detachedCalls(state).length);
  return questionsOpen(state).slice(0, room);
}

function isMessageWaiting({ turn, queue }: ConversationState): boolean {
  return (turn?.steering?.length ?? 0) > 0 || queue.some(({ patient }) => patient !== true);
}

/** After a message that steers: the immediate results of the calls that wait for people. Those that do not fit go on waiting. */
export function setAsideEvents(state: ConversationState): readonly EventBody[] {
  const [next] = questionsOpen(state);
  if (next === undefined) return [];
  const result = detachResult(state, next.plan);
  return result.status === 'detached' ? [resultEvent(next, result)] : [];
}

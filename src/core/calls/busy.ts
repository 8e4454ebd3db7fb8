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

import type { SuspensionKind } from '../../protocol/calls/suspensions.js';
import { MAX_DETACHED_CALLS } from '../../protocol/limits/limits.js';
import type { CallState, ConversationState } from '../state/state.js';
import { stepCalls } from '../state/state.js';
import { detachedCalls } from './detached.js';

/** Waits for people; browsers and backends answer soon, or not at all. */
const OF_PEOPLE: readonly SuspensionKind[] = ['approval', 'elicitation'];

type MessageFields = Readonly<Record<string, unknown>>;

export function onBusyOf(state: ConversationState, message: MessageFields): unknown {
  const { onBusy: asked } = message;
  const isFallback = isOnlyIfRejected(message);
  if (asked !== undefined && !isFallback) return asked;
  const own = questionsOpen(state).length > 0 ? 'steer' : state.settings.onBusy;
  return isFallback && asked !== undefined && own === 'reject' ? asked : own;
}

/** Whether the message says itself that it can wait for a turn of its own. */
export function canWait(message: MessageFields): boolean {
  return message['onBusy'] === 'queue' && !isOnlyIfRejected(message);
}

function isOnlyIfRejected({ ifRejected }: MessageFields): boolean {
  return ifRejected === true;
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
  if (!isMessageWaiting(state)) return [];
  const room = Math.max(0, MAX_DETACHED_CALLS - detachedCalls(state).length);
  return questionsOpen(state).slice(0, room);
}

function isMessageWaiting({ turn, queue }: ConversationState): boolean {
  return (turn?.steering?.length ?? 0) > 0 || queue.some(({ patient }) => patient !== true);
}

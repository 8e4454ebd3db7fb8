/**
 * Decides about a message that arrives while a turn runs. Pure.
 *
 * B1  The message's own choice takes precedence over the agent's setting.
 * B2  Where the agent lets questions be detached, a message detaches the calls that wait for a person, so that an open
 *     question never freezes the chat; the answers arrive later as new input.
 * B3  A message that is already waiting when a call starts to wait for a person has the same effect, unless the message
 *     itself allows waiting.
 */

import type { CallStatus } from '../../protocol/calls/results.js';
import { MAX_DETACHED_CALLS } from '../../protocol/limits/limits.js';
import type { CallState } from '../state/calls.js';
import type { ConversationState } from '../state/state.js';
import { isStopping, stepCalls } from '../state/state.js';
import { detachedCalls } from './detached.js';

/** Calls that wait for people; browsers and backends answer soon, or not at all. */
const OF_PEOPLE: readonly CallStatus[] = ['awaiting_approval', 'awaiting_answer'];

type MessageFields = Readonly<Record<string, unknown>>;

export function onBusyOf(state: ConversationState, message: MessageFields): unknown {
  const { onBusy: asked } = message;
  const isFallback = isOnlyIfRejected(message);
  if (asked !== undefined && !isFallback) return asked;
  const own = questionsOpen(state).length > 0 ? 'steer' : state.settings.onBusy;
  return isFallback && asked !== undefined && own === 'reject' ? asked : own;
}

/** Whether the message itself allows waiting for a turn of its own. */
export function canWait(message: MessageFields): boolean {
  return message['onBusy'] === 'queue' && !isOnlyIfRejected(message);
}

function isOnlyIfRejected({ ifRejected }: MessageFields): boolean {
  return ifRejected === true;
}

/**
 * The calls of the step that a waiting message would detach; none where the agent's setting is to block, or the turn is
 * being stopped.
 */
function questionsOpen(state: ConversationState): readonly CallState[] {
  const { turn, settings } = state;
  if (settings.whileWaiting !== 'detach' || turn?.phase !== 'tools' || isStopping(turn)) return [];
  return stepCalls(state).filter(({ status }) => OF_PEOPLE.includes(status));
}

/**
 * The calls that keep a message waiting, up to the limit of detached calls; those beyond the limit stay in the step.
 */
export function dueInBackground(state: ConversationState): readonly CallState[] {
  if (!isMessageWaiting(state)) return [];
  const free = Math.max(0, MAX_DETACHED_CALLS - detachedCalls(state).length);
  return questionsOpen(state).slice(0, free);
}

function isMessageWaiting({ turn, queue }: ConversationState): boolean {
  return (
    (turn?.steering?.length ?? 0) > 0 || queue.some(({ mayWait: patient }) => patient !== true)
  );
}

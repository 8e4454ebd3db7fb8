/** What of the transcript a roll-over carries. Pure; never touches the log. */
import { utf8Bytes } from '../../protocol/json.js';
import { MAX_CARRIED_TRANSCRIPT_BYTES } from '../../protocol/limits.js';
import type { Message } from '../../protocol/messages.js';
import type { ConversationState } from '../state.js';
import { messageBytes } from '../transcript.js';
import { headLength } from './turns.js';

/**
 * The newest whole turns that fit into `maxBytes`; always at least the newest turn. Returns how many messages are left out.
 * Whole turns, because a tool call without its result makes the provider refuse the request.
 */
export function droppedToFit(messages: readonly Message[], maxBytes: number): number {
  let bytes = 0;
  let keepFrom = messages.length;
  let index = messages.length - 1;
  while (index >= 0) {
    const turnId = messages[index]?.turnId;
    let first = index;
    while (first > 0 && messages[first - 1]?.turnId === turnId) first -= 1;
    for (let at = first; at <= index; at += 1) {
      const message = messages[at];
      if (message !== undefined) bytes += messageBytes(message);
    }
    if (bytes > maxBytes && keepFrom < messages.length) break;
    keepFrom = first;
    index = first - 1;
  }
  return keepFrom;
}

/**
 * What a roll-over may carry in all: the state is one payload of at most 2 MiB, with the events that the store has not
 * confirmed (`MAX_CARRIED_EVENT_BYTES`) and room for the envelope. A larger one would wedge the conversation.
 */
export const MAX_CARRIED_STATE_BYTES = 1_664 * 1024;

/** Size of the state as a roll-over would carry it, without what it leaves behind. */
export function carriedBytes(state: ConversationState): number {
  let bytes = besidesTurns(state);
  for (const message of turnsOf(state).slice(droppedAtRollOver(state)))
    bytes += messageBytes(message);
  return bytes;
}

/**
 * How many of the oldest messages a roll-over leaves behind: all, if need be, except those of a turn in progress. The summary
 * of what is gone is not among them: it is always carried.
 */
export function droppedAtRollOver(state: ConversationState): number {
  const messages = turnsOf(state);
  const room = MAX_CARRIED_STATE_BYTES - besidesTurns(state);
  const budget = Math.min(MAX_CARRIED_TRANSCRIPT_BYTES, room);
  const { transcriptBytes, turn } = state;
  if (transcriptBytes <= budget) return 0;
  const from = droppedToFit(messages, budget);
  if (turn !== undefined) return from;
  let newest = 0;
  for (const message of messages.slice(from)) newest += messageBytes(message);
  return newest > budget ? messages.length : from;
}

/** All but the summary. */
function turnsOf({ transcript }: ConversationState): readonly Message[] {
  return transcript.slice(headLength(transcript));
}

function besidesTurns(state: ConversationState): number {
  const { transcript } = state;
  const summary = transcript.slice(0, headLength(transcript));
  return utf8Bytes(JSON.stringify({ ...state, transcript: summary }));
}

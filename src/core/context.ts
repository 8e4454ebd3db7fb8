/** What of the transcript a model call gets, and what a roll-over carries. Pure; never touches the log. */
import { utf8Bytes } from '../protocol/json.js';
import { MAX_CARRIED_TRANSCRIPT_BYTES, MAX_TRANSCRIPT_BYTES } from '../protocol/limits.js';
import type { Message } from '../protocol/messages.js';
import type { ConversationState } from './state.js';
import { messageBytes } from './transcript.js';

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

/** How many of the oldest messages the next model call does not get. */
export function visibleFrom(state: ConversationState): number {
  return state.transcriptBytes <= MAX_TRANSCRIPT_BYTES
    ? 0
    : droppedToFit(state.transcript, MAX_TRANSCRIPT_BYTES);
}

/** The messages of the next model call. */
export function visibleTranscript(state: ConversationState): readonly Message[] {
  const from = visibleFrom(state);
  return from === 0 ? state.transcript : state.transcript.slice(from);
}

/** True when the turn in progress alone is larger than a model call's input may be. */
export function turnTooLong(state: ConversationState): boolean {
  if (state.transcriptBytes <= MAX_TRANSCRIPT_BYTES) return false;
  const { turn, transcript } = state;
  let bytes = 0;
  for (let index = transcript.length - 1; index >= 0; index -= 1) {
    const message = transcript[index];
    if (message === undefined || message.turnId !== turn?.turnId) break;
    bytes += messageBytes(message);
  }
  return bytes > MAX_TRANSCRIPT_BYTES;
}

/**
 * What a roll-over may carry in all: the state is one payload of at most 2 MiB, with the events that the store has not
 * confirmed (`MAX_CARRIED_EVENT_BYTES`) and room for the envelope. A larger one would wedge the conversation.
 */
export const MAX_CARRIED_STATE_BYTES = 1_664 * 1024;

/** Size of the state as a roll-over would carry it, without what it leaves behind. */
export function carriedBytes(state: ConversationState): number {
  const { transcript } = state;
  let bytes = besidesTranscript(state);
  for (const message of transcript.slice(droppedAtRollOver(state))) bytes += messageBytes(message);
  return bytes;
}

/** How many of the oldest messages a roll-over leaves behind: all, if need be, except those of a turn in progress. */
export function droppedAtRollOver(state: ConversationState): number {
  const room = MAX_CARRIED_STATE_BYTES - besidesTranscript(state);
  const budget = Math.min(MAX_CARRIED_TRANSCRIPT_BYTES, room);
  const { transcript, transcriptBytes, turn } = state;
  if (transcriptBytes <= budget) return 0;
  const from = droppedToFit(transcript, budget);
  if (turn !== undefined) return from;
  let newest = 0;
  for (const message of transcript.slice(from)) newest += messageBytes(message);
  return newest > budget ? transcript.length : from;
}

function besidesTranscript(state: ConversationState): number {
  return utf8Bytes(JSON.stringify({ ...state, transcript: [] }));
}

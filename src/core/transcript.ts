/** The transcript within the state: how messages enter and leave it, and how large they are. Pure. */
import { utf8Bytes } from '../protocol/json.js';
import type { Message } from '../protocol/messages.js';
import type { ConversationState } from './state.js';

/** Messages never change, so each is measured once: windows and bounds are asked for at every step. */
const sizes = new WeakMap<Message, number>();

export function messageBytes(message: Message): number {
  const known = sizes.get(message);
  if (known !== undefined) return known;
  const bytes = utf8Bytes(JSON.stringify(message));
  sizes.set(message, bytes);
  return bytes;
}

export function withMessage(state: ConversationState, message: Message): ConversationState {
  return {
    ...state,
    transcript: [...state.transcript, message],
    transcriptBytes: state.transcriptBytes + messageBytes(message),
  };
}

export function withoutOldest(state: ConversationState, count: number): ConversationState {
  if (count === 0) return state;
  let dropped = 0;
  for (const message of state.transcript.slice(0, count)) dropped += messageBytes(message);
  return {
    ...state,
    transcript: state.transcript.slice(count),
    transcriptBytes: state.transcriptBytes - dropped,
  };
}

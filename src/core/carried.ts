/** A state in the form in which it goes from one run to the next, and back. Pure. */
import { CARRIED_VERSION, type CarriedMemory } from '../protocol/stored-messages.js';
import { carriedTranscript, restoredTranscript } from './context/stored.js';
import type { ConversationState } from './state.js';

export function carriedMemory(state: ConversationState): CarriedMemory {
  const { messages, chunks } = carriedTranscript(state);
  const stored = chunks.length > 0;
  return {
    version: CARRIED_VERSION,
    state: stored ? { ...state, transcript: messages } : state,
    ...(stored ? { chunks } : {}),
  };
}

/** The inverse. */
export function stateIn({ state: plain, chunks }: CarriedMemory): ConversationState {
  const state = plain as ConversationState;
  if (chunks === undefined) return state;
  return { ...state, transcript: restoredTranscript({ messages: state.transcript, chunks }) };
}

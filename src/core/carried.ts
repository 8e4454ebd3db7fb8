/** A state in the form in which it goes from one run to the next, and back. Pure. */
import type { CarriedMemory } from '../protocol/stored-messages.js';
import { carriedTranscript, restoredTranscript } from './context/stored.js';
import type { ConversationState } from './state.js';

/** Of the lowest version that can say it: so a worker of before may go on with it. */
export function carriedMemory(state: ConversationState): CarriedMemory {
  const { messages, chunks } = carriedTranscript(state);
  const stored = chunks.length > 0;
  const isWithin = chunks.some(({ fromMessageId }) => fromMessageId !== undefined);
  return {
    version: isWithin ? 4 : state.earlier !== undefined ? 3 : stored ? 2 : 1,
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

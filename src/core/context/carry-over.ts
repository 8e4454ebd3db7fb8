/**
 * The state in the form that a roll-over carries to the next run, the part of the transcript that it carries, and the
 * part that is offloaded to the blob store. Pure.
 */
import type { Message } from '../../protocol/conversation/messages.js';
import type {
  CarriedMemory,
  OffloadBounds,
} from '../../protocol/conversation/offloaded-messages.js';
import { CARRIED_VERSION } from '../../protocol/conversation/offloaded-messages.js';
import {
  MAX_CARRIED_TRANSCRIPT_BYTES,
  MAX_STORED_TRANSCRIPT_BYTES,
} from '../../protocol/limits/limits.js';
import { utf8Bytes } from '../../protocol/values/json.js';
import type { CallModelInput } from '../../protocol/workflow/activities.js';
import type { ConversationState } from '../state/state.js';
import type { OffloadPlan } from './offloaded.js';
import { carriedTranscript, restoredTranscript, sizeInPayload, storedEnd } from './offloaded.js';
import { messageBytes } from './transcript.js';
import type { TurnSpan } from './turn-spans.js';
import { headLength, turnSpans } from './turn-spans.js';

/**
 * Number of the oldest messages to leave out, so that the newest whole turns fit into `maxBytes`; always keeps at least
 * the newest turn. Whole turns, because a provider refuses a tool call without its result.
 */
export function droppedToFit(
  messages: readonly Message[],
  maxBytes: number,
  sizeOf: (message: Message) => number = messageBytes,
): number {
  let bytes = 0;
  let keepFrom = messages.length;
  let index = messages.length - 1;
  while (index >= 0) {
    const turnId = messages[index]?.turnId;
    let first = index;
    while (first > 0 && messages[first - 1]?.turnId === turnId) first -= 1;
    for (let at = first; at <= index; at += 1) {
      const message = messages[at];
      if (message !== undefined) bytes += sizeOf(message);
    }
    if (bytes > maxBytes && keepFrom < messages.length) break;
    keepFrom = first;
    index = first - 1;
  }
  return keepFrom;
}

/**
 * Maximum bytes of a carried state: the state is one payload of at most 2 MiB, together with the events that the store
 * has not confirmed (`MAX_CARRIED_EVENT_BYTES`) and space for the envelope. The conversation could not continue from a
 * larger one.
 */
export const MAX_CARRIED_STATE_BYTES = 1_664 * 1024;

/** Size of the state as a roll-over would carry it, without the messages that it drops. */
export function carriedBytes(state: ConversationState): number {
  const dropped = droppedAtRollOver(state);
  const transcript = turnsOf(state).slice(dropped);
  const { messages, chunks } = carriedTranscript({ ...state, transcript });
  const known = chunks.length === 0 ? 0 : utf8Bytes(JSON.stringify(chunks));
  return besidesTurns(state) + known + bytesOf(messages);
}

/**
 * Number of the oldest messages that a roll-over drops: all, if necessary, except those of a turn in progress. The
 * summary is not counted: it is always carried.
 */
export function droppedAtRollOver(state: ConversationState): number {
  const room = MAX_CARRIED_STATE_BYTES - besidesTurns(state);
  if (storedEnd(state.transcript) === 0)
    return droppedWithin(state, Math.min(MAX_CARRIED_TRANSCRIPT_BYTES, room));
  return Math.max(
    droppedWithin(state, MAX_STORED_TRANSCRIPT_BYTES),
    droppedWithin(state, Math.min(MAX_CARRIED_TRANSCRIPT_BYTES, room), sizeInPayload),
  );
}

/**
 * Bytes of transcript that the conversation can hold, as a field of a model call's input. Offloaded messages show that
 * there is a blob store.
 */
export function heldBytesOf(
  state: Pick<ConversationState, 'transcript'>,
): Pick<CallModelInput, 'heldBytes'> {
  return storedEnd(state.transcript) > 0 ? { heldBytes: MAX_STORED_TRANSCRIPT_BYTES } : {};
}

function droppedWithin(
  state: ConversationState,
  budget: number,
  sizeOf?: (message: Message) => number,
): number {
  const messages = turnsOf(state);
  if (sizeOf === undefined && state.transcriptBytes <= budget) return 0;
  const from = droppedToFit(messages, budget, sizeOf);
  if (state.turn !== undefined) return from;
  return bytesOf(messages.slice(from), sizeOf) > budget ? messages.length : from;
}

/**
 * The messages to offload. Undefined when the messages that would be carried are within bounds, or cannot be offloaded:
 * only turns that have ended can, and finished steps of the one in progress.
 */
export function offloadPlan(
  state: ConversationState,
  bounds: OffloadBounds,
): OffloadPlan | undefined {
  const { transcript } = state;
  // Messages that the roll-over drops in any case are not offloaded first.
  const kept = headLength(transcript) + droppedWithin(state, MAX_STORED_TRANSCRIPT_BYTES);
  const from = Math.max(storedEnd(transcript), kept);
  let left = bytesOf(transcript.slice(from));
  if (left <= bounds.fromBytes) return undefined;
  const chunks: number[] = [];
  let room = 0;
  for (const unit of unitsFrom(state, from)) {
    if (left <= bounds.keepBytes) break;
    const bytes = bytesOf(transcript.slice(unit.from, unit.to));
    const count = unit.to - unit.from;
    if (bytes > room) {
      chunks.push(0);
      room = bounds.chunkBytes;
    }
    chunks.push((chunks.pop() ?? 0) + count);
    room -= bytes;
    left -= bytes;
  }
  const count = chunks.reduce((sum, messages) => sum + messages, 0);
  return count === 0 ? undefined : { messages: transcript.slice(from, from + count), chunks };
}

type Unit = Pick<TurnSpan, 'from' | 'to'>;

/**
 * Units that are offloaded together, from an index on: a turn, or the rest of one; for the turn in progress its
 * finished steps.
 */
function unitsFrom(state: ConversationState, from: number): readonly Unit[] {
  const { transcript, turn } = state;
  const units: Unit[] = [];
  for (const span of turnSpans(transcript)) {
    if (span.to <= from) continue;
    const rest = { from: Math.max(from, span.from), to: span.to };
    if (span.turnId !== turn?.turnId) units.push(rest);
    else units.push(...finishedSteps(transcript, rest));
  }
  return units;
}

/**
 * Units of an assistant message with the results of its calls; any other message is a unit of its own. Stops before
 * calls without results.
 */
function finishedSteps(transcript: readonly Message[], { from, to }: Unit): readonly Unit[] {
  const steps: Unit[] = [];
  let at = from;
  while (at < to) {
    let end = at + 1;
    while (end < to && transcript[end]?.role === 'tool') end += 1;
    const message = transcript[at];
    const asks =
      message?.role === 'assistant' && message.parts.some(({ type }) => type === 'tool_call');
    if (asks && end === at + 1) return steps;
    steps.push({ from: at, to: end });
    at = end;
  }
  return steps;
}

/** The transcript without the summary. */
function turnsOf({ transcript }: ConversationState): readonly Message[] {
  return transcript.slice(headLength(transcript));
}

function besidesTurns(state: ConversationState): number {
  const { transcript } = state;
  const summary = transcript.slice(0, headLength(transcript));
  return utf8Bytes(JSON.stringify({ ...state, transcript: summary }));
}

function bytesOf(messages: readonly Message[], sizeOf = messageBytes): number {
  return messages.reduce((sum, message) => sum + sizeOf(message), 0);
}

export function carriedMemory(state: ConversationState): CarriedMemory {
  const { messages, chunks } = carriedTranscript(state);
  const stored = chunks.length > 0;
  return {
    version: CARRIED_VERSION,
    state: stored ? { ...state, transcript: messages } : state,
    ...(stored ? { chunks } : {}),
  };
}

/** The inverse of `carriedMemory`. */
export function stateIn({ state: plain, chunks }: CarriedMemory): ConversationState {
  const state = plain as ConversationState;
  if (chunks === undefined) return state;
  return { ...state, transcript: restoredTranscript({ messages: state.transcript, chunks }) };
}

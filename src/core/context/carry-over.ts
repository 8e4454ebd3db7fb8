/**
 * The state in the form that a roll-over carries to the next run, the part of the transcript that it carries, and the
 * part that is offloaded to the blob store. Pure.
 */
import type { ContextMark } from '../../protocol/conversation/context.js';
import type {
  CarriedMemory,
  OffloadBounds,
} from '../../protocol/conversation/offloaded-messages.js';
import { CARRIED_VERSION } from '../../protocol/conversation/offloaded-messages.js';
import {
  MAX_CARRIED_TRANSCRIPT_BYTES,
  MAX_STORED_TRANSCRIPT_BYTES,
  MAX_TOMBSTONE_BYTES,
} from '../../protocol/limits/limits.js';
import { utf8Bytes } from '../../protocol/values/json.js';
import type { CallModelInput } from '../../protocol/workflow/activities.js';
import type { ConversationState } from '../state/state.js';
import {
  countMessages,
  isOffloaded,
  type TranscriptItem,
  wholeMessages,
} from '../state/transcript.js';
import { type OffloadPlan, offloadedItems } from './offloaded.js';
import { bytesOf, messageBytes } from './transcript.js';
import type { TurnSpan } from './turn-spans.js';
import { headLength, turnSpans } from './turn-spans.js';

/**
 * Number of the oldest items to leave out, so that the newest whole turns fit into `maxBytes`; always keeps at least
 * the newest turn. Whole turns, because a provider refuses a tool call without its result.
 */
export function droppedToFit(
  items: readonly TranscriptItem[],
  maxBytes: number,
  sizeOf: (item: TranscriptItem) => number = messageBytes,
): number {
  let bytes = 0;
  let keepFrom = items.length;
  let index = items.length - 1;
  while (index >= 0) {
    const turnId = items[index]?.turnId;
    let first = index;
    while (first > 0 && items[first - 1]?.turnId === turnId) first -= 1;
    bytes += bytesOf(items.slice(first, index + 1), sizeOf);
    if (bytes > maxBytes && keepFrom < items.length) break;
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
  return besidesTurns(state) + bytesOf(turnsOf(state).slice(droppedItems(state)), carriedSize);
}

/**
 * Number of the oldest messages that a roll-over drops: all, if necessary, except those of a turn in progress. The
 * summary is not counted: it is always carried.
 */
export function droppedAtRollOver(state: ConversationState): number {
  return countMessages(turnsOf(state).slice(0, droppedItems(state)));
}

function droppedItems(state: ConversationState): number {
  const left = MAX_CARRIED_STATE_BYTES - besidesTurns(state);
  const carried = Math.min(MAX_CARRIED_TRANSCRIPT_BYTES, left);
  if (!state.transcript.some(isOffloaded)) return droppedWithin(state, carried);
  return Math.max(
    droppedWithin(state, MAX_STORED_TRANSCRIPT_BYTES),
    droppedWithin(state, carried, carriedSize),
  );
}

/** Bytes of an item itself, where a reference does not count for its messages. */
function carriedSize(item: TranscriptItem): number {
  return utf8Bytes(JSON.stringify(item));
}

/**
 * Bytes of transcript that the conversation can hold, as a field of a model call's input. Offloaded messages show that
 * there is a blob store.
 */
export function heldBytesOf({
  transcript,
}: Pick<ConversationState, 'transcript'>): Pick<CallModelInput, 'heldBytes'> {
  return transcript.some(isOffloaded) ? { heldBytes: MAX_STORED_TRANSCRIPT_BYTES } : {};
}

/** The facts about the previous model call that the next one is given. */
export function markOf({ context }: ConversationState): { readonly context?: ContextMark } {
  if (context === undefined) return {};
  const { tokens, inputTokens, rough, scale, fromTurnId, evictedAsOf } = context;
  return {
    context: {
      tokens,
      inputTokens,
      ...(rough === undefined ? {} : { rough }),
      ...(scale === undefined ? {} : { scale }),
      ...(fromTurnId === undefined ? {} : { fromTurnId }),
      ...(evictedAsOf === undefined ? {} : { evictedAsOf }),
    },
  };
}

function droppedWithin(
  state: ConversationState,
  budget: number,
  sizeOf?: (item: TranscriptItem) => number,
): number {
  const items = turnsOf(state);
  if (sizeOf === undefined && state.transcriptBytes <= budget) return 0;
  const from = droppedToFit(items, budget, sizeOf);
  if (state.turn !== undefined) return from;
  return bytesOf(items.slice(from), sizeOf) > budget ? items.length : from;
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
  const from = Math.max(offloadedItems(transcript), kept);
  let left = state.transcriptBytes - bytesOf(transcript.slice(0, from));
  if (left <= bounds.fromBytes) return undefined;
  const chunks: number[] = [];
  let leftInChunk = 0;
  for (const unit of unitsFrom(state, from)) {
    if (left <= bounds.keepBytes) break;
    const bytes = bytesOf(transcript.slice(unit.from, unit.to));
    const count = unit.to - unit.from;
    if (bytes > leftInChunk) {
      chunks.push(0);
      leftInChunk = bounds.chunkBytes;
    }
    chunks.push((chunks.pop() ?? 0) + count);
    leftInChunk -= bytes;
    left -= bytes;
  }
  const count = chunks.reduce((sum, messages) => sum + messages, 0);
  const messages = wholeMessages(transcript.slice(from, from + count));
  return count === 0 ? undefined : { messages, chunks };
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
function finishedSteps(transcript: readonly TranscriptItem[], { from, to }: Unit): readonly Unit[] {
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
function turnsOf({ transcript }: ConversationState): readonly TranscriptItem[] {
  return transcript.slice(headLength(transcript));
}

function besidesTurns(state: ConversationState): number {
  const { transcript } = state;
  const summary = transcript.slice(0, headLength(transcript));
  return utf8Bytes(JSON.stringify({ ...withinBytes(state), transcript: summary }));
}

/**
 * The state with the ended calls that a roll-over carries: the newest that have `MAX_TOMBSTONE_BYTES` together. Nearly
 * always these are all; only a thousand very long names of tools and people need more. Accepted requests need no bound
 * in bytes: their rows have no text of any length.
 */
function withinBytes(state: ConversationState): ConversationState {
  const { tombstones } = state;
  let from = tombstones.length;
  let bytes = 0;
  while (from > 0) {
    bytes += utf8Bytes(JSON.stringify(tombstones[from - 1])) + 1;
    if (bytes > MAX_TOMBSTONE_BYTES) break;
    from -= 1;
  }
  return from === 0 ? state : { ...state, tombstones: tombstones.slice(from), forgetsCalls: true };
}

/** The state in the form of the next run's input: plain JSON, its ended calls within `MAX_TOMBSTONE_BYTES`. */
export function toCarryOver(state: ConversationState): CarriedMemory {
  return { version: CARRIED_VERSION, state: withinBytes(state) };
}

/** The inverse of `toCarryOver`, but for calls that did not fit. */
export function fromCarryOver({ state }: CarriedMemory): ConversationState {
  return state as ConversationState;
}

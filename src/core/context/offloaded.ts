/**
 * Messages whose bodies are in the blob store. The event `transcript_offloaded` puts items in their place that have all
 * that decisions need; code that sends messages to a worker names the offloaded ones. Pure.
 *
 * W1  Every decision is the same as with the messages themselves.
 * W2  A summary is never offloaded, nor a step that has not ended. Finished steps of a turn in progress may be.
 */
import type { Message } from '../../protocol/conversation/messages.js';
import { resultsIn } from '../../protocol/conversation/messages.js';
import {
  isStoredPart,
  type TranscriptPiece,
} from '../../protocol/conversation/offloaded-messages.js';
import type { TranscriptOffloaded } from '../../protocol/log/events.js';
import type { ConversationState } from '../state/state.js';
import {
  countMessages,
  isOffloaded,
  type OffloadedMessages,
  type TranscriptItem,
  wholeMessages,
} from '../state/transcript.js';
import { bytesOf } from './transcript.js';
import { turnSpans } from './turn-spans.js';

/** Index after the last offloaded item; 0 when there is none. */
export function offloadedItems(items: readonly TranscriptItem[]): number {
  return items.findLastIndex(isOffloaded) + 1;
}

/** Number of messages up to the last offloaded one; 0 when there is none. */
export function offloadedEnd(items: readonly TranscriptItem[]): number {
  return countMessages(items.slice(0, offloadedItems(items)));
}

/**
 * The messages from one place among them to another (exclusive), the offloaded ones as ranges of their chunks, as few
 * as possible.
 */
export function piecesOf(
  items: readonly TranscriptItem[],
  from = 0,
  to = Infinity,
): readonly TranscriptPiece[] {
  const pieces: TranscriptPiece[] = [];
  let whole: Message[] | undefined;
  let at = 0;
  for (const item of items) {
    const count = countMessages([item]);
    const first = Math.max(0, from - at);
    const end = Math.min(count, to - at);
    at += count;
    if (first >= end) continue;
    if (isOffloaded(item)) {
      whole = undefined;
      const part = { id: item.chunk, from: item.from + first, to: item.from + end };
      const last = pieces.at(-1);
      if (last !== undefined && isStoredPart(last) && last.id === part.id && last.to === part.from)
        pieces[pieces.length - 1] = { ...last, to: part.to };
      else pieces.push(part);
      continue;
    }
    if (whole === undefined) {
      whole = [];
      pieces.push({ messages: whole });
    }
    whole.push(item);
  }
  return pieces;
}

/** Ids of the chunks that the transcript refers to. */
export function chunkIdsIn(items: readonly TranscriptItem[]): ReadonlySet<string> {
  return new Set(items.filter(isOffloaded).map(({ chunk }) => chunk));
}

/**
 * Messages to offload, whole turns or finished steps that follow each other; `chunks` has the number of messages of
 * each chunk.
 */
export interface OffloadPlan {
  readonly messages: readonly Message[];
  readonly chunks: readonly number[];
}

/** The messages of each chunk. */
export function chunksOf({ messages, chunks }: OffloadPlan): readonly (readonly Message[])[] {
  let from = 0;
  return chunks.map((count) => {
    from += count;
    return messages.slice(from - count, from);
  });
}

/** The event that records a plan that was carried out. `ids`: the blob of each chunk. */
export function offloadedEvent(
  { messages, chunks }: OffloadPlan,
  ids: readonly string[],
): TranscriptOffloaded {
  return {
    type: 'transcript_offloaded',
    fromMessageId: messages[0]?.id ?? '',
    throughMessageId: messages.at(-1)?.id ?? '',
    chunks: chunks.map((count, index) => ({ id: ids[index] ?? '', messages: count })),
  };
}

/**
 * The messages of an event, by chunk. Undefined when some of them have left the transcript in the meantime, or are
 * offloaded already.
 */
export function messagesOffloaded(
  { transcript }: Pick<ConversationState, 'transcript'>,
  { fromMessageId, throughMessageId, chunks }: TranscriptOffloaded,
): readonly (readonly Message[])[] | undefined {
  const counts = chunks.map(({ messages }) => messages);
  const count = counts.reduce((sum, messages) => sum + messages, 0);
  const at = placeOf(transcript, fromMessageId);
  const messages = at < 0 ? [] : wholeMessages(transcript.slice(at, at + count));
  if (messages.length < count || messages.at(-1)?.id !== throughMessageId) return undefined;
  return chunksOf({ messages, chunks: counts });
}

/** Replaces the messages of the event by references; unchanged when they are not in the transcript any more. */
export function withOffloaded(
  state: ConversationState,
  event: TranscriptOffloaded,
): ConversationState {
  const chunks = messagesOffloaded(state, event);
  if (chunks === undefined) return state;
  const { transcript } = state;
  const at = placeOf(transcript, event.fromMessageId);
  const open = openTurns(state);
  const items = chunks.flatMap((messages, index) =>
    itemsOfChunk(event.chunks[index]?.id ?? '', messages, open),
  );
  const rest = transcript.slice(at + chunks.flat().length);
  return { ...state, transcript: [...transcript.slice(0, at), ...items, ...rest] };
}

function placeOf(transcript: readonly TranscriptItem[], messageId: string): number {
  return transcript.findIndex((item) => !isOffloaded(item) && item.id === messageId);
}

function itemsOfChunk(
  chunk: string,
  messages: readonly Message[],
  open: ReadonlySet<string>,
): readonly OffloadedMessages[] {
  return turnSpans(messages).map(({ turnId, from, to }) => {
    const ofTurn = messages.slice(from, to);
    const calls = ofTurn.flatMap(callIdsIn);
    const results = open.has(turnId) ? ofTurn.flatMap(resultsIn) : [];
    return {
      role: 'offloaded',
      turnId,
      id: ofTurn.at(-1)?.id ?? '',
      chunk,
      from,
      to,
      bytes: bytesOf(ofTurn),
      ...(calls.length === 0 ? {} : { calls }),
      ...(results.length === 0 ? {} : { results }),
    };
  });
}

/** Ids of the tool calls for which an item stands. */
export function callIdsIn(item: TranscriptItem): readonly string[] {
  if (isOffloaded(item)) return item.calls ?? [];
  if (item.role !== 'assistant') return [];
  return item.parts.flatMap((part) => (part.type === 'tool_call' ? [part.toolCallId] : []));
}

/** Leaves out the results of turns whose calls have all ended: no policy reads them any more. */
export function withoutSettledResults(state: ConversationState): ConversationState {
  const { transcript } = state;
  if (!transcript.some((item) => isOffloaded(item) && item.results !== undefined)) return state;
  const open = openTurns(state);
  return {
    ...state,
    transcript: transcript.map((item) => {
      if (!isOffloaded(item) || open.has(item.turnId)) return item;
      const { results: _settled, ...rest } = item;
      return rest;
    }),
  };
}

/** Turns with calls that are open, or that may still make calls: policies of those may read the turn's results. */
function openTurns({ calls, turn }: ConversationState): ReadonlySet<string> {
  const ofCalls = Object.values(calls).map(({ turnId }) => turnId);
  return new Set(turn === undefined ? ofCalls : [...ofCalls, turn.turnId]);
}

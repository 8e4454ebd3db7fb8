/**
 * Messages whose bodies are offloaded to the blob store. The state of a run has placeholders for them: with the same
 * turn and size and the ids of their calls, otherwise empty. Decisions of the core that do not read messages treat
 * placeholders like messages; code that sends messages to a worker names the offloaded ones. Pure.
 *
 * W1  Placeholders are recognised by object identity, so they are never copied; JSON of a state loses the reference.
 *     Only the functions of this module carry them from one run to the next.
 * W2  A summary is never offloaded, nor a step that has not ended. Finished steps of a turn in progress may be.
 */
import type { EarlierResult } from '../../protocol/calls/results.js';
import type { Message, ToolResultPart } from '../../protocol/conversation/messages.js';
import { resultsIn } from '../../protocol/conversation/messages.js';
import {
  type CarriedChunk,
  type CarriedMessage,
  type CarriedTurn,
  type ChunkRef,
  isStoredPart,
  type StoredPart,
  type TranscriptPiece,
} from '../../protocol/conversation/offloaded-messages.js';
import type { ConversationState } from '../state/state.js';
import { measured, messageBytes } from './transcript.js';

interface Place {
  readonly chunk: ChunkRef;
  readonly index: number;
}

const places = new WeakMap<Message, Place>();

export function isStored(message: Message): boolean {
  return places.has(message);
}

/** Approximate bytes of an offloaded message in a payload: its size and the ids of its calls. */
const STORED_BYTES = 128;
const STORED_BYTES_PER_PART = 160;

/** Approximate bytes of a message in a payload, where offloaded messages are named and not sent. */
export function sizeInPayload(message: Message): number {
  if (!isStored(message)) return messageBytes(message);
  return STORED_BYTES + message.parts.length * STORED_BYTES_PER_PART;
}

/** Index after the last offloaded message; 0 when there is none. */
export function storedEnd(messages: readonly Message[]): number {
  return messages.findLastIndex(isStored) + 1;
}

/** The same messages, with the offloaded ones as ranges of their chunks, as few as possible. */
export function piecesOf(messages: readonly Message[]): readonly TranscriptPiece[] {
  const pieces: TranscriptPiece[] = [];
  let whole: Message[] | undefined;
  for (const message of messages) {
    const place = places.get(message);
    if (place === undefined) {
      if (whole === undefined) {
        whole = [];
        pieces.push({ messages: whole });
      }
      whole.push(message);
      continue;
    }
    whole = undefined;
    const last = pieces.at(-1);
    if (last !== undefined && isStoredPart(last) && goesOn(last, place))
      pieces[pieces.length - 1] = { ...last, to: place.index + 1 };
    else pieces.push({ ...place.chunk, from: place.index, to: place.index + 1 });
  }
  return pieces;
}

function goesOn(part: StoredPart, { chunk, index }: Place): boolean {
  return part.id === chunk.id && part.to === index;
}

/**
 * Messages to offload, whole turns or finished steps that follow each other; `chunks` has the number of messages of
 * each chunk.
 */
export interface OffloadPlan {
  readonly messages: readonly Message[];
  readonly chunks: readonly number[];
}

export interface Offloaded {
  readonly plan: OffloadPlan;
  /** Blob id of each chunk. */
  readonly ids: readonly string[];
}

/**
 * The state with placeholders for the offloaded messages; unchanged when some of them have left the transcript in the
 * meantime.
 */
export function withStored(state: ConversationState, { plan, ids }: Offloaded): ConversationState {
  const transcript = [...state.transcript];
  const [first] = plan.messages;
  let at = first === undefined ? -1 : transcript.indexOf(first);
  if (at < 0) return state;
  const open = openTurns(state);
  for (const [ordinal, count] of plan.chunks.entries()) {
    const messages = transcript.slice(at, at + count);
    const chunk: ChunkRef = { id: ids[ordinal] ?? '', ...extentOf(state, { at, count }) };
    const turns = turnsOf(messages, open);
    transcript.splice(at, count, ...placeholdersOf({ ...chunk, at, from: 0, turns }));
    at += count;
  }
  return { ...state, transcript };
}

/** The turns of these messages, and the first and last message where the turns are not complete. */
function extentOf(
  { transcript, turn }: ConversationState,
  { at, count }: { readonly at: number; readonly count: number },
): Omit<ChunkRef, 'id'> {
  const first = transcript[at];
  const last = transcript[at + count - 1];
  const fromTurnId = first?.turnId ?? '';
  const throughTurnId = last?.turnId ?? '';
  const isWhole =
    transcript[at - 1]?.turnId !== fromTurnId &&
    transcript[at + count]?.turnId !== throughTurnId &&
    turn?.turnId !== throughTurnId;
  if (isWhole) return { fromTurnId, throughTurnId };
  return {
    fromTurnId,
    throughTurnId,
    fromMessageId: first?.id ?? '',
    throughMessageId: last?.id ?? '',
  };
}

/**
 * The part of the transcript that a roll-over carries: messages with their bodies, and the facts about offloaded ones.
 */
export interface CarriedTranscript {
  readonly messages: readonly Message[];
  readonly chunks: readonly CarriedChunk[];
}

export function carriedTranscript(state: ConversationState): CarriedTranscript {
  const { transcript } = state;
  if (storedEnd(transcript) === 0) return { messages: transcript, chunks: [] };
  const open = openTurns(state);
  const chunks: CarriedChunk[] = [];
  let at = 0;
  for (const piece of piecesOf(transcript)) {
    if (!isStoredPart(piece)) {
      at += piece.messages.length;
      continue;
    }
    const { to, ...chunk } = piece;
    const turns = turnsOf(transcript.slice(at, at + to - chunk.from), open);
    chunks.push({ ...chunk, at, turns });
    at += to - chunk.from;
  }
  return { messages: transcript.filter((message) => !isStored(message)), chunks };
}

/** The inverse of `carriedTranscript`. */
export function restoredTranscript({ messages, chunks }: CarriedTranscript): readonly Message[] {
  const transcript = [...messages];
  for (const chunk of chunks) transcript.splice(chunk.at, 0, ...placeholdersOf(chunk));
  return transcript;
}

/** Ids of the chunks that the transcript refers to. */
export function chunkIdsIn(messages: readonly Message[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const message of messages) {
    const place = places.get(message);
    if (place !== undefined) ids.add(place.chunk.id);
  }
  return ids;
}

/** Turns with calls that are open, or that may still make calls: policies of those may read the turn's results. */
function openTurns({ calls, turn }: ConversationState): ReadonlySet<string> {
  const ofCalls = Object.values(calls).map(({ turnId }) => turnId);
  return new Set(turn === undefined ? ofCalls : [...ofCalls, turn.turnId]);
}

function turnsOf(messages: readonly Message[], open: ReadonlySet<string>): readonly CarriedTurn[] {
  const turns: CarriedTurn[] = [];
  let from = 0;
  while (from < messages.length) {
    const turnId = messages[from]?.turnId ?? '';
    let to = from + 1;
    while (to < messages.length && messages[to]?.turnId === turnId) to += 1;
    const ofTurn = messages.slice(from, to);
    turns.push({
      turnId,
      lastId: ofTurn.at(-1)?.id ?? '',
      messages: ofTurn.map((message) => carriedMessage(message, open.has(turnId))),
    });
    from = to;
  }
  return turns;
}

function carriedMessage(message: Message, isOpen: boolean): CarriedMessage {
  const calls =
    message.role === 'assistant'
      ? message.parts.flatMap((part) => (part.type === 'tool_call' ? [part.toolCallId] : []))
      : [];
  const results = isOpen ? resultsIn(message) : [];
  return {
    role: message.role,
    bytes: messageBytes(message),
    ...(calls.length === 0 ? {} : { calls }),
    ...(results.length === 0 ? {} : { results }),
  };
}

function placeholdersOf(carried: CarriedChunk): readonly Message[] {
  const { at: _at, from, turns, ...chunk } = carried;
  let index = from;
  return turns.flatMap(({ turnId, lastId, messages }) =>
    messages.map((message, ordinal) => {
      const isLast = ordinal === messages.length - 1;
      const standIn = placeholderFor(message, { turnId, id: isLast ? lastId : '' });
      measured(standIn, message.bytes);
      places.set(standIn, { chunk, index });
      index += 1;
      return standIn;
    }),
  );
}

function placeholderFor(
  { role, calls = [], results = [] }: CarriedMessage,
  own: Pick<Message, 'id' | 'turnId'>,
): Message {
  switch (role) {
    case 'user':
      return { role, ...own, parts: [] };
    case 'assistant':
      return {
        role,
        ...own,
        step: 0,
        parts: calls.map((toolCallId) => ({
          type: 'tool_call',
          toolCallId,
          name: '',
          argumentsJson: '',
        })),
        ...(results.length === 0 ? {} : { providerResults: results }),
      };
    case 'tool':
      return { role, ...own, step: 0, parts: results.map(resultPlaceholder) };
  }
}

function resultPlaceholder({ toolCallId, name, ok, provenance }: EarlierResult): ToolResultPart {
  return {
    type: 'tool_result',
    toolCallId,
    name,
    envelope: ok ? { ok, result: null } : { ok, error: { code: 'tool_error', message: '' } },
    ...(provenance === 'untrusted' ? { provenance } : {}),
  };
}

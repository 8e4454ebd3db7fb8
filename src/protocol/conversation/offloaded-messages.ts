/**
 * Messages of a transcript that lie in the blob store, and what stands for them where they are not needed. Runs anywhere.
 *
 * A chunk is one blob: JSON `{"messages": [...]}`, whole turns in their order, or finished steps of a turn. Its id is the hash of its content, so it never
 * changes, and putting it again changes nothing.
 */

import type { EarlierResult } from '../calls/results.js';
import {
  SPILL_CHUNK_BYTES,
  SPILL_FROM_BYTES,
  SPILL_KEEP_BYTES,
  SPILL_TURN_BYTES,
} from '../limits/limits.js';
import { isBlobId } from '../values/blobs.js';
import type { ConversationKey, MessageId, ToolCallId, TurnId } from '../values/ids.js';
import { isRecord } from '../values/json.js';
import type { Message } from './messages.js';

/** Which blob, and which turns the whole of it is of: from the event log of these it can be made again. */
export interface ChunkRef {
  readonly id: string;
  readonly fromTurnId: TurnId;
  readonly throughTurnId: TurnId;
  /** Its first and its last message, where it begins or ends within a turn. Absent: it has these turns whole. */
  readonly fromMessageId?: MessageId;
  readonly throughMessageId?: MessageId;
}

/** Messages of a chunk, from one index in it to another (exclusive). */
export interface StoredPart extends ChunkRef {
  readonly from: number;
  readonly to: number;
}

/** Messages in their order: as they are, or where they lie. */
export type TranscriptPiece = { readonly messages: readonly Message[] } | StoredPart;

/** What a roll-over carries of one chunk: enough for all that is decided about messages without reading them. */
export interface CarriedChunk extends ChunkRef {
  /** Place in the transcript of the first message that is left of it. */
  readonly at: number;
  /** Its index in the chunk. */
  readonly from: number;
  readonly turns: readonly CarriedTurn[];
}

export interface CarriedTurn {
  readonly turnId: TurnId;
  /** Id of its last message: a summary names by it how far it goes. */
  readonly lastId: MessageId;
  readonly messages: readonly CarriedMessage[];
}

export interface CarriedMessage {
  readonly role: Message['role'];
  /** As JSON. */
  readonly bytes: number;
  /** Calls that it asks for: their ids stay taken. Absent when there are none. */
  readonly calls?: readonly ToolCallId[];
  /** Results in it, where a call of its turn is still open: policies of that call look at them. */
  readonly results?: readonly EarlierResult[];
}

/** When the oldest turns, and steps, are stored at a roll-over, each a number from 1. Pinned when the conversation starts: what a run does depends on it. */
export interface SpillBounds {
  /** From so many bytes of messages that would be carried whole. */
  readonly fromBytes: number;
  /** So many bytes of the newest turns stay. */
  readonly keepBytes: number;
  /** No chunk is larger, unless one turn is, or one step. */
  readonly chunkBytes: number;
  /** From so many bytes of the running turn that are not stored, its run rolls over. Absent: from no number. */
  readonly turnBytes?: number;
}

export const SPILL_BOUNDS: SpillBounds = {
  fromBytes: SPILL_FROM_BYTES,
  keepBytes: SPILL_KEEP_BYTES,
  chunkBytes: SPILL_CHUNK_BYTES,
  turnBytes: SPILL_TURN_BYTES,
};

export interface SpillTranscriptInput extends ConversationKey {
  /** The messages: those of the epoch from one place to another (exclusive), and `transcriptHash` over just these. */
  readonly messages: {
    readonly epoch: number;
    readonly from: number;
    readonly to: number;
    readonly hash: string;
  };
  /** How many of them go into each chunk, in their order. Empty when there is nothing to store. */
  readonly chunks: readonly number[];
  /** Ids of chunks that nothing refers to any more: removed. Absent when there are none. */
  readonly unused?: readonly string[];
  /**
   * What was ordered before, and may have been stored without the run having been told: chunks of these that are not among the new ones
   * are removed. Absent when there is none.
   */
  readonly untold?: readonly Pick<SpillTranscriptInput, 'messages' | 'chunks'>[];
}

/** An order to store messages of which no answer came: where they began, and how many were to go into each chunk. */
export interface UntoldSpill {
  readonly firstId: MessageId;
  readonly chunks: readonly number[];
}

export interface SpillTranscriptResult {
  /** Of each chunk. Absent when this worker has no blob store. */
  readonly ids?: readonly string[];
}

/** Version of the form below. A worker refuses carried state of another version. */
export const CARRIED_VERSION = 1;

/** What a conversation remembers, in the form in which it goes from one run to the next. Opaque to everyone but `core`. */
export interface CarriedMemory {
  readonly version: typeof CARRIED_VERSION;
  readonly state: unknown;
  /** Messages that lie in the blob store. Absent when none do. */
  readonly chunks?: readonly CarriedChunk[];
}

export function chunkText(messages: readonly Message[]): string {
  return JSON.stringify({ messages });
}

/** Undefined when the text is no chunk. Its messages are taken for what they claim to be: the id has proved the text. */
export function messagesOfChunk(text: string): readonly Message[] | undefined {
  const chunk: unknown = JSON.parse(text);
  return isRecord(chunk) && Array.isArray(chunk['messages'])
    ? (chunk['messages'] as readonly Message[])
    : undefined;
}

/** What stands for the messages of a part in the hash of a transcript: whoever has not read them knows it, too. */
export function hashedPart({ id, from, to }: StoredPart): string {
  return `stored ${id} ${from} ${to}`;
}

export function isStoredPart(piece: TranscriptPiece): piece is StoredPart {
  return 'id' in piece;
}

/** Whether the answer of the activity is one id for each chunk that it was to store. */
export function areChunkIds(ids: unknown, count: number): ids is readonly string[] {
  return Array.isArray(ids) && ids.length === count && ids.every(isBlobId);
}

/**
 * Messages of a transcript that are offloaded to the blob store, and the references in their place. Runs anywhere.
 *
 * A chunk is one blob: JSON `{"messages": [...]}`, whole turns in their order, or finished steps of a turn. Its id is
 * the hash of its content, so it never changes, and writing it again changes nothing.
 */

import {
  OFFLOAD_CHUNK_BYTES,
  OFFLOAD_FROM_BYTES,
  OFFLOAD_KEEP_BYTES,
  OFFLOAD_TURN_BYTES,
} from '../limits/limits.js';
import { isBlobId } from '../values/blobs.js';
import type { ConversationKey, MessageId } from '../values/ids.js';
import { isRecord } from '../values/json.js';
import type { Message } from './messages.js';

/** Messages of a chunk, from one index in it to another (exclusive). */
export interface StoredPart {
  readonly id: string;
  readonly from: number;
  readonly to: number;
}

/** Messages in their order: inline, or as a reference. */
export type TranscriptPiece = { readonly messages: readonly Message[] } | StoredPart;

/**
 * Bounds of offloading at a roll-over, each a number from 1. Pinned when the conversation starts, since the decisions
 * of a run depend on them.
 */
export interface OffloadBounds {
  /** Offloads once the messages that would be carried inline have this many bytes. */
  readonly fromBytes: number;
  /** Bytes of the newest turns that stay inline. */
  readonly keepBytes: number;
  /** No chunk is larger, unless a single turn or step is. */
  readonly chunkBytes: number;
  /**
   * Bytes of the running turn, offloaded messages excluded, from which its run rolls over. Absent: the turn's size
   * never causes a roll-over.
   */
  readonly turnBytes?: number;
}

export const OFFLOAD_BOUNDS: OffloadBounds = {
  fromBytes: OFFLOAD_FROM_BYTES,
  keepBytes: OFFLOAD_KEEP_BYTES,
  chunkBytes: OFFLOAD_CHUNK_BYTES,
  turnBytes: OFFLOAD_TURN_BYTES,
};

export interface OffloadTranscriptInput extends ConversationKey {
  /** The messages: those of the epoch from one place to another (exclusive), and `transcriptHash` over them alone. */
  readonly messages: {
    readonly epoch: number;
    readonly from: number;
    readonly to: number;
    readonly hash: string;
  };
  /** Number of messages for each chunk, in their order. Empty when there is nothing to offload. */
  readonly chunks: readonly number[];
  /** Ids of chunks without a reference, to be removed. Absent when there are none. */
  readonly unused?: readonly string[];
  /**
   * Earlier orders without an answer, which may have been carried out nevertheless: their chunks that are not among the
   * new ones are removed. Absent when there are none.
   */
  readonly unacknowledged?: readonly Pick<OffloadTranscriptInput, 'messages' | 'chunks'>[];
}

/** An order to offload messages that got no answer: its first message, and the number of messages for each chunk. */
export interface UnacknowledgedOffload {
  readonly firstId: MessageId;
  readonly chunks: readonly number[];
}

export interface OffloadTranscriptResult {
  /** Ids of the chunks, in order. Absent when this worker has no blob store. */
  readonly ids?: readonly string[];
}

/** Version of the form of `CarriedMemory`. A worker refuses carried state of another version. */
export const CARRIED_VERSION = 1;

/** A conversation's state in the form in which one run passes it to the next. Opaque to all folders but `core`. */
export interface CarriedMemory {
  readonly version: typeof CARRIED_VERSION;
  readonly state: unknown;
}

export function chunkText(messages: readonly Message[]): string {
  return JSON.stringify({ messages });
}

/**
 * The messages of a chunk, unchecked, since the id has proved the text. Undefined when the JSON is no chunk. @throws
 * {SyntaxError} when the text is no JSON
 */
export function messagesOfChunk(text: string): readonly Message[] | undefined {
  const chunk: unknown = JSON.parse(text);
  return isRecord(chunk) && Array.isArray(chunk['messages'])
    ? (chunk['messages'] as readonly Message[])
    : undefined;
}

/** The text that stands for the messages of a part in the hash of a transcript; known without reading them. */
export function hashedPart({ id, from, to }: StoredPart): string {
  return `stored ${id} ${from} ${to}`;
}

export function isStoredPart(piece: TranscriptPiece): piece is StoredPart {
  return 'id' in piece;
}

/** Whether the activity's answer has one id for each chunk of its order. */
export function areChunkIds(ids: unknown, count: number): ids is readonly string[] {
  return Array.isArray(ids) && ids.length === count && ids.every(isBlobId);
}

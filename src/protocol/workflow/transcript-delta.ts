/** How the transcript of a model call is sent to a worker: only what it was not sent before. */
import type { Message } from '../conversation/messages.js';
import type { StoredPart, TranscriptPiece } from '../conversation/offloaded-messages.js';
import { fingerprint } from '../values/json.js';

/**
 * The transcript of one model call: `append` after `base` messages that an earlier model call of the same run and epoch
 * was given, so that history grows only by the new messages. A worker without the base queries the run for it
 * (`transcriptSlice`); if it cannot, it fails with `TRANSCRIPT_MISS`, and the next activity gets everything.
 */
export interface TranscriptDelta {
  /**
   * Number of the conversation's messages that are left out before the first, or were replaced by the summary that is
   * the first. Within an epoch, messages are only appended.
   */
  readonly epoch: number;
  /** 0 = everything is in `append`. */
  readonly base: number;
  /** `transcriptHash` over the first `base` messages; absent when there are none. */
  readonly prefixHash?: string;
  /**
   * The first of these messages, where some are offloaded: those that were not given to an earlier model call. Absent:
   * none are, or the worker was given them.
   */
  readonly stored?: readonly TranscriptPiece[];
  readonly append: readonly Message[];
}

/** Failure type of a model call that lacks the messages before `append`. Internal: no caller sees it. */
export const TRANSCRIPT_MISS = 'transcript_miss';

/** Query for messages by their place in an epoch; answered in pages. */
export interface TranscriptQuery {
  readonly epoch: number;
  readonly from: number;
  readonly to: number;
}

export interface TranscriptSlice {
  readonly epoch: number;
  readonly from: number;
  /** The messages that fit into a page: at least one, while there are any. */
  readonly messages: readonly Message[];
  /** Present in place of messages that are offloaded. */
  readonly stored?: StoredPart;
}

/**
 * The hash of a transcript, from the hash of all messages before its last one, and the last one as JSON. The hash
 * before the first message is ''. Messages of one offloaded part are hashed as one, by `hashedPart`.
 */
export function transcriptHash(before: string, messageJson: string): string {
  return fingerprint(`${before} ${messageJson}`);
}

/** The part of the transcript that fits into one payload, and so is sent to the worker of a model call. Pure. */

import type { Message } from '../../protocol/conversation/messages.js';
import type { OffloadBounds } from '../../protocol/conversation/offloaded-messages.js';
import { MAX_STORED_TRANSCRIPT_BYTES, MAX_TRANSCRIPT_BYTES } from '../../protocol/limits/limits.js';
import type { ConversationState } from '../state/state.js';
import { isStored, sizeInPayload } from './offloaded.js';
import { messageBytes } from './transcript.js';
import { headLength, messagesFrom, turnSpans } from './turn-spans.js';

type Visible = Pick<ConversationState, 'transcript' | 'transcriptBytes'>;

/**
 * Share that remains when turns are left out. A window that moves with every message would be sent and processed anew
 * at every call.
 */
const LEFT_AFTER_LEAP = 0.5;

/**
 * Index of the oldest message after the summary that the next model call is sent. The index moves in large steps: when
 * the messages would exceed one payload, whole turns are left out until half of it remains. A function of the
 * transcript alone.
 */
export function visibleFrom(state: Visible): number {
  if (state.transcriptBytes <= MAX_TRANSCRIPT_BYTES) return 0;
  // Offloaded messages are named and not sent.
  return leapingFrom(state.transcript);
}

/** The messages of the next model call. */
export function visibleTranscript(state: Visible): readonly Message[] {
  return messagesFrom(state.transcript, visibleFrom(state));
}

/** Replays the decision for each message in order, so that the index stays until the next large step is due. */
function leapingFrom(transcript: readonly Message[]): number {
  const maxBytes = MAX_TRANSCRIPT_BYTES;
  const bytesOf = (messages: readonly Message[]): number =>
    messages.reduce((sum, message) => sum + sizeInPayload(message), 0);
  const head = headLength(transcript);
  const spans = turnSpans(transcript);
  let bytes = bytesOf(transcript.slice(0, head));
  let first = 0;
  for (const [ordinal, { from, to }] of spans.entries())
    for (let index = from; index < to; index += 1) {
      bytes += bytesOf(transcript.slice(index, index + 1));
      if (bytes <= maxBytes) continue;
      while (first < ordinal && bytes > maxBytes * LEFT_AFTER_LEAP) {
        const dropped = spans[first];
        if (dropped !== undefined) bytes -= bytesOf(transcript.slice(dropped.from, dropped.to));
        first += 1;
      }
    }
  return first === 0 ? 0 : (spans[first]?.from ?? 0);
}

/** True when the turn in progress alone is larger than a conversation may be. */
export function turnTooLong(state: ConversationState): boolean {
  return isTurnOver(state, MAX_STORED_TRANSCRIPT_BYTES);
}

/**
 * True when the next model call of the turn in progress has to wait until finished steps are offloaded: the other
 * messages would not fit into its input.
 */
export function needsOffload(state: ConversationState): boolean {
  const { turn } = state;
  const goesOn = turn?.phase === 'model' && turn.cancel === undefined && turn.stop === undefined;
  return goesOn && isTurnOver(state, MAX_TRANSCRIPT_BYTES, unstoredBytes);
}

/** True when finished steps of the turn in progress should be offloaded soon. */
export function isCrowded(state: ConversationState, bounds: OffloadBounds | undefined): boolean {
  const { turnBytes = Infinity } = bounds ?? {};
  if (state.turn?.phase !== 'model') return false;
  return isTurnOver(state, turnBytes, unstoredBytes);
}

export function turnTooLongText(state: ConversationState): string {
  const have = `The messages of the turn have ${turnBytes(state)} bytes`;
  if (turnTooLong(state))
    return `${have}; a conversation holds at most ${MAX_STORED_TRANSCRIPT_BYTES}`;
  return `${have}; at most ${MAX_TRANSCRIPT_BYTES} can be sent to a model call, and the others could not be stored`;
}

function isTurnOver(
  state: ConversationState,
  bound: number,
  sizeOf?: (message: Message) => number,
): boolean {
  return state.transcriptBytes > bound && turnBytes(state, sizeOf) > bound;
}

/** Bytes of the messages of the turn in progress. */
function turnBytes({ turn, transcript }: ConversationState, sizeOf = messageBytes): number {
  let bytes = 0;
  for (let index = transcript.length - 1; index >= 0; index -= 1) {
    const message = transcript[index];
    if (message === undefined || message.turnId !== turn?.turnId) break;
    bytes += sizeOf(message);
  }
  return bytes;
}

function unstoredBytes(message: Message): number {
  return isStored(message) ? 0 : messageBytes(message);
}

/** The part of the transcript that fits into one payload, and so is sent to the worker of a model call. Pure. */

import type { OffloadBounds } from '../../protocol/conversation/offloaded-messages.js';
import { MAX_STORED_TRANSCRIPT_BYTES, MAX_TRANSCRIPT_BYTES } from '../../protocol/limits/limits.js';
import type { ConversationState } from '../state/state.js';
import { isStopping } from '../state/state.js';
import {
  countMessages,
  isOffloaded,
  type TranscriptItem,
  wholeMessages,
} from '../state/transcript.js';
import { bytesOf, inlineBytes, messageBytes } from './transcript.js';
import { headLength, messagesFrom, turnSpans } from './turn-spans.js';

type Visible = Pick<ConversationState, 'transcript' | 'transcriptBytes'>;

/** Bytes of a reference to offloaded messages in a payload, at most: neighbours in a chunk are named as one. */
const REFERENCE_BYTES = 128;

/**
 * Share that remains when turns are left out. A window that moves with every message would be sent and processed anew
 * at every call.
 */
const LEFT_AFTER_LEAP = 0.5;

/**
 * Index of the oldest item after the summary that the next model call is sent. The index moves in large steps: when
 * the messages would exceed one payload, whole turns are left out until half of it remains. A function of the
 * transcript alone.
 */
export function visibleFrom(state: Visible): number {
  const references = state.transcript.filter(isOffloaded).length * REFERENCE_BYTES;
  const fits = inlineBytes(state) + references <= MAX_TRANSCRIPT_BYTES;
  return fits ? 0 : leapingFrom(state.transcript);
}

/** The messages of the next model call, and the number of those before them. */
export function requestWindow(state: Visible): {
  readonly visible: readonly TranscriptItem[];
  readonly unsent: number;
} {
  const { transcript } = state;
  const from = visibleFrom(state);
  const unsent = countMessages(transcript.slice(0, from));
  return { visible: messagesFrom(transcript, from), unsent };
}

/** The messages of the next model call. */
export function visibleTranscript(state: Visible): readonly TranscriptItem[] {
  return requestWindow(state).visible;
}

/** Replays the decision for each message in order, so that the index stays until the next large step is due. */
function leapingFrom(transcript: readonly TranscriptItem[]): number {
  const maxBytes = MAX_TRANSCRIPT_BYTES;
  const sizes = transcript.map(sentBytes);
  const sentBetween = (from: number, to: number): number =>
    sizes.slice(from, to).reduce((sum, bytes) => sum + bytes, 0);
  const head = headLength(transcript);
  const spans = turnSpans(transcript);
  let bytes = sentBetween(0, head);
  let first = 0;
  for (const [ordinal, { from, to }] of spans.entries())
    for (let index = from; index < to; index += 1) {
      bytes += sizes[index] ?? 0;
      if (bytes <= maxBytes) continue;
      while (first < ordinal && bytes > maxBytes * LEFT_AFTER_LEAP) {
        const dropped = spans[first];
        if (dropped !== undefined) bytes -= sentBetween(dropped.from, dropped.to);
        first += 1;
      }
    }
  return first === 0 ? 0 : (spans[first]?.from ?? 0);
}

/** True when the turn in progress alone is larger than a conversation may be. */
export function turnTooLong(state: ConversationState): boolean {
  const most = MAX_STORED_TRANSCRIPT_BYTES;
  return state.transcriptBytes > most && bytesOf(itemsOfTurn(state)) > most;
}

/**
 * True when the next model call of the turn in progress has to wait until finished steps are offloaded: the other
 * messages would not fit into its input.
 */
export function needsOffload(state: ConversationState): boolean {
  const { turn } = state;
  const continues = turn?.phase === 'model' && !isStopping(turn);
  return continues && isInlineOver(state, MAX_TRANSCRIPT_BYTES);
}

/** True when finished steps of the turn in progress should be offloaded soon. */
export function isCrowded(state: ConversationState, bounds: OffloadBounds | undefined): boolean {
  const { turnBytes = Infinity } = bounds ?? {};
  return state.turn?.phase === 'model' && isInlineOver(state, turnBytes);
}

export function turnTooLongText(state: ConversationState): string {
  const have = `The messages of the turn have ${bytesOf(itemsOfTurn(state))} bytes`;
  if (turnTooLong(state))
    return `${have}; a conversation holds at most ${MAX_STORED_TRANSCRIPT_BYTES}`;
  return `${have}; at most ${MAX_TRANSCRIPT_BYTES} can be sent to a model call, and the others could not be stored`;
}

/**
 * True when the messages of the turn in progress that are not offloaded exceed a bound. Each decision asks this, so
 * messages are measured only where those of the whole transcript exceed it.
 */
function isInlineOver(state: ConversationState, bound: number): boolean {
  return inlineBytes(state) > bound && bytesOf(wholeMessages(itemsOfTurn(state))) > bound;
}

/** The items of the turn in progress. */
function itemsOfTurn({ turn, transcript }: ConversationState): readonly TranscriptItem[] {
  return transcript.slice(transcript.findLastIndex((item) => item.turnId !== turn?.turnId) + 1);
}

/** Bytes that an item takes in the input of a model call. */
function sentBytes(item: TranscriptItem): number {
  return isOffloaded(item) ? REFERENCE_BYTES : messageBytes(item);
}

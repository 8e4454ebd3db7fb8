/**
 * Selects the part of the transcript that the next model call is sent: the messages since an earlier call that
 * returned. Lives as long as the run. After a roll-over, or when old messages are left out, messages that an earlier
 * call received are still not sent again: only the part in front of them, which lies in the blob store or is a summary.
 * A worker that lacks messages queries the run.
 */
import { isStored, piecesOf, storedEnd } from '../../core/context/offloaded.js';
import { visibleFrom, visibleTranscript } from '../../core/context/request-window.js';
import { messageBytes } from '../../core/context/transcript.js';
import { headLength, messagesFrom } from '../../core/context/turn-spans.js';
import type { ConversationState } from '../../core/state/state.js';
import type { Message } from '../../protocol/conversation/messages.js';
import { hashedPart, isStoredPart } from '../../protocol/conversation/offloaded-messages.js';
import { MAX_TRANSCRIPT_PAGE_BYTES } from '../../protocol/limits/limits.js';
import { isRecord } from '../../protocol/values/json.js';
import {
  type TranscriptDelta,
  type TranscriptSlice,
  transcriptHash,
} from '../../protocol/workflow/activities.js';

export class TranscriptWindow {
  /** Where the epoch begins: the number of forgotten messages, and how many of the rest are left out. */
  #begun = { forgotten: 0, from: 0 };
  /** Number of messages of the epoch that a model call which returned has received. */
  #base = 0;
  /** Hashes of the prefixes of the epoch, by length less one. */
  #hashes: string[] = [];
  #sent = 0;
  /** The part of `#sent` that would be sent by reference if all was sent, and the part that is assumed to be known. */
  #stored = 0;
  #taken = 0;
  #sendsFront = false;
  /** Id of the newest message that a model call of this conversation has received. */
  #given = '';
  #newest = '';

  /** `transcript`: the messages with which the run began. */
  constructor({ transcript }: Pick<ConversationState, 'transcript'> = { transcript: [] }) {
    const answer = transcript.findLastIndex(({ role }) => role === 'assistant');
    // The model call of the newest answer received all messages before it.
    this.#given = transcript[answer - 1]?.id ?? '';
  }

  next(state: ConversationState): TranscriptDelta {
    const { forgotten = 0 } = state;
    const from = visibleFrom(state);
    if (from !== this.#begun.from || forgotten !== this.#begun.forgotten)
      this.#begin({ forgotten, from });
    if (state.settings.transcripts === 'full') {
      this.#base = 0;
      this.#given = '';
    }
    const visible = visibleTranscript(state);
    this.#sent = visible.length;
    addHashes(this.#hashes, visible);
    const stored = storedEnd(visible);
    this.#stored = stored;
    this.#newest = visible.at(-1)?.id ?? '';
    const isFirst = this.#base <= stored;
    const known = isFirst ? this.#knownBefore(visible, stored) : 0;
    const base = Math.max(this.#base, stored, known);
    this.#taken = base;
    const front = known > 0 ? Math.max(stored, headLength(visible)) : stored;
    const prefixHash = this.#hashes[base - 1];
    return {
      epoch: forgotten + from,
      base,
      ...(prefixHash === undefined ? {} : { prefixHash }),
      ...(isFirst ? storedPieces(visible, front) : {}),
      append: visible.slice(base),
    };
  }

  /**
   * Number of messages that earlier calls have received, before this run or before others were left out; 0 for none.
   */
  #knownBefore(visible: readonly Message[], stored: number): number {
    if (this.#given === '') return 0;
    const known = visible.findLastIndex(({ id }) => id === this.#given) + 1;
    return known > Math.max(stored, headLength(visible)) ? known : 0;
  }

  /**
   * The first messages of the whole transcript, for work beside the model calls. The worker has them or queries the
   * run. They are sent after a miss, and when the settings say `full`.
   */
  front(state: ConversationState, length: number): TranscriptDelta {
    const messages = state.transcript.slice(0, length);
    const epoch = state.forgotten ?? 0;
    const stored = storedEnd(messages);
    const isSent = this.#sendsFront || state.settings.transcripts === 'full';
    const base = isSent ? stored : length;
    const hashes = addHashes([], messages.slice(0, base));
    return {
      epoch,
      base,
      ...(base === 0 ? {} : { prefixHash: hashes.at(-1) ?? '' }),
      ...storedPieces(messages, stored),
      append: messages.slice(base),
    };
  }

  /** Records that no worker could have them. False when they were already sent: a retry would not help. */
  frontMissed(): boolean {
    const isNew = !this.#sendsFront;
    this.#sendsFront = true;
    return isNew;
  }

  /** Records that the last call returned: its worker had all messages. */
  cameBack(): void {
    this.#base = this.#sent;
    this.#taken = this.#sent;
    this.#given = this.#newest;
  }

  /**
   * Records that no worker could assemble the transcript: the next call is sent everything. False when the last one
   * was: a retry would not help.
   */
  missed(): boolean {
    const isNew = this.#taken > this.#stored;
    this.#base = 0;
    this.#given = '';
    return isNew;
  }

  #begin(at: { readonly forgotten: number; readonly from: number }): void {
    this.#begun = at;
    this.#base = 0;
    this.#hashes = [];
  }
}

/** Continues from the existing hashes. Within a stored part only the last message has one. */
function addHashes(hashes: string[], messages: readonly Message[]): readonly string[] {
  for (const piece of piecesOf(messages.slice(hashes.length))) {
    const before = hashes.at(-1) ?? '';
    if (isStoredPart(piece)) {
      for (let index = piece.from + 1; index < piece.to; index += 1) hashes.push('');
      hashes.push(transcriptHash(before, hashedPart(piece)));
    } else
      for (const message of piece.messages)
        hashes.push(transcriptHash(hashes.at(-1) ?? '', JSON.stringify(message)));
  }
  return hashes;
}

function storedPieces(
  messages: readonly Message[],
  stored: number,
): Pick<TranscriptDelta, 'stored'> {
  return stored === 0 ? {} : { stored: piecesOf(messages.slice(0, stored)) };
}

/** Answers the query for any input, with the messages that exist. */
export function transcriptSlice(state: ConversationState, query: unknown): TranscriptSlice {
  const { epoch, from, to } = isRecord(query) ? query : {};
  const start = whole(epoch, 0);
  const first = whole(from, 0);
  const left = start - (state.forgotten ?? 0);
  // Forgotten messages cannot be returned: the worker's next call is sent everything that is left.
  const known = left < 0 ? [] : messagesFrom(state.transcript, left);
  const wanted = known.slice(first, whole(to, Infinity));
  const [piece] = piecesOf(wanted);
  if (piece !== undefined && isStoredPart(piece))
    return { epoch: start, from: first, messages: [], stored: piece };
  const messages = [];
  let bytes = 0;
  for (const message of wanted) {
    bytes += messageBytes(message);
    if (isStored(message) || (messages.length > 0 && bytes > MAX_TRANSCRIPT_PAGE_BYTES)) break;
    messages.push(message);
  }
  return { epoch: start, from: first, messages };
}

function whole(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : otherwise;
}

/**
 * Selects the part of the transcript that the next model call is sent: the messages since an earlier call that
 * returned. Lives as long as the run. After a roll-over, or when old messages are left out, messages that an earlier
 * call received are still not sent again: only the part in front of them, which lies in the blob store or is a summary.
 * A worker that lacks messages queries the run.
 */
import { offloadedEnd, piecesOf } from '../../core/context/offloaded.js';
import { requestWindow } from '../../core/context/request-window.js';
import { messageBytes } from '../../core/context/transcript.js';
import { headLength, messagesFrom } from '../../core/context/turn-spans.js';
import type { ConversationState } from '../../core/state/state.js';
import {
  countMessages,
  itemsOf,
  type TranscriptItem,
  wholeMessages,
} from '../../core/state/transcript.js';
import type { Message } from '../../protocol/conversation/messages.js';
import { hashedPart, isStoredPart } from '../../protocol/conversation/offloaded-messages.js';
import { MAX_TRANSCRIPT_PAGE_BYTES } from '../../protocol/limits/limits.js';
import { isRecord } from '../../protocol/values/json.js';
import {
  type TranscriptDelta,
  type TranscriptSlice,
  transcriptHash,
} from '../../protocol/workflow/transcript-delta.js';

interface EpochStart {
  /** Messages that have left the transcript, and how many of the rest the model call leaves out. */
  readonly forgotten: number;
  readonly from: number;
  /** Number of the sent messages up to the last offloaded one. */
  readonly stored: number;
}

export class TranscriptWindow {
  #begun: EpochStart = { forgotten: 0, from: 0, stored: 0 };
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
    const { visible, unsent: from } = requestWindow(state);
    const stored = offloadedEnd(visible);
    const begun = this.#begun;
    if (from !== begun.from || forgotten !== begun.forgotten || stored !== begun.stored)
      this.#begin({ forgotten, from, stored });
    if (state.settings.transcripts === 'full') {
      this.#base = 0;
      this.#given = '';
    }
    this.#sent = countMessages(visible);
    addHashes(this.#hashes, visible);
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
      append: messagesAfter(visible, base),
    };
  }

  /**
   * Number of messages that earlier calls have received, before this run or before others were left out; 0 for none.
   */
  #knownBefore(visible: readonly TranscriptItem[], stored: number): number {
    if (this.#given === '') return 0;
    const end = visible.findLastIndex(({ id }) => id === this.#given) + 1;
    const known = countMessages(visible.slice(0, end));
    return known > Math.max(stored, headLength(visible)) ? known : 0;
  }

  /**
   * The first items of the whole transcript, for work beside the model calls. The worker has their messages or queries
   * the run. They are sent after a miss, and when the settings say `full`.
   */
  front(state: ConversationState, length: number): TranscriptDelta {
    const items = state.transcript.slice(0, length);
    const epoch = state.forgotten ?? 0;
    const stored = offloadedEnd(items);
    const isSent = this.#sendsFront || state.settings.transcripts === 'full';
    const base = isSent ? stored : countMessages(items);
    const hashes = addHashes([], items.slice(0, itemsOf(items, base)));
    return {
      epoch,
      base,
      ...(base === 0 ? {} : { prefixHash: hashes.at(-1) ?? '' }),
      ...storedPieces(items, stored),
      append: messagesAfter(items, base),
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

  #begin(at: EpochStart): void {
    this.#begun = at;
    this.#base = 0;
    this.#hashes = [];
  }
}

/** Continues from the existing hashes. Within a stored part only the last message has one. */
function addHashes(hashes: string[], items: readonly TranscriptItem[]): readonly string[] {
  for (const piece of piecesOf(items, hashes.length)) {
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
  items: readonly TranscriptItem[],
  stored: number,
): Pick<TranscriptDelta, 'stored'> {
  return stored === 0 ? {} : { stored: piecesOf(items, 0, stored) };
}

/** None of these may be offloaded. */
function messagesAfter(items: readonly TranscriptItem[], count: number): readonly Message[] {
  return wholeMessages(items.slice(itemsOf(items, count)));
}

/** Answers the query for any input, with the messages that exist. */
export function transcriptSlice(state: ConversationState, query: unknown): TranscriptSlice {
  const { epoch, from, to } = isRecord(query) ? query : {};
  const start = whole(epoch, 0);
  const first = whole(from, 0);
  const left = start - (state.forgotten ?? 0);
  // Forgotten messages cannot be returned: the worker's next call is sent everything that is left.
  const known = left < 0 ? [] : messagesFrom(state.transcript, itemsOf(state.transcript, left));
  const [piece] = piecesOf(known, first, whole(to, Infinity));
  if (piece !== undefined && isStoredPart(piece))
    return { epoch: start, from: first, messages: [], stored: piece };
  const messages = [];
  let bytes = 0;
  for (const message of piece?.messages ?? []) {
    bytes += messageBytes(message);
    if (messages.length > 0 && bytes > MAX_TRANSCRIPT_PAGE_BYTES) break;
    messages.push(message);
  }
  return { epoch: start, from: first, messages };
}

/** The first messages of the epoch, as queries would return them, up to one page of inline ones. */
export function slicesBefore(
  state: ConversationState,
  { epoch, base }: TranscriptDelta,
): readonly TranscriptSlice[] {
  const slices: TranscriptSlice[] = [];
  for (let from = 0; from < base; ) {
    const slice = transcriptSlice(state, { epoch, from, to: base });
    const { messages, stored } = slice;
    slices.push(slice);
    if (stored === undefined) break;
    from += stored.to - stored.from + messages.length;
  }
  return slices;
}

function whole(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : otherwise;
}

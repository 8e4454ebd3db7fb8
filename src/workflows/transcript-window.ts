/**
 * What of the transcript the next model call is sent: what is new since an earlier call of this run that came back. Lives as
 * long as the run; after a roll-over, or when old messages are left out, everything visible is sent once.
 */
import { messagesFrom } from '../core/context/turns.js';
import { visibleFrom, visibleTranscript } from '../core/context/visible.js';
import type { ConversationState } from '../core/state.js';
import { messageBytes } from '../core/transcript.js';
import {
  type TranscriptDelta,
  type TranscriptSlice,
  transcriptHash,
} from '../protocol/activities.js';
import { isRecord } from '../protocol/json.js';
import { MAX_TRANSCRIPT_PAGE_BYTES } from '../protocol/limits.js';

export class TranscriptWindow {
  /** Where the epoch begins: messages that were forgotten before, and how many of the rest are left out. */
  #begun = { forgotten: 0, from: 0 };
  /** Messages of the epoch that a model call which came back was given. */
  #base = 0;
  /** Of the prefixes of the epoch, by length less one. */
  #hashes: string[] = [];
  #sent = 0;
  #sendsFront = false;

  next(state: ConversationState): TranscriptDelta {
    const { forgotten = 0 } = state;
    const from = visibleFrom(state);
    if (from !== this.#begun.from || forgotten !== this.#begun.forgotten)
      this.#begin({ forgotten, from });
    if (state.settings.transcripts === 'full') this.#base = 0;
    const visible = visibleTranscript(state);
    this.#sent = visible.length;
    for (const message of visible.slice(this.#hashes.length))
      this.#hashes.push(transcriptHash(this.#hashes.at(-1) ?? '', JSON.stringify(message)));
    const base = this.#base;
    const prefixHash = this.#hashes[base - 1];
    return {
      epoch: forgotten + from,
      base,
      ...(prefixHash === undefined ? {} : { prefixHash }),
      append: visible.slice(base),
    };
  }

  /**
   * The first messages of all that is left, for work beside the model calls: the worker has them or asks for them. After a miss,
   * and where the agent wants that, they are sent.
   */
  front(state: ConversationState, length: number): TranscriptDelta {
    const messages = state.transcript.slice(0, length);
    const epoch = state.forgotten ?? 0;
    if (this.#sendsFront || state.settings.transcripts === 'full')
      return { epoch, base: 0, append: messages };
    let prefixHash = '';
    for (const message of messages)
      prefixHash = transcriptHash(prefixHash, JSON.stringify(message));
    return { epoch, base: length, prefixHash, append: [] };
  }

  /** No worker could have them. False when they were sent: then it is no use to try again. */
  frontMissed(): boolean {
    const isNew = !this.#sendsFront;
    this.#sendsFront = true;
    return isNew;
  }

  /** The call that was sent last came back: its worker had all of it. */
  cameBack(): void {
    this.#base = this.#sent;
  }

  /** No worker could put it together: the next one is sent everything. */
  missed(): void {
    this.#base = 0;
  }

  #begin(at: { readonly forgotten: number; readonly from: number }): void {
    this.#begun = at;
    this.#base = 0;
    this.#hashes = [];
  }
}

/** Answers the query; whatever is asked, the answer is of what there is. */
export function transcriptSlice(state: ConversationState, query: unknown): TranscriptSlice {
  const { epoch, from, to } = isRecord(query) ? query : {};
  const start = whole(epoch, 0);
  const first = whole(from, 0);
  const left = start - (state.forgotten ?? 0);
  // What was forgotten meanwhile cannot be given: whoever asks is sent everything that is left.
  const known = left < 0 ? [] : messagesFrom(state.transcript, left);
  const messages = [];
  let bytes = 0;
  for (const message of known.slice(first, whole(to, Infinity))) {
    bytes += messageBytes(message);
    if (messages.length > 0 && bytes > MAX_TRANSCRIPT_PAGE_BYTES) break;
    messages.push(message);
  }
  return { epoch: start, from: first, messages };
}

function whole(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : otherwise;
}

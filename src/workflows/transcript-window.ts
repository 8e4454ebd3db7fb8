/**
 * What of the transcript the next model call is sent: what is new since an earlier call of this run that came back. Lives as
 * long as the run; after a roll-over, or when old messages are left out, everything visible is sent once.
 */
import { visibleFrom } from '../core/context.js';
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
  #epoch = 0;
  /** Messages of the epoch that a model call which came back was given. */
  #base = 0;
  /** Of the prefixes of the epoch, by length less one. */
  #hashes: string[] = [];
  #sent = 0;

  next(state: ConversationState): TranscriptDelta {
    const epoch = visibleFrom(state);
    if (epoch !== this.#epoch) this.#begin(epoch);
    if (state.settings.transcripts === 'full') this.#base = 0;
    const { transcript } = state;
    this.#sent = transcript.length - epoch;
    for (let length = this.#hashes.length; length < this.#sent; length += 1) {
      const message = transcript[epoch + length];
      if (message !== undefined)
        this.#hashes.push(transcriptHash(this.#hashes[length - 1] ?? '', JSON.stringify(message)));
    }
    const base = this.#base;
    const prefixHash = this.#hashes[base - 1];
    return {
      epoch,
      base,
      ...(prefixHash === undefined ? {} : { prefixHash }),
      append: transcript.slice(epoch + base),
    };
  }

  /** The call that was sent last came back: its worker had all of it. */
  cameBack(): void {
    this.#base = this.#sent;
  }

  /** No worker could put it together: the next one is sent everything. */
  missed(): void {
    this.#base = 0;
  }

  #begin(epoch: number): void {
    this.#epoch = epoch;
    this.#base = 0;
    this.#hashes = [];
  }
}

/** Answers the query; whatever is asked, the answer is of what there is. */
export function transcriptSlice(state: ConversationState, query: unknown): TranscriptSlice {
  const { epoch, from, to } = isRecord(query) ? query : {};
  const start = whole(epoch, 0);
  const first = whole(from, 0);
  const messages = [];
  let bytes = 0;
  for (const message of state.transcript.slice(start + first, start + whole(to, Infinity))) {
    bytes += messageBytes(message);
    if (messages.length > 0 && bytes > MAX_TRANSCRIPT_PAGE_BYTES) break;
    messages.push(message);
  }
  return { epoch: start, from: first, messages };
}

function whole(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : otherwise;
}

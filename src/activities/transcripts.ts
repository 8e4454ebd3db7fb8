/**
 * Puts transcripts together: what a model call was sent, behind what this worker remembers of the run. What it does not
 * remember it asks the run for; correctness never depends on the memory.
 *
 * P1  A prefix is used only if its hash is the one that the workflow sent along.
 * P2  Messages of one run and epoch never change, so a longer memory may be cut, and a shorter one completed.
 */
import { ApplicationFailure } from '@temporalio/common';
import {
  TRANSCRIPT_MISS,
  type TranscriptDelta,
  type TranscriptQuery,
  type TranscriptSlice,
  transcriptHash,
} from '../protocol/activities.js';
import type { Message } from '../protocol/messages.js';

/** The run that the messages are of. */
export interface RunOfConversation {
  readonly workflowId: string;
  readonly runId: string;
}

/** Asks a run for messages. @throws when no worker answers in time. */
export type FetchTranscript = (
  run: RunOfConversation,
  query: TranscriptQuery,
) => Promise<TranscriptSlice>;

interface Remembered {
  readonly messages: readonly Message[];
  /** `hashes[n]` is of the first n + 1 messages. */
  readonly hashes: readonly string[];
  readonly bytes: number;
}

const NOTHING: Remembered = { messages: [], hashes: [], bytes: 0 };

export class Transcripts {
  readonly #fetch: FetchTranscript;
  readonly #maxBytes: number;
  /** In the order of use: the first was not used for longest. */
  readonly #known = new Map<string, Remembered>();
  #bytes = 0;

  constructor(options: { readonly fetch: FetchTranscript; readonly maxBytes: number }) {
    this.#fetch = options.fetch;
    this.#maxBytes = options.maxBytes;
  }

  /** The whole transcript. @throws {ApplicationFailure} of type TRANSCRIPT_MISS when what comes before it cannot be had. */
  async whole(run: RunOfConversation, delta: TranscriptDelta): Promise<readonly Message[]> {
    const { epoch, base, append } = delta;
    const name = `${run.workflowId} ${run.runId} ${epoch}`;
    const prefix = base === 0 ? NOTHING : await this.#prefix(name, run, delta);
    const whole = extended(prefix, append);
    this.#remember(name, whole);
    return whole.messages;
  }

  /** Messages of a run that are read beside its model calls: what is remembered for these stays as it is. @throws as above */
  async read(run: RunOfConversation, delta: TranscriptDelta): Promise<readonly Message[]> {
    const name = `${run.workflowId} ${run.runId} ${delta.epoch}`;
    const prefix = delta.base === 0 ? NOTHING : await this.#prefix(name, run, delta);
    return [...prefix.messages, ...delta.append];
  }

  async #prefix(name: string, run: RunOfConversation, delta: TranscriptDelta): Promise<Remembered> {
    const { base } = delta;
    const known = this.#known.get(name) ?? NOTHING;
    if (known.messages.length >= base && known.hashes[base - 1] === delta.prefixHash)
      return cut(known, base);
    // A shorter memory is completed; one that turns out to be of something else is thrown away.
    for (const start of known.messages.length < base && known !== NOTHING
      ? [known, NOTHING]
      : [NOTHING]) {
      const fetched = await this.#complete(run, delta, start).catch((error: unknown) => {
        throw miss(error instanceof Error ? error.message : String(error));
      });
      if (fetched.hashes[base - 1] === delta.prefixHash) return fetched;
    }
    throw miss('the run has other messages');
  }

  async #complete(
    run: RunOfConversation,
    { epoch, base }: TranscriptDelta,
    start: Remembered,
  ): Promise<Remembered> {
    let prefix = start;
    while (prefix.messages.length < base) {
      const from = prefix.messages.length;
      const { messages } = await this.#fetch(run, { epoch, from, to: base });
      if (messages.length === 0) throw new Error(`the run has no message ${from} of ${base}`);
      prefix = extended(prefix, messages);
    }
    return cut(prefix, base);
  }

  #remember(name: string, transcript: Remembered): void {
    this.#bytes += transcript.bytes - (this.#known.get(name)?.bytes ?? 0);
    this.#known.delete(name);
    this.#known.set(name, transcript);
    for (const [oldest, { bytes }] of this.#known) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#known.delete(oldest);
      this.#bytes -= bytes;
    }
  }
}

function extended(prefix: Remembered, append: readonly Message[]): Remembered {
  const hashes = [...prefix.hashes];
  let { bytes } = prefix;
  for (const message of append) {
    const json = JSON.stringify(message);
    hashes.push(transcriptHash(hashes.at(-1) ?? '', json));
    bytes += json.length;
  }
  return { messages: [...prefix.messages, ...append], hashes, bytes };
}

function cut(known: Remembered, length: number): Remembered {
  if (known.messages.length === length) return known;
  const messages = known.messages.slice(0, length);
  const bytes = messages.reduce((sum, message) => sum + JSON.stringify(message).length, 0);
  return { messages, hashes: known.hashes.slice(0, length), bytes };
}

function miss(reason: string): ApplicationFailure {
  return ApplicationFailure.create({
    type: TRANSCRIPT_MISS,
    message: `The messages before those that were sent cannot be had: ${reason}`.slice(0, 1_000),
    nonRetryable: true,
  });
}

/**
 * Assembles transcripts: the messages that a model call was sent, after those that this worker remembers of the run. It
 * queries the run for the rest, or reads them from the blob store; correctness never depends on the cache.
 *
 * P1  A prefix is used only if its hash is the one that the workflow sent along.
 * P2  Messages of one run and epoch never change, so a longer cached transcript may be cut, and a shorter one
 *     completed.
 * P3  A new run or epoch begins with the end of what the previous one received, after the front that was sent: if the
 *     hash agrees, nothing is queried and nothing is read.
 * P4  Callers that need the same query or read at the same time share it.
 */
import type { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { messageBytes } from '../../core/context/transcript.js';
import type { Message } from '../../protocol/conversation/messages.js';
import {
  hashedPart,
  isStoredPart,
  type OffloadTranscriptInput,
  type StoredPart,
  type TranscriptPiece,
} from '../../protocol/conversation/offloaded-messages.js';
import {
  TRANSCRIPT_MISS,
  type TranscriptDelta,
  type TranscriptQuery,
  type TranscriptSlice,
  transcriptHash,
} from '../../protocol/workflow/activities.js';
import { singleFlight } from './single-flight.js';

/** The run that the messages belong to. */
export interface RunOfConversation {
  readonly workflowId: string;
  readonly runId: string;
}

export function runOf({ info }: Context): RunOfConversation {
  const { workflowId = '', runId = '' } = info.workflowExecution ?? {};
  return { workflowId, runId };
}

/** Queries a run for messages. @throws when no worker answers in time. */
export type FetchTranscript = (
  run: RunOfConversation,
  query: TranscriptQuery,
) => Promise<TranscriptSlice>;

/** Reads messages from the blob store. @throws {ApplicationFailure} when they are unavailable, for now or for good. */
export type ReadStored = (run: RunOfConversation, part: StoredPart) => Promise<readonly Message[]>;

export interface TranscriptsOptions {
  readonly fetch: FetchTranscript;
  /** @defaultValue no messages are stored */
  readonly readStored?: ReadStored;
  readonly maxBytes: number;
}

interface Remembered {
  readonly messages: readonly Message[];
  /** `hashes[n]` is the hash of the first n + 1 messages; empty within a part that was stored. */
  readonly hashes: readonly string[];
  readonly bytes: number;
  /** Messages that are known to lie in a chunk. */
  readonly parts: readonly KnownPart[];
}

interface KnownPart {
  readonly id: string;
  /** Index in the chunk of the first of these messages, and their number. */
  readonly from: number;
  readonly count: number;
  /** Index of the first one in the transcript. */
  readonly at: number;
}

const NOTHING: Remembered = { messages: [], hashes: [], bytes: 0, parts: [] };

export class Transcripts {
  readonly #fetch: FetchTranscript;
  readonly #readStored: ReadStored;
  readonly #maxBytes: number;
  /** In order of use: the first entry is the least recently used. */
  readonly #known = new Map<string, Remembered>();
  /** The newest cached transcript of each conversation: earlier runs and epochs are not requested any more. */
  readonly #newest = new Map<string, string>();
  #bytes = 0;

  constructor({ fetch, readStored, maxBytes }: TranscriptsOptions) {
    this.#fetch = singleFlight(fetch);
    this.#readStored = singleFlight(
      readStored ?? (() => Promise.reject(miss('nothing is stored'))),
    );
    this.#maxBytes = maxBytes;
  }

  /**
   * The whole transcript. @throws {ApplicationFailure} of type TRANSCRIPT_MISS when the earlier messages are not
   * available.
   */
  async whole(run: RunOfConversation, delta: TranscriptDelta): Promise<readonly Message[]> {
    const { epoch, base, append } = delta;
    const name = `${run.workflowId} ${run.runId} ${epoch}`;
    const goesOn = base === 0 || this.#known.has(name) ? undefined : await this.#goneOn(run, delta);
    const prefix = goesOn ?? (base === 0 ? NOTHING : await this.#prefix(name, run, delta));
    const whole = extended(prefix, append);
    this.#remember(name, whole);
    return whole.messages;
  }

  /** Reads messages of a run beside its model calls; leaves the cache unchanged. @throws as `whole` */
  async read(run: RunOfConversation, delta: TranscriptDelta): Promise<readonly Message[]> {
    const name = `${run.workflowId} ${run.runId} ${delta.epoch}`;
    const prefix = delta.base === 0 ? NOTHING : await this.#prefix(name, run, delta);
    return [...prefix.messages, ...delta.append];
  }

  /** Just these messages, which have never been stored. @throws as `whole` */
  async slice(
    run: RunOfConversation,
    { epoch, from, to, hash }: OffloadTranscriptInput['messages'],
  ): Promise<readonly Message[]> {
    const known = this.#known.get(`${run.workflowId} ${run.runId} ${epoch}`) ?? NOTHING;
    // The newest of them may not have been sent to any model call yet.
    for (const start of [known.messages.slice(from, to), []]) {
      const messages = [...start];
      while (messages.length < to - from) {
        const page = await this.#page(run, { epoch, from: from + messages.length, to });
        if ('id' in page) throw miss('the run has stored them');
        messages.push(...page);
      }
      if (hashOf(messages) === hash) return messages;
    }
    throw miss('the run has other messages');
  }

  /**
   * Notes that this worker has stored these messages of a run, with their number per chunk, so that it need not read
   * them for the next run. Notes nothing when a summary has replaced them since the cached model call, because then
   * other messages stand at those places.
   */
  stored(
    run: RunOfConversation,
    { epoch, from, to, hash }: OffloadTranscriptInput['messages'],
    chunks: readonly { readonly id: string; readonly count: number }[],
  ): void {
    const name = `${run.workflowId} ${run.runId} ${epoch}`;
    const known = this.#known.get(name);
    // Noted parts are used without a check of their hash, so they are checked here.
    if (known === undefined || hashOf(known.messages.slice(from, to)) !== hash) return;
    let at = from;
    const parts = chunks.map(({ id, count }) => {
      const part = { id, from: 0, count, at };
      at += count;
      return part;
    });
    this.#known.set(name, { ...known, parts: [...known.parts, ...parts] });
  }

  /** P3. Undefined when the conversation received something else before, or this worker does not know. */
  async #goneOn(run: RunOfConversation, delta: TranscriptDelta): Promise<Remembered | undefined> {
    const { base, prefixHash, stored } = delta;
    const before = this.#known.get(this.#newest.get(run.workflowId) ?? '');
    if (before === undefined) return undefined;
    const front = await this.#sent(run, stored, before);
    const count = base - front.messages.length;
    if (count < 0 || count > before.messages.length) return undefined;
    const whole = extended(front, before.messages.slice(before.messages.length - count));
    return whole.hashes[base - 1] === prefixHash ? whole : undefined;
  }

  async #prefix(name: string, run: RunOfConversation, delta: TranscriptDelta): Promise<Remembered> {
    const { base } = delta;
    const known = this.#known.get(name) ?? NOTHING;
    if (known.messages.length >= base && known.hashes[base - 1] === delta.prefixHash)
      return cut(known, base);
    // Completes a shorter cached transcript; drops one that turns out to have other messages.
    for (const start of known.messages.length < base && known !== NOTHING
      ? [known, NOTHING]
      : [NOTHING]) {
      const sent = start === NOTHING ? await this.#sent(run, delta.stored) : start;
      const whole = await this.#completed(run, delta, sent);
      if (whole.hashes[base - 1] === delta.prefixHash) return whole;
    }
    throw miss('the run has other messages');
  }

  /** The part that was sent along, some of it by reference. */
  async #sent(
    run: RunOfConversation,
    pieces: readonly TranscriptPiece[] = [],
    before: Remembered = NOTHING,
  ): Promise<Remembered> {
    let prefix = NOTHING;
    for (const piece of pieces)
      prefix = isStoredPart(piece)
        ? withPart(prefix, piece, partOf(before, piece) ?? (await this.#readStored(run, piece)))
        : extended(prefix, piece.messages);
    return prefix;
  }

  async #completed(
    run: RunOfConversation,
    { epoch, base }: TranscriptDelta,
    start: Remembered,
  ): Promise<Remembered> {
    let prefix = start;
    while (prefix.messages.length < base) {
      const page = await this.#page(run, { epoch, from: prefix.messages.length, to: base });
      prefix =
        'id' in page
          ? withPart(prefix, page, await this.#readStored(run, page))
          : extended(prefix, page);
    }
    return cut(prefix, base);
  }

  /** Returns at least one message, or a reference to stored ones. */
  async #page(
    run: RunOfConversation,
    query: TranscriptQuery,
  ): Promise<readonly Message[] | StoredPart> {
    const { messages, stored } = await this.#fetch(run, query).catch((error: unknown) => {
      throw miss(error instanceof Error ? error.message : String(error));
    });
    if (stored !== undefined) return stored;
    if (messages.length === 0) throw miss(`the run has no message ${query.from} of ${query.to}`);
    return messages;
  }

  #remember(name: string, transcript: Remembered): void {
    const workflowId = workflowOf(name);
    this.#forget(this.#newest.get(workflowId) ?? name);
    this.#forget(name);
    this.#newest.set(workflowId, name);
    this.#known.set(name, transcript);
    this.#bytes += transcript.bytes;
    for (const oldest of this.#known.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#forget(oldest);
    }
  }

  #forget(name: string): void {
    const known = this.#known.get(name);
    if (known === undefined) return;
    this.#known.delete(name);
    this.#newest.delete(workflowOf(name));
    this.#bytes -= known.bytes;
  }
}

/** Ids have no spaces. */
function workflowOf(name: string): string {
  return name.slice(0, name.indexOf(' '));
}

function extended(prefix: Remembered, append: readonly Message[]): Remembered {
  const hashes = [...prefix.hashes];
  let { bytes } = prefix;
  for (const message of append) {
    const json = JSON.stringify(message);
    hashes.push(transcriptHash(hashes.at(-1) ?? '', json));
    bytes += Buffer.byteLength(json);
  }
  return { ...prefix, messages: [...prefix.messages, ...append], hashes, bytes };
}

/** The hash of all messages. */
function hashOf(messages: readonly Message[]): string | undefined {
  return extended(NOTHING, messages).hashes.at(-1);
}

/** Undefined when the messages are not cached. */
function partOf(
  { messages, parts }: Remembered,
  { id, from, to }: StoredPart,
): readonly Message[] | undefined {
  const known = parts.find(
    (part) => part.id === id && part.from <= from && part.from + part.count >= to,
  );
  if (known === undefined) return undefined;
  const start = known.at + from - known.from;
  const found = messages.slice(start, start + to - from);
  return found.length === to - from ? found : undefined;
}

function withPart(prefix: Remembered, part: StoredPart, messages: readonly Message[]): Remembered {
  const bytes = Buffer.byteLength(JSON.stringify(messages));
  const inner = messages.slice(1).map(() => '');
  const hash = transcriptHash(prefix.hashes.at(-1) ?? '', hashedPart(part));
  return {
    messages: [...prefix.messages, ...messages],
    hashes: [...prefix.hashes, ...inner, hash],
    bytes: prefix.bytes + bytes,
    parts: [
      ...prefix.parts,
      { id: part.id, from: part.from, count: messages.length, at: prefix.messages.length },
    ],
  };
}

function cut(known: Remembered, length: number): Remembered {
  if (known.messages.length === length) return known;
  const messages = known.messages.slice(0, length);
  const bytes = messages.reduce((sum, message) => sum + messageBytes(message), 0);
  const parts = known.parts.filter(({ at, count }) => at + count <= length);
  return { messages, hashes: known.hashes.slice(0, length), bytes, parts };
}

function miss(reason: string): ApplicationFailure {
  return ApplicationFailure.create({
    type: TRANSCRIPT_MISS,
    message: `The messages before those that were sent cannot be had: ${reason}`.slice(0, 1_000),
    nonRetryable: true,
  });
}

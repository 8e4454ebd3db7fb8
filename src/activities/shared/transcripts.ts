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
 * P5  Chunks of offloaded messages never change, so each is read or stored once while it is cached.
 */
import type { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { LRUCache } from 'lru-cache';
import { bytesOf } from '../../core/context/transcript.js';
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
} from '../../protocol/workflow/transcript-delta.js';

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

/** Reads a chunk from the blob store. @throws {ApplicationFailure} when it is unavailable, for now or for good. */
export type ReadChunk = (run: RunOfConversation, id: string) => Promise<readonly Message[]>;

export interface TranscriptsOptions {
  readonly fetch: FetchTranscript;
  /** @defaultValue no messages are stored */
  readonly readChunk?: ReadChunk;
  /** Bytes of messages in the cache, of transcripts and of chunks together. */
  readonly maxBytes: number;
}

interface Remembered {
  readonly messages: readonly Message[];
  /** `hashes[n]` is the hash of the first n + 1 messages; empty within a part that was stored. */
  readonly hashes: readonly string[];
  readonly bytes: number;
}

const NOTHING: Remembered = { messages: [], hashes: [], bytes: 0 };

const MAX_CONVERSATIONS = 10_000;

export class Transcripts {
  readonly #fetch: FetchTranscript;
  readonly #readChunk: ReadChunk;
  /** Transcripts and chunks. */
  readonly #known: LRUCache<string, Remembered>;
  /** The newest cached transcript of each conversation: earlier runs and epochs are not requested any more. */
  readonly #newest = new LRUCache<string, string>({ max: MAX_CONVERSATIONS });

  constructor({ fetch, readChunk, maxBytes }: TranscriptsOptions) {
    this.#fetch = singleFlight(fetch);
    this.#readChunk = singleFlight(readChunk ?? (() => Promise.reject(miss('nothing is stored'))));
    this.#known = new LRUCache({
      maxSize: Math.max(1, maxBytes),
      sizeCalculation: ({ bytes }) => Math.max(1, bytes),
    });
  }

  /**
   * The whole transcript. @throws {ApplicationFailure} of type TRANSCRIPT_MISS when the earlier messages are not
   * available.
   */
  async whole(run: RunOfConversation, delta: TranscriptDelta): Promise<readonly Message[]> {
    const { epoch, base, append } = delta;
    const name = `${run.workflowId} ${run.runId} ${epoch}`;
    const continued =
      base === 0 || this.#known.has(name) ? undefined : await this.#goneOn(run, delta);
    const prefix = continued ?? (base === 0 ? NOTHING : await this.#prefix(name, run, delta));
    const whole = extended(prefix, append);
    this.#remember(run, name, whole);
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

  /** Keeps a chunk that this worker has stored, so that the next run's first model call need not read it. */
  stored({ workflowId }: RunOfConversation, id: string, messages: readonly Message[]): void {
    const chunk = { messages, hashes: [], bytes: bytesOf(messages) };
    this.#known.set(`chunk ${workflowId} ${id}`, chunk);
  }

  /** P3. Undefined when the conversation received something else before, or this worker does not know. */
  async #goneOn(run: RunOfConversation, delta: TranscriptDelta): Promise<Remembered | undefined> {
    const { base, prefixHash, stored } = delta;
    const before = this.#known.get(this.#newest.get(run.workflowId) ?? '');
    if (before === undefined) return undefined;
    const front = await this.#sent(run, stored);
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
  ): Promise<Remembered> {
    let prefix = NOTHING;
    for (const piece of pieces)
      prefix = isStoredPart(piece)
        ? withPart(prefix, piece, await this.#read(run, piece))
        : extended(prefix, piece.messages);
    return prefix;
  }

  /** P5. */
  async #read(run: RunOfConversation, { id, from, to }: StoredPart): Promise<readonly Message[]> {
    let messages = this.#known.get(`chunk ${run.workflowId} ${id}`)?.messages;
    if (messages === undefined) {
      messages = await this.#readChunk(run, id);
      this.stored(run, id, messages);
    }
    return messages.slice(from, to);
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
        'id' in page ? withPart(prefix, page, await this.#read(run, page)) : extended(prefix, page);
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

  #remember({ workflowId }: RunOfConversation, name: string, transcript: Remembered): void {
    const before = this.#newest.get(workflowId);
    if (before !== undefined && before !== name) this.#known.delete(before);
    this.#newest.set(workflowId, name);
    this.#known.set(name, transcript);
  }
}

function extended(prefix: Remembered, append: readonly Message[]): Remembered {
  const hashes = [...prefix.hashes];
  let { bytes } = prefix;
  for (const message of append) {
    const json = JSON.stringify(message);
    hashes.push(transcriptHash(hashes.at(-1) ?? '', json));
    bytes += Buffer.byteLength(json);
  }
  return { messages: [...prefix.messages, ...append], hashes, bytes };
}

/** The hash of all messages. */
function hashOf(messages: readonly Message[]): string | undefined {
  return extended(NOTHING, messages).hashes.at(-1);
}

function withPart(prefix: Remembered, part: StoredPart, messages: readonly Message[]): Remembered {
  const inner = messages.slice(1).map(() => '');
  const hash = transcriptHash(prefix.hashes.at(-1) ?? '', hashedPart(part));
  return {
    messages: [...prefix.messages, ...messages],
    hashes: [...prefix.hashes, ...inner, hash],
    bytes: prefix.bytes + bytesOf(messages),
  };
}

function cut(known: Remembered, length: number): Remembered {
  if (known.messages.length === length) return known;
  const messages = known.messages.slice(0, length);
  return { messages, hashes: known.hashes.slice(0, length), bytes: bytesOf(messages) };
}

function miss(reason: string): ApplicationFailure {
  return ApplicationFailure.create({
    type: TRANSCRIPT_MISS,
    message: `The messages before those that were sent cannot be had: ${reason}`.slice(0, 1_000),
    nonRetryable: true,
  });
}

/**
 * Makes a request once for all callers that make it at the same time: they get the same answer, or the same failure. A
 * later caller makes a new request, so nothing is cached here. The question has to be JSON.
 */
export function singleFlight<Question extends readonly unknown[], Answer>(
  ask: (...question: Question) => Promise<Answer>,
): (...question: Question) => Promise<Answer> {
  const asked = new Map<string, Promise<Answer>>();
  return async (...question) => {
    const name = JSON.stringify(question);
    const known = asked.get(name);
    if (known !== undefined) return await known;
    const answer = ask(...question).finally(() => {
      asked.delete(name);
    });
    asked.set(name, answer);
    return await answer;
  };
}

/**
 * Messages of transcripts in the blob store, in chunks named by their content. A chunk that the blob store has lost or
 * changed is made again from the event log, to the byte, and put back: the log has every message.
 */

import type { Client } from '@temporalio/client';
import { retryQuery } from '../../client/temporal/query-retry.js';
import { apply } from '../../core/apply/apply.js';
import { offloadPlan } from '../../core/context/carry-over.js';
import {
  chunkIdsIn,
  chunksOf,
  messagesOffloaded,
  offloadedEvent,
} from '../../core/context/offloaded.js';
import type { ConversationState } from '../../core/state/state.js';
import type { StatesNow } from '../../protocol/calls/plugin-state.js';
import type { Message } from '../../protocol/conversation/messages.js';
import {
  chunkText,
  messagesOfChunk,
  OFFLOAD_BOUNDS,
} from '../../protocol/conversation/offloaded-messages.js';
import { TRANSCRIPT_DEADLINE_MS } from '../../protocol/limits/service-limits.js';
import type { CanonicalEvent, TranscriptOffloaded } from '../../protocol/log/events.js';
import type { BlobType } from '../../protocol/values/blobs.js';
import { type ConversationKey, conversationKey } from '../../protocol/values/ids.js';
import { QUERIES } from '../../protocol/workflow/messaging.js';
import type { TranscriptQuery, TranscriptSlice } from '../../protocol/workflow/transcript-delta.js';
import { type BlobStore, blobRefOf } from '../../store/ports/blobs.js';
import type { EventLog } from '../../store/ports/log.js';
import { type ProjectionLogger, SILENT } from '../source/outages.js';
import { wholeLog } from './whole-log.js';

const TYPE: BlobType = 'application/json';

/** The id of a chunk of these messages, stored or not. */
export function chunkIdOf(messages: readonly Message[]): string {
  return blobRefOf({ type: TYPE, content: Buffer.from(chunkText(messages)) }).id;
}

/** Neither the blob store nor the event log has the messages; another try may find that they are back. */
export class TranscriptLost extends Error {
  readonly code = 'transcript_lost';

  constructor(id: string) {
    super(
      `Messages of the conversation are lost: chunk ${id} is neither in the blob store nor in the event log`,
    );
    this.name = 'TranscriptLost';
  }
}

export interface TranscriptChunksDeps {
  /** Absent: nothing is put, and everything is read from the event log. */
  readonly blobs?: Pick<BlobStore, 'put' | 'get' | 'delete'> | undefined;
  readonly log: Pick<EventLog, 'read'>;
  readonly logger?: ProjectionLogger;
}

export class TranscriptChunks {
  readonly #deps: TranscriptChunksDeps;

  constructor(deps: TranscriptChunksDeps) {
    this.#deps = deps;
  }

  /** Id of the chunk; undefined if there is no blob store. Safe to repeat. @throws {StoreUnavailable} */
  async put(key: ConversationKey, messages: readonly Message[]): Promise<string | undefined> {
    const content = Buffer.from(chunkText(messages));
    return (await this.#deps.blobs?.put(key, { type: TYPE, content }))?.id;
  }

  /** Removes chunks that are no longer referenced. Safe to repeat. @throws {StoreUnavailable} */
  async remove(key: ConversationKey, ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.#deps.blobs?.delete(key, ids);
  }

  /** The messages of a chunk. @throws {TranscriptLost}; {StoreUnavailable} when that cannot be known now */
  async get(key: ConversationKey, id: string): Promise<readonly Message[]> {
    return (await this.#stored(key, id)) ?? (await this.#madeAgain(key, id));
  }

  /** Undefined when the blob is absent, or its content does not match its id. */
  async #stored(key: ConversationKey, id: string): Promise<readonly Message[] | undefined> {
    const found = await this.#deps.blobs?.get(key, id);
    if (found === undefined) return undefined;
    const { ref, content } = found;
    if (blobRefOf({ type: ref.type, content }).id !== id) return undefined;
    return messagesOfChunk(Buffer.from(content).toString());
  }

  async #madeAgain(key: ConversationKey, id: string): Promise<readonly Message[]> {
    const { blobs, log, logger = SILENT } = this.#deps;
    const made = await chunksOfLog(wholeLog(log, key), id);
    const messages = made.get(id);
    if (messages === undefined) throw new TranscriptLost(id);
    if (blobs === undefined) return messages;
    const about = { conversation: conversationKey(key), chunk: id };
    logger.warn('stored messages were lost or damaged, and are made again from the log', about);
    // A put under an existing id would leave the content as it is.
    await blobs.delete(key, [id]);
    // After a reopening many chunks were never stored: with all of them the next read needs no log.
    for (const chunk of made.values()) await this.put(key, chunk);
    return messages;
  }
}

type Chunks = ReadonlyMap<string, readonly Message[]>;

/**
 * Chunks by their ids, with the messages as they were in the transcript when they were offloaded: the wanted one, if
 * the log has its messages, and those to which the transcript refers at the end of the log.
 *
 * A conversation that is reopened may name chunks of its last turns before the log has the event: these are those of
 * `offloadAt` behind the last event.
 */
async function chunksOfLog(events: AsyncIterable<CanonicalEvent>, wanted: string): Promise<Chunks> {
  let named: Chunks = new Map();
  let state: ConversationState | undefined;
  for await (const event of events) {
    const before = state;
    state = apply(before, event);
    if (before === undefined || event.type !== 'transcript_offloaded') continue;
    const offloaded = (messagesOffloaded(before, event) ?? []).map(
      (messages, index) => [event.chunks[index]?.id ?? '', messages] as const,
    );
    // Only these stay in memory, however many a long log has named.
    named = referredTo(state, new Map([...named, ...offloaded]), wanted);
  }
  if (state === undefined) return named;
  const made = [...referredTo(state, named, wanted)].filter(
    ([id, messages]) => chunkIdOf(messages) === id,
  );
  const plan = made.some(([id]) => id === wanted) ? undefined : offloadPlan(state, OFFLOAD_BOUNDS);
  for (const messages of plan ? chunksOf(plan) : []) made.push([chunkIdOf(messages), messages]);
  return new Map(made);
}

function referredTo(
  { transcript }: Pick<ConversationState, 'transcript'>,
  chunks: Chunks,
  wanted: string,
): Chunks {
  const ids = chunkIdsIn(transcript);
  return new Map([...chunks].filter(([id]) => id === wanted || ids.has(id)));
}

/** The event by which the oldest messages of a state are offloaded; undefined when it has too few. */
export function offloadAt(state: ConversationState): TranscriptOffloaded | undefined {
  const plan = offloadPlan(state, OFFLOAD_BOUNDS);
  return plan && offloadedEvent(plan, chunksOf(plan).map(chunkIdOf));
}

/**
 * One page. The run is pinned, even if another run is current by now: messages of one run and epoch never change.
 * @throws when no worker answers within 5 s (`TRANSCRIPT_DEADLINE_MS`)
 */
export async function fetchTranscript(
  client: Client,
  run: { readonly workflowId: string; readonly runId: string },
  query: TranscriptQuery,
): Promise<TranscriptSlice> {
  const handle = client.workflow.getHandle(run.workflowId, run.runId);
  return await client.withDeadline(Date.now() + TRANSCRIPT_DEADLINE_MS, () =>
    retryQuery(() =>
      handle.query<TranscriptSlice, [TranscriptQuery]>(QUERIES.transcriptSlice, query),
    ),
  );
}

/** States of plugins now, by the same rules. */
export async function fetchStates(
  client: Client,
  run: { readonly workflowId: string; readonly runId: string },
): Promise<StatesNow> {
  const handle = client.workflow.getHandle(run.workflowId, run.runId);
  return await client.withDeadline(Date.now() + TRANSCRIPT_DEADLINE_MS, () =>
    retryQuery(() => handle.query<StatesNow>(QUERIES.pluginStates)),
  );
}

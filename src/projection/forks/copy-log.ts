/** Copies a log up to a seq into the log of a fork, with the stored values that its events name. Runs in workers. */
import type { CanonicalEvent } from '../../protocol/log/events.js';
import { isBlobId } from '../../protocol/values/blobs.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { isRecord, utf8Bytes } from '../../protocol/values/json.js';
import { contentHash } from '../../store/plans/append.js';
import type { BlobStore } from '../../store/ports/blobs.js';
import { type EventLog, StoreUnavailable } from '../../store/ports/log.js';
import { wholeLog } from '../reading/whole-log.js';

/** Bounds of one append. */
const MAX_EVENTS = 500;
const MAX_BYTES = 4 * 1024 * 1024;

/** Shows only whether there is a value. */
const NO_BYTES = { offset: 0, length: 0 };

export interface CopyDeps {
  readonly log: EventLog;
  readonly blobs: Pick<BlobStore, 'get' | 'put'> | undefined;
  /** Gives the attempt up; the next one continues with the values that this one has not copied. */
  readonly signal?: AbortSignal | undefined;
}

export interface CopyRequest {
  readonly from: ConversationKey & { readonly generation: number };
  readonly to: ConversationKey & { readonly runId: string };
  readonly throughSeq: number;
  /** Chunks of the transcript. One that is not stored is made again from the copied log when it is read. */
  readonly chunks: readonly string[];
  /** Events that follow the copied ones. */
  readonly ends: readonly CanonicalEvent[];
}

/**
 * Safe to repeat. `taken`: the store has another log under the id, and nothing was copied. `deleted`: the fork was
 * deleted meanwhile.
 * @throws {StoreUnavailable}
 */
export async function copyLog(
  deps: CopyDeps,
  request: CopyRequest,
): Promise<'copied' | 'taken' | 'deleted'> {
  const { from, to, throughSeq, chunks, ends } = request;
  const copyBlob = blobCopy(deps, request);
  for (const id of chunks) await copyBlob(id);
  let lastSeq = 0;
  for await (const events of pagesOf(copiesOf(deps.log, { from, to, throughSeq }, ends))) {
    if (!(await isOwn(deps.log, to, events[0]))) return 'taken';
    for (const event of events) for (const id of blobsIn(event)) await copyBlob(id);
    const result = await deps.log.append({ ...to, events, copied: true });
    if (result.outcome === 'deleted') return 'deleted';
    if (result.outcome === 'gap')
      throw new StoreUnavailable(`The log of the fork was removed behind ${result.lastSeq}`);
    lastSeq = events.at(-1)?.seq ?? lastSeq;
  }
  if (lastSeq < throughSeq)
    throw new StoreUnavailable('The log of the origin was removed while it was copied');
  return 'copied';
}

/** Copies each value once, over all attempts. */
function blobCopy(
  { blobs, signal }: CopyDeps,
  { from, to }: CopyRequest,
): (id: string) => Promise<void> {
  const copied = new Set<string>();
  return async (id) => {
    if (blobs === undefined || copied.has(id)) return;
    signal?.throwIfAborted();
    copied.add(id);
    if ((await blobs.get(to, id, NO_BYTES)) !== undefined) return;
    const found = await blobs.get(from, id);
    if (found !== undefined) await blobs.put(to, { type: found.ref.type, content: found.content });
  };
}

async function* copiesOf(
  log: EventLog,
  { from, to, throughSeq }: Pick<CopyRequest, 'from' | 'to' | 'throughSeq'>,
  ends: readonly CanonicalEvent[],
): AsyncGenerator<CanonicalEvent> {
  const { tenant, conversationId } = to;
  for await (const event of wholeLog(log, from, from.generation)) {
    if (event.seq > throughSeq) break;
    yield event.type === 'conversation_started' ? { ...event, tenant, conversationId } : event;
  }
  yield* ends;
}

async function* pagesOf(
  events: AsyncIterable<CanonicalEvent>,
): AsyncGenerator<readonly CanonicalEvent[]> {
  let page: CanonicalEvent[] = [];
  let bytes = 0;
  for await (const event of events) {
    page.push(event);
    bytes += utf8Bytes(JSON.stringify(event));
    if (page.length < MAX_EVENTS && bytes < MAX_BYTES) continue;
    yield page;
    page = [];
    bytes = 0;
  }
  if (page.length > 0) yield page;
}

/** Whether the log of the fork, if the store has one already, begins with this event. */
async function isOwn(
  log: EventLog,
  to: ConversationKey,
  event: CanonicalEvent | undefined,
): Promise<boolean> {
  if (event?.seq !== 1) return true;
  const [first] = (await log.read(to, { afterSeq: 0, limit: 1 }))?.events ?? [];
  return first === undefined || contentHash(first) === contentHash(event);
}

/** Ids of the stored values to which an event refers. */
function blobsIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(blobsIn);
  if (!isRecord(value)) return [];
  const { id, bytes, type } = value;
  if (isBlobId(id) && typeof bytes === 'number' && typeof type === 'string') return [id];
  return Object.values(value).flatMap(blobsIn);
}

/** Copies a log up to a seq into the log of a fork, with the stored values that its events name. Runs in workers. */
import type { CanonicalEvent } from '../../protocol/log/events.js';
import { isBlobId } from '../../protocol/values/blobs.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { isRecord, utf8Bytes } from '../../protocol/values/json.js';
import { contentHash } from '../../store/plans/append.js';
import type { BlobStore } from '../../store/ports/blobs.js';
import type { EventLog } from '../../store/ports/log.js';
import { wholeLog } from '../reading/whole-log.js';

/** Bounds of one append. */
const MAX_EVENTS = 500;
const MAX_BYTES = 4 * 1024 * 1024;

export interface CopyDeps {
  readonly log: EventLog;
  readonly blobs: Pick<BlobStore, 'get' | 'put'> | undefined;
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
  const copied = new Set<string>();
  const copyBlob = async (id: string): Promise<void> => {
    if (copied.has(id)) return;
    copied.add(id);
    const found = await deps.blobs?.get(from, id);
    if (found !== undefined)
      await deps.blobs?.put(to, { type: found.ref.type, content: found.content });
  };
  for (const id of chunks) await copyBlob(id);
  for await (const events of pagesOf(copiesOf(deps.log, { from, to, throughSeq }, ends))) {
    if (!(await isOwn(deps.log, to, events[0]))) return 'taken';
    for (const event of events) for (const id of blobsIn(event)) await copyBlob(id);
    const { outcome } = await deps.log.append({ ...to, events, copied: true });
    if (outcome === 'deleted') return outcome;
  }
  return 'copied';
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

/** Reads one model call for people: from the audit, else by the log, else the reason why it is not known. */
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { ModelCallRead, ShownRequest } from '../../protocol/model/model-calls.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { isRecord } from '../../protocol/values/json.js';
import { type AuditBlobs, auditedRequest } from './audited.js';
import { changesOf } from './changes.js';
import { callsAt, derivedRequest, type LoggedCall } from './derived.js';

interface Wanted {
  readonly key: ConversationKey;
  readonly generation: number;
  readonly seq: number;
}

interface Known {
  readonly source: ModelCallRead['source'];
  readonly request?: ShownRequest;
  readonly unknown: readonly string[];
  readonly reason?: string;
}

/** Files of one request that are looked for. */
const MAX_FILES = 50;

/**
 * Undefined when no event with this seq is a model call. Only reads.
 * @param events of the generation, from the first on
 * @throws {StoreUnavailable}
 */
export async function modelCallAt(
  blobs: AuditBlobs | undefined,
  events: AsyncIterable<CanonicalEvent>,
  { key, generation, seq }: Wanted,
): Promise<ModelCallRead | undefined> {
  const found = await callsAt(events, seq);
  if (found === undefined) return undefined;
  const { call, before } = found;
  const known = await knownOf(blobs, key, call);
  const { turnId, step, attempt, model } = call.event;
  return {
    ...{ source: known.source, generation, seq, turnId, step, attempt, agent: call.agent, model },
    ...(known.request === undefined ? {} : { request: known.request }),
    unknown: known.unknown,
    ...(known.reason === undefined ? {} : { reason: known.reason }),
    ...(before === undefined ? {} : await comparedWith(before, { blobs, key, call, known })),
  };
}

/** Requests of the same source are compared: an audited one has texts that no log has. */
async function comparedWith(
  before: LoggedCall,
  given: {
    readonly blobs: AuditBlobs | undefined;
    readonly key: ConversationKey;
    readonly call: LoggedCall;
    readonly known: Known;
  },
): Promise<Pick<ModelCallRead, 'changes'>> {
  const { blobs, key, call, known } = given;
  const old = known.source === 'audit' ? await auditOf(blobs, key, before) : undefined;
  const isWhole = old !== undefined;
  const first = isWhole ? old : derived(before).request;
  const second = isWhole ? known.request : derived(call).request;
  if (first === undefined || second === undefined) return {};
  const since = before.event.seq;
  return { changes: changesOf({ before: first, since }, second, isWhole) };
}

async function knownOf(
  blobs: AuditBlobs | undefined,
  key: ConversationKey,
  call: LoggedCall,
): Promise<Known> {
  const audited = await auditOf(blobs, key, call);
  if (audited !== undefined) return { source: 'audit', request: audited, unknown: [] };
  const known = derived(call);
  if (known.request === undefined || blobs === undefined) return known;
  return { ...known, unknown: [...known.unknown, ...(await goneFiles(blobs, key, known.request))] };
}

async function auditOf(
  blobs: AuditBlobs | undefined,
  key: ConversationKey,
  { event: { turnId, step, attempt, at } }: LoggedCall,
): Promise<ShownRequest | undefined> {
  if (blobs === undefined) return undefined;
  return await auditedRequest(blobs, key, { turnId, step, attempt, at });
}

function derived(call: LoggedCall): Known {
  const made = derivedRequest(call);
  if ('reason' in made) return { source: 'unavailable', unknown: [], reason: made.reason };
  return { source: 'derived', ...made };
}

/** A sentence for each file of the messages that is not stored any more. */
async function goneFiles(
  blobs: AuditBlobs,
  key: ConversationKey,
  { messages }: ShownRequest,
): Promise<readonly string[]> {
  const files = messages.flatMap((message) => (message.role === 'user' ? message.parts : []));
  const ids = files.flatMap((part) => {
    if (part.type === 'text' || !('blob' in part.source)) return [];
    const { blob } = part.source;
    return isRecord(blob) ? [blob.id] : [];
  });
  const gone: string[] = [];
  for (const id of new Set(ids.slice(0, MAX_FILES)))
    if ((await blobs.get(key, id, { offset: 0, length: 1 })) === undefined)
      gone.push(`The content of the file ${id.slice(0, 8)}…: it is not stored any more.`);
  return gone;
}

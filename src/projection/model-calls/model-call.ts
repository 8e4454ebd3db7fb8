/**
 * Reads one model call for people: from the audit, else by the log and the agent's definition, else the reason why it is
 * not known.
 */
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { ModelDefinition } from '../../protocol/model/definitions.js';
import type { ModelCallRead, ShownRequest } from '../../protocol/model/model-calls.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { isRecord } from '../../protocol/values/json.js';
import { type AuditBlobs, auditedAt, auditedRequest } from './audited.js';
import { changesOf } from './changes.js';
import type { FindDefinition } from './definitions.js';
import { callsAt, derivedRequest, type LoggedCall } from './derived.js';

interface Wanted {
  readonly key: ConversationKey;
  readonly generation: number;
  readonly seq: number;
}

/** Where requests are found, besides the log. */
export interface RequestSources {
  readonly blobs: AuditBlobs | undefined;
  readonly definitions: FindDefinition | undefined;
}

interface Known extends Pick<ModelCallRead, 'source' | 'request' | 'definition' | 'reason'> {
  readonly unknown: readonly string[];
  /** Whether the tools and the settings of the request are known. */
  readonly isDefined: boolean;
}

/** Files of one request that are looked for. */
const MAX_FILES = 50;

/**
 * Undefined when no event with this seq is a model call. Only reads.
 * @param events of the generation, from the first on
 * @throws {StoreUnavailable}
 */
export async function modelCallAt(
  sources: RequestSources,
  events: AsyncIterable<CanonicalEvent>,
  { key, generation, seq }: Wanted,
): Promise<ModelCallRead | undefined> {
  const found = await callsAt(events, seq);
  if (found === undefined) return undefined;
  const { call, before } = found;
  const { isDefined, ...known } = await knownOf(sources, key, call);
  const { turnId, step, attempt, model } = call.event;
  const about = { generation, seq, turnId, step, attempt, agent: call.agent, model };
  const compared =
    before === undefined
      ? {}
      : await comparedWith(before, { sources, key, call, known: { ...known, isDefined } });
  return { ...about, ...known, ...compared };
}

/** Requests of the same source are compared: an audited one has texts that no log has. */
async function comparedWith(
  before: LoggedCall,
  given: {
    readonly sources: RequestSources;
    readonly key: ConversationKey;
    readonly call: LoggedCall;
    readonly known: Known;
  },
): Promise<Pick<ModelCallRead, 'changes'>> {
  const { sources, key, call, known } = given;
  const old = known.source === 'audit' ? await auditOf(sources, key, before) : undefined;
  const [first, second] =
    old === undefined
      ? [
          await derived(sources, key, before),
          known.source === 'audit' ? await derived(sources, key, call) : known,
        ]
      : [{ request: old, isDefined: true }, known];
  if (first.request === undefined || second.request === undefined) return {};
  const since = before.event.seq;
  const isWhole = first.isDefined && second.isDefined;
  return { changes: changesOf({ before: first.request, since }, second.request, isWhole) };
}

async function knownOf(
  sources: RequestSources,
  key: ConversationKey,
  call: LoggedCall,
): Promise<Known> {
  const audited = await auditOf(sources, key, call);
  if (audited !== undefined)
    return { source: 'audit', request: audited, unknown: [], isDefined: true };
  const known = await derived(sources, key, call);
  const { blobs } = sources;
  if (known.request === undefined || blobs === undefined) return known;
  return { ...known, unknown: [...known.unknown, ...(await goneFiles(blobs, key, known.request))] };
}

async function auditOf(
  { blobs }: RequestSources,
  key: ConversationKey,
  { event: { turnId, step, attempt, at, context } }: LoggedCall,
): Promise<ShownRequest | undefined> {
  if (blobs === undefined) return undefined;
  const wanted = { turnId, step, attempt, at };
  // A worker that names the definition names the audit, too, if there is one.
  if (context?.definition !== undefined)
    return context.audit === undefined
      ? undefined
      : await auditedAt(blobs, key, { ...wanted, id: context.audit });
  return await auditedRequest(blobs, key, wanted);
}

async function derived(
  sources: RequestSources,
  key: ConversationKey,
  call: LoggedCall,
): Promise<Known> {
  const definition = await definitionFor(sources, key, call);
  const made = derivedRequest(call, definition);
  if ('reason' in made)
    return { source: 'unavailable', unknown: [], isDefined: false, reason: made.reason };
  const { changed } = call.event.context?.definition ?? {};
  const isChanged = definition !== undefined && changed !== undefined;
  return { source: 'derived', ...made, ...(isChanged ? { definition } : {}) };
}

/** The definition that the call names: that of the tenant's own agent, else that of the agent in code. */
async function definitionFor(
  { definitions }: RequestSources,
  { tenant }: ConversationKey,
  { agent, event: { context } }: LoggedCall,
): Promise<ModelDefinition | undefined> {
  if (definitions === undefined || context?.definition === undefined) return undefined;
  const { digest } = context.definition;
  return (await definitions({ tenant, agent, digest })) ?? (await definitions({ agent, digest }));
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

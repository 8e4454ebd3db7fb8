/**
 * Definitions of agents beside the event log, by their digests: workers keep those of their model calls, and readers
 * derive the requests of these calls with them.
 */
import { LRUCache } from 'lru-cache';
import type {
  DefinitionKey,
  KeepDefinition,
  ModelDefinition,
} from '../../protocol/model/definitions.js';
import type { Json } from '../../protocol/values/json.js';
import { isRecord } from '../../protocol/values/json.js';
import type { DocumentStore, DocumentsKey } from '../../store/ports/documents/documents.js';
import type { ProjectionLogger } from '../source/outages.js';

/** Names in stores are for ever. */
const KIND = 'agents.definitions';
/** No tenant has this name, so that the definitions of agents in code are deleted with none. */
const NO_TENANT = '';
/** Definitions of one agent that are kept; the ones that were written longest ago go first. */
export const MAX_DEFINITIONS = 20;
/** Characters of one definition as JSON. With `MAX_DEFINITIONS`, it bounds the size of one list of definitions. */
export const MAX_DEFINITION_CHARS = 128 * 1024;
/** Definitions that one process remembers to have written. */
export const MAX_WRITTEN = 10_000;
/**
 * A definition in use is written again after this time, because the bound or the deletion of its tenant may have
 * removed it since, and so that it is among the newest of its agent.
 */
export const REWRITE_MS = 3_600_000;
/** Milliseconds after which a definition that could not be written is tried again. */
export const RETRY_MS = 60_000;

/** @throws {StoreUnavailable} */
export type FindDefinition = (key: DefinitionKey) => Promise<ModelDefinition | undefined>;

/**
 * Writes each definition that is used once per `REWRITE_MS` in this process, and after an error once more per
 * `RETRY_MS`. One that is too large is logged once per `REWRITE_MS`.
 */
export function definitionKeeper(
  documents: Pick<DocumentStore, 'list' | 'put' | 'delete'>,
  { logger, now = Date.now }: { readonly logger: ProjectionLogger; readonly now?: () => number },
): KeepDefinition {
  const written = new LRUCache<string, true>({
    ...{ max: MAX_WRITTEN, ttl: REWRITE_MS, ttlResolution: 0 },
    perf: { now },
  });
  return (key, definition) => {
    const { tenant, agent, digest } = key;
    const name = JSON.stringify([tenant, agent, digest]);
    if (written.get(name) !== undefined) return;
    written.set(name, true);
    keep(documents, { key, definition, nowMs: now() }).catch((error: unknown) => {
      if (!(error instanceof RangeError)) written.set(name, true, { ttl: RETRY_MS });
      const reason = error instanceof Error ? error.message : String(error);
      logger.warn(`definition of agent "${agent}" not kept: ${reason}`);
    });
  };
}

async function keep(
  documents: Pick<DocumentStore, 'list' | 'put' | 'delete'>,
  {
    key,
    definition,
    nowMs,
  }: {
    readonly key: DefinitionKey;
    readonly definition: ModelDefinition;
    readonly nowMs: number;
  },
): Promise<void> {
  const chars = JSON.stringify(definition).length;
  if (chars > MAX_DEFINITION_CHARS)
    throw new RangeError(`it has ${chars} characters, more than ${MAX_DEFINITION_CHARS}`);
  const given = {
    documents: [{ name: key.digest, document: definition as unknown as Json }],
    ...{ most: MAX_DEFINITIONS, nowMs },
  };
  const of = documentsOf(key);
  if ((await documents.put(of, given)) !== undefined) return;
  const kept = await documents.list(of, MAX_DEFINITIONS);
  const oldest = kept
    .toSorted((one, other) => one.version - other.version)
    .slice(0, Math.max(0, kept.length + 1 - MAX_DEFINITIONS));
  await documents.delete(
    of,
    oldest.map(({ name }) => name),
  );
  if ((await documents.put(of, given)) === undefined)
    throw new Error('other workers have written as many definitions at the same time');
}

export function definitionFinder(documents: Pick<DocumentStore, 'get'>): FindDefinition {
  return async (key) => {
    const found = await documents.get(documentsOf(key), key.digest);
    const document: unknown = found?.document;
    return isDefinition(document) ? document : undefined;
  };
}

function documentsOf({ tenant = NO_TENANT, agent }: DefinitionKey): DocumentsKey {
  return { tenant, kind: KIND, owner: agent };
}

function isDefinition(value: unknown): value is ModelDefinition {
  return isRecord(value) && typeof value['system'] === 'string' && Array.isArray(value['tools']);
}

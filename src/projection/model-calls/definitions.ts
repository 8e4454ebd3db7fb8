/**
 * Definitions of agents beside the event log, by their digests: workers keep those of their model calls, and readers
 * derive the requests of these calls with them.
 */
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
/** Definitions of one agent that are kept; the ones that workers began to use longest ago go first. */
export const MAX_DEFINITIONS = 50;
/** Characters of one definition as JSON. */
export const MAX_DEFINITION_CHARS = 1_000_000;

/** @throws {StoreUnavailable} */
export type FindDefinition = (key: DefinitionKey) => Promise<ModelDefinition | undefined>;

/** Writes each definition once in this process, and once more after an error. */
export function definitionKeeper(
  documents: Pick<DocumentStore, 'list' | 'put' | 'delete'>,
  { logger, now = Date.now }: { readonly logger: ProjectionLogger; readonly now?: () => number },
): KeepDefinition {
  const begun = new Set<string>();
  return (key, definition) => {
    const { tenant, agent, digest } = key;
    const name = JSON.stringify([tenant, agent, digest]);
    if (begun.has(name)) return;
    begun.add(name);
    keep(documents, { key, definition, nowMs: now() }).catch((error: unknown) => {
      begun.delete(name);
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
  const oldest = kept.toSorted((one, other) => one.version - other.version).slice(0, 1);
  await documents.delete(
    of,
    oldest.map(({ name }) => name),
  );
  await documents.put(of, given);
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

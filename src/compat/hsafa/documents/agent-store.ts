/** Stores of documents of agents: the port, one in this process, one beside the event log. Runs in Node. */
import { emitWarning } from 'node:process';
import type { Documents, DocumentsOf, KeptDocument } from '../../../define/plugin/documents.js';
import {
  type AgentManifest,
  STORED_AGENTS,
  type StoredAgent as StoredManifest,
} from '../../../protocol/conversation/agents.js';
import type { Json } from '../../../protocol/values/json.js';
import type { AgentDocument } from './forms.js';

/** The catalog of these agents, as workers announce it. Names in stores are for ever. */
export const CATALOG = 'hsafa.agents';

/** Deleted agents of a tenant that are remembered; calls of others wait for a worker that has the agent. */
const MAX_DELETED = 10_000;

export interface StoredAgent {
  readonly name: string;
  /** Greater with each change, also after a deletion. */
  readonly version: number;
  /** Version of the first document since the agent was created, or deleted last. */
  readonly since: number;
  readonly document: AgentDocument;
  /** The agent as clients know it. */
  readonly manifest: AgentManifest;
  /** ISO 8601 */
  readonly changedAt: string;
}

/** Keeps documents of agents. `put` is atomic; an agent that is deleted has at any moment a document or the note. */
export interface AgentDocumentStore {
  /** The agents of a tenant, by name; at most `limit`. */
  list(tenant: string, limit: number): Promise<readonly StoredAgent[]>;
  /** The agent of this name; `deleted` when there was one. Read before each activity of its conversations. */
  get(tenant: string, name: string): Promise<StoredAgent | 'deleted' | undefined>;
  /** Stores the next version; undefined, with nothing changed, when the tenant would have more than `most`. */
  put(
    tenant: string,
    agent: Pick<StoredAgent, 'name' | 'document' | 'manifest'>,
    most: number,
  ): Promise<StoredAgent | undefined>;
  /** Whether there was such an agent. */
  delete(tenant: string, name: string): Promise<boolean>;
}

/** A store in this process, for tests and for one process that serves and works. Lost with the process. */
export function memoryAgentDocuments(now: () => Date = () => new Date()): AgentDocumentStore {
  const tenants = new Map<string, Map<string, StoredAgent | 'deleted'>>();
  let version = 0;
  const allOf = (tenant: string): Map<string, StoredAgent | 'deleted'> => {
    const all = tenants.get(tenant) ?? new Map<string, StoredAgent | 'deleted'>();
    tenants.set(tenant, all);
    return all;
  };
  const listOf = (tenant: string): readonly StoredAgent[] =>
    [...allOf(tenant).values()]
      .filter((each) => each !== 'deleted')
      .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return {
    list: (tenant, limit) => Promise.resolve(listOf(tenant).slice(0, limit)),
    get: (tenant, name) => Promise.resolve(allOf(tenant).get(name)),
    put: (tenant, { name, document, manifest }, most) => {
      const before = allOf(tenant).get(name) ?? 'deleted';
      if (before === 'deleted' && listOf(tenant).length >= most) return Promise.resolve(undefined);
      version += 1;
      const since = before === 'deleted' ? version : before.since;
      const given = structuredClone({ name, document, manifest });
      const stored = { ...given, version, since, changedAt: now().toISOString() };
      allOf(tenant).set(name, stored);
      return Promise.resolve(stored);
    },
    delete: (tenant, name) => {
      const before = allOf(tenant).get(name) ?? 'deleted';
      if (before !== 'deleted') allOf(tenant).set(name, 'deleted');
      return Promise.resolve(before !== 'deleted');
    },
  };
}

/**
 * The documents of a service: `keptAgentDocuments(colloquy.documents)` of `openColloquy`. Clients on the same event log
 * find the agents there. They are deleted with their tenant. `warn` gets deletions that leave no note.
 * @defaultValue warn: a warning of the process
 */
export function keptAgentDocuments(
  documents: Documents,
  now: () => number = Date.now,
  warn: (message: string) => void = emitWarning,
): AgentDocumentStore {
  const keyOf = (tenant: string): DocumentsOf => ({ ...STORED_AGENTS, tenant });
  const deletedOf = (tenant: string): DocumentsOf => ({ ...keyOf(tenant), kind: 'agents.deleted' });
  return {
    list: async (tenant, limit) =>
      (await documents.list(keyOf(tenant), limit)).flatMap((kept) => storedIn(kept) ?? []),
    get: async (tenant, name) => {
      const kept = await documents.get(keyOf(tenant), name);
      if (kept !== undefined) return storedIn(kept);
      const deleted = await documents.get(deletedOf(tenant), name);
      return deleted === undefined ? undefined : 'deleted';
    },
    put: async (tenant, { name, document, manifest }, most) => {
      const stored: StoredManifest = {
        ...{ catalog: CATALOG, manifest },
        source: document as unknown as Json,
      };
      const given = { name, document: stored as unknown as Json };
      const written = { documents: [given], most, nowMs: now() };
      const [kept] = (await documents.put(keyOf(tenant), written)) ?? [];
      return kept === undefined ? undefined : storedIn(kept);
    },
    delete: async (tenant, name) => {
      if ((await documents.get(keyOf(tenant), name)) === undefined) return false;
      // Written first, so that no worker finds neither. An agent that is put again goes before it, and leaves it: to
      // remove it then could take that of another deletion.
      const given = { documents: [{ name, document: null }], most: MAX_DELETED, nowMs: now() };
      if ((await documents.put(deletedOf(tenant), given)) === undefined)
        warn(
          `tenant "${tenant}" has notes of ${MAX_DELETED} deleted agents already: calls of agent "${name}" ` +
            'wait for a worker that has it',
        );
      return (await documents.delete(keyOf(tenant), [name])).length > 0;
    },
  };
}

/** Undefined for an agent of another catalog. */
function storedIn({
  name,
  version,
  since,
  document,
  changedAt,
}: KeptDocument): StoredAgent | undefined {
  const { catalog, manifest, source } = document as unknown as StoredManifest;
  if (catalog !== CATALOG) return undefined;
  return {
    ...{ name, version, since, manifest, changedAt },
    document: source as unknown as AgentDocument,
  };
}

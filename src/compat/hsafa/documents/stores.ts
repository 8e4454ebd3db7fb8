/** Stores of documents of tools and MCP servers: the port, one in this process, one in the event log. Runs anywhere. */
import type { Documents, DocumentsOf, KeptDocument } from '../../../define/plugin/documents.js';
import type { Json } from '../../../protocol/values/json.js';
import { MAX_AGENT_SERVERS, type ServerDocument, type ToolDocument } from './forms.js';

export interface DocumentOwner {
  readonly tenant: string;
  /** Name of the agent that has the tools, or the servers. */
  readonly agent: string;
}

/** A document as a store keeps it. */
export interface Stored<Document> {
  readonly name: string;
  /** Greater with each change, also after a deletion. */
  readonly version: number;
  readonly document: Document;
  /** ISO 8601 */
  readonly changedAt: string;
}

export type StoredTool = Stored<ToolDocument>;
export type StoredServer = Stored<ServerDocument>;

/** Keeps the documents of agents. Each method is atomic. */
export interface DocumentStore<Document> {
  /**
   * The documents of an agent, by name; at most `limit`. Read before each model call, those of servers also before each
   * run of a call.
   */
  list(of: DocumentOwner, limit: number): Promise<readonly Stored<Document>[]>;
  /** Stores the next version; undefined, with nothing changed, when the agent would have more than `most` documents. */
  put(of: DocumentOwner, document: Document, most: number): Promise<Stored<Document> | undefined>;
  /** Whether there was such a document. */
  delete(of: DocumentOwner, name: string): Promise<boolean>;
}

/** Keeps tool documents. Each method is atomic. */
export type ToolDocumentStore = DocumentStore<ToolDocument>;

/** Keeps documents of MCP servers. Each method is atomic. */
export interface ServerDocumentStore extends DocumentStore<ServerDocument> {
  /** Whether there is a document of this name, and was one at all times since it had this version. */
  has(of: DocumentOwner, at: Pick<StoredServer, 'name' | 'version'>): Promise<boolean>;
}

type StoreWithPast<Document> = DocumentStore<Document> & Pick<ServerDocumentStore, 'has'>;

/** A store in this process, for tests and for one process that serves and works. Lost with the process. */
export function memoryToolDocuments(now: () => Date = () => new Date()): ToolDocumentStore {
  return inMemory(now);
}

/** The same for MCP servers. */
export function memoryServerDocuments(now: () => Date = () => new Date()): ServerDocumentStore {
  return inMemory(now);
}

function inMemory<Document extends { readonly name: string }>(
  now: () => Date,
): StoreWithPast<Document> {
  const owners = new Map<string, Map<string, Stored<Document>>>();
  const versions = new Map<string, number>();
  /** The first version since there was none. */
  const since = new Map<string, number>();
  const keyOf = ({ tenant, agent }: DocumentOwner): string => JSON.stringify([tenant, agent]);
  const documentsOf = (of: DocumentOwner): ReadonlyMap<string, Stored<Document>> =>
    owners.get(keyOf(of)) ?? new Map<string, Stored<Document>>();
  return {
    list: (of, limit) =>
      Promise.resolve(
        [...documentsOf(of).values()]
          .sort((one, other) => (one.name < other.name ? -1 : 1))
          .slice(0, limit),
      ),
    put: (of, document, most) => {
      const { name } = document;
      const own = new Map(documentsOf(of));
      if (!own.has(name) && own.size >= most) return Promise.resolve(undefined);
      const key = JSON.stringify([keyOf(of), name]);
      const version = (versions.get(key) ?? 0) + 1;
      versions.set(key, version);
      if (!own.has(name)) since.set(key, version);
      const stored = {
        name,
        version,
        document: structuredClone(document),
        changedAt: now().toISOString(),
      };
      owners.set(keyOf(of), own.set(name, stored));
      return Promise.resolve(stored);
    },
    delete: (of, name) => {
      const own = new Map(documentsOf(of));
      const was = own.delete(name);
      owners.set(keyOf(of), own);
      return Promise.resolve(was);
    },
    has: (of, { name, version }) => {
      const first = since.get(JSON.stringify([keyOf(of), name])) ?? Infinity;
      return Promise.resolve(documentsOf(of).has(name) && version >= first);
    },
  };
}

/**
 * The documents of a service: `keptToolDocuments(colloquy.documents)` of `openColloquy`. They are deleted with their
 * tenant.
 */
export function keptToolDocuments(
  documents: Documents,
  now: () => number = Date.now,
): ToolDocumentStore {
  return kept(documents, { kind: 'hsafa.tools', now });
}

/** The same for MCP servers. */
export function keptServerDocuments(
  documents: Documents,
  now: () => number = Date.now,
): ServerDocumentStore {
  return kept(documents, { kind: 'hsafa.servers', now });
}

function kept<Document extends { readonly name: string }>(
  documents: Documents,
  { kind, now }: { readonly kind: string; readonly now: () => number },
): StoreWithPast<Document> {
  const keyOf = ({ tenant, agent }: DocumentOwner): DocumentsOf => ({ tenant, kind, owner: agent });
  const storedOf = ({ name, version, document, changedAt }: KeptDocument): Stored<Document> => {
    return { name, version, document: document as unknown as Document, changedAt };
  };
  return {
    list: async (of, limit) => (await documents.list(keyOf(of), limit)).map(storedOf),
    put: async (of, document, most) => {
      const given = { name: document.name, document: document as unknown as Json };
      const written = { documents: [given], most, nowMs: now() };
      const [stored] = (await documents.put(keyOf(of), written)) ?? [];
      return stored === undefined ? undefined : storedOf(stored);
    },
    delete: async (of, name) => (await documents.delete(keyOf(of), [name])).length > 0,
    has: async (of, at) => {
      const all = await documents.list(keyOf(of), MAX_AGENT_SERVERS);
      return all.some(({ name, since }) => name === at.name && at.version >= since);
    },
  };
}

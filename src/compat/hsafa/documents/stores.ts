/** Stores of tool documents: the port, one in this process, and one in the event log. Runs anywhere. */
import type { Documents, DocumentsOf, KeptDocument } from '../../../define/plugin/documents.js';
import type { Json } from '../../../protocol/values/json.js';
import type { ToolDocument } from './forms.js';

export interface DocumentOwner {
  readonly tenant: string;
  /** Name of the agent that has the tools. */
  readonly agent: string;
}

export interface StoredTool {
  readonly name: string;
  /** Greater with each change, also after a deletion. */
  readonly version: number;
  readonly document: ToolDocument;
  /** ISO 8601 */
  readonly changedAt: string;
}

/** Keeps tool documents. Each method is atomic. */
export interface ToolDocumentStore {
  /** The documents of an agent, by name; at most `limit`. Read before each model call. */
  list(of: DocumentOwner, limit: number): Promise<readonly StoredTool[]>;
  /** Stores the next version; undefined, with nothing changed, when the agent would have more than `most` documents. */
  put(of: DocumentOwner, document: ToolDocument, most: number): Promise<StoredTool | undefined>;
  /** Whether there was such a document. */
  delete(of: DocumentOwner, name: string): Promise<boolean>;
}

/** A store in this process, for tests and for one process that serves and works. Lost with the process. */
export function memoryToolDocuments(now: () => Date = () => new Date()): ToolDocumentStore {
  const owners = new Map<string, Map<string, StoredTool>>();
  const versions = new Map<string, number>();
  const keyOf = ({ tenant, agent }: DocumentOwner): string => JSON.stringify([tenant, agent]);
  const toolsOf = (of: DocumentOwner): ReadonlyMap<string, StoredTool> =>
    owners.get(keyOf(of)) ?? new Map<string, StoredTool>();
  return {
    list: (of, limit) =>
      Promise.resolve(
        [...toolsOf(of).values()]
          .sort((one, other) => (one.name < other.name ? -1 : 1))
          .slice(0, limit),
      ),
    put: (of, document, most) => {
      const { name } = document;
      const tools = new Map(toolsOf(of));
      if (!tools.has(name) && tools.size >= most) return Promise.resolve(undefined);
      const key = JSON.stringify([keyOf(of), name]);
      const version = (versions.get(key) ?? 0) + 1;
      versions.set(key, version);
      const stored = {
        name,
        version,
        document: structuredClone(document),
        changedAt: now().toISOString(),
      };
      owners.set(keyOf(of), tools.set(name, stored));
      return Promise.resolve(stored);
    },
    delete: (of, name) => {
      const tools = new Map(toolsOf(of));
      const was = tools.delete(name);
      owners.set(keyOf(of), tools);
      return Promise.resolve(was);
    },
  };
}

const KIND = 'hsafa.tools';

/**
 * The documents of a service: `keptToolDocuments(colloquy.documents)` of `openColloquy`. They are deleted with their
 * tenant.
 */
export function keptToolDocuments(
  documents: Documents,
  now: () => number = Date.now,
): ToolDocumentStore {
  return {
    list: async (of, limit) => (await documents.list(keyOf(of), limit)).map(toolOf),
    put: async (of, document, most) => {
      const kept = { name: document.name, document: document as unknown as Json };
      const given = { documents: [kept], most, nowMs: now() };
      const [stored] = (await documents.put(keyOf(of), given)) ?? [];
      return stored === undefined ? undefined : toolOf(stored);
    },
    delete: async (of, name) => (await documents.delete(keyOf(of), [name])).length > 0,
  };
}

function keyOf({ tenant, agent }: DocumentOwner): DocumentsOf {
  return { tenant, kind: KIND, owner: agent };
}

function toolOf({ document, ...kept }: KeptDocument): StoredTool {
  return { ...kept, document: document as unknown as ToolDocument };
}

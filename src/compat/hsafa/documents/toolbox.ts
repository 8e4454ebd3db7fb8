/**
 * Tool documents that change at run time: a port with versions, and the plugin by which agents have them. A call that
 * waits keeps the version that it was made with. Runs anywhere.
 */
import { DefinitionError } from '../../../define/checks/problems.js';
import { definePlugin } from '../../../define/define-plugin.js';
import type { Plugin } from '../../../define/plugin/types.js';
import { MAX_FACTORY_ARGS_BYTES, MAX_MADE_TOOLS } from '../../../protocol/limits/limits.js';
import { type Json, utf8Bytes } from '../../../protocol/values/json.js';
import { toWireName } from '../../../protocol/values/tool-names.js';
import type { Warning } from './findings.js';
import type { ToolDocument } from './forms.js';
import { type HsafaOptions, hsafaTools } from './tools.js';

export interface DocumentOwner {
  readonly tenant: string;
  /** Name of the agent that has the tools. */
  readonly agent: string;
}

export interface StoredTool {
  readonly name: string;
  /** From 1, and one more with each change, also after a deletion. */
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

/** The JSON of `{version, document}` has to fit into the plan of each call. */
const MAX_STORED_BYTES = MAX_FACTORY_ARGS_BYTES - 64;
/** Documents of one agent of a tenant. */
const MAX_STORED_TOOLS = MAX_MADE_TOOLS;

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

export interface PutTool extends StoredTool {
  readonly warnings: readonly Warning[];
}

/** The documents of a store, checked before they are stored, and the plugin that gives them to agents. */
export interface HsafaToolbox {
  /** For `plugins` of agents whose tools change at run time. */
  readonly plugin: Plugin;
  list(of: DocumentOwner): Promise<readonly StoredTool[]>;
  /**
   * Stores a document, or its next version, for the model calls that follow.
   * @throws {DefinitionError} invalid_definition with every fault, also when it is too large, or one too many
   */
  put(of: DocumentOwner, document: unknown): Promise<PutTool>;
  /** Whether there was one. Calls that wait keep it. */
  delete(of: DocumentOwner, name: string): Promise<boolean>;
}

/** Gives documents of a store to agents. All workers of an agent have the same `options`. */
export function hsafaToolbox(store: ToolDocumentStore, options: HsafaOptions = {}): HsafaToolbox {
  const lenient = { ...options, strict: false };
  return {
    plugin: definePlugin({
      id: 'hsafa.tools',
      factories: { document: (args) => toolOf(args, lenient) },
      prepare: async ({ agent, tenant, tools, logger }) => {
        const stored = await store.list({ tenant, agent }, MAX_STORED_TOOLS);
        for (const { name, version, document } of stored) {
          const wireName = toWireName(name);
          if (tools.names.some((other) => toWireName(other) === wireName)) {
            logger.warn('tool document not used: the agent has a tool of this name', {
              tool: name,
            });
            continue;
          }
          try {
            tools.make('document', { version, document } as unknown as Json);
          } catch (error) {
            // One document that a store holds against the rules takes no tool from the others.
            const reason = error instanceof Error ? error.message : String(error);
            logger.error('tool document not used', { tool: name, version, reason });
          }
        }
      },
    }),
    list: async (of) => await store.list(of, MAX_STORED_TOOLS),
    put: async (of, document) => {
      refuseIf(Array.isArray(document), ['', 'must be one document']);
      // As JSON: no other part of it could be stored.
      const checked = JSON.parse(JSON.stringify(document ?? null)) as ToolDocument;
      const { warnings } = hsafaTools(checked, options);
      refuseIf(utf8Bytes(JSON.stringify(checked)) > MAX_STORED_BYTES, [
        '',
        `must be at most ${MAX_STORED_BYTES} bytes of JSON, since each call keeps its document`,
      ]);
      const stored = await store.put(of, checked, MAX_STORED_TOOLS);
      if (stored === undefined)
        throw new DefinitionError(`tool ${JSON.stringify(checked.name)}`, [
          { field: '', rule: `the agent has ${MAX_STORED_TOOLS} documents already` },
        ]);
      return { ...stored, warnings };
    },
    delete: async (of, name) => await store.delete(of, name),
  };
}

function refuseIf(isFault: boolean, [field, rule]: readonly [string, string]): void {
  if (isFault) throw new DefinitionError('a tool document', [{ field, rule }]);
}

function toolOf(args: Json, options: HsafaOptions) {
  const { document } = args as { readonly document?: Json };
  const [tool] = hsafaTools(document, options).tools;
  if (tool === undefined) throw new TypeError('unreachable: a document makes one tool');
  return tool;
}

/**
 * Tool documents that change at run time: a port with versions, and the plugin by which agents have them. A call that
 * waits keeps the version that it was made with. Runs anywhere.
 */
import { DefinitionError } from '../../../define/checks/problems.js';
import { definePlugin } from '../../../define/define-plugin.js';
import type { PluginContext } from '../../../define/plugin/context.js';
import { DOCUMENTS } from '../../../define/plugin/documents.js';
import type { Plugin } from '../../../define/plugin/types.js';
import { MAX_MADE_TOOLS } from '../../../protocol/limits/service-limits.js';
import { type Json, utf8Bytes } from '../../../protocol/values/json.js';
import { toWireName } from '../../../protocol/values/tool-names.js';
import type { Warning } from './findings.js';
import { MAX_STORED_BYTES, type ToolDocument } from './forms.js';
import {
  type DocumentOwner,
  keptToolDocuments,
  type StoredTool,
  type ToolDocumentStore,
} from './stores.js';
import { type HsafaOptions, hsafaTools } from './tools.js';

/** Documents of one agent of a tenant. */
const MAX_STORED_TOOLS = MAX_MADE_TOOLS;

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
  return {
    plugin: pluginOf(() => store, options),
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

/**
 * The plugin of a toolbox whose documents are in the event log of the worker, for modules of agents that open no log.
 * A worker whose event log keeps no documents does not start.
 */
export function hsafaToolPlugin(options: HsafaOptions = {}): Plugin {
  return pluginOf((ctx) => keptToolDocuments(ctx.port(DOCUMENTS)), options);
}

function pluginOf(
  storeOf: (ctx: PluginContext) => ToolDocumentStore,
  options: HsafaOptions,
): Plugin {
  const lenient = { ...options, strict: false };
  return definePlugin({
    id: 'hsafa.tools',
    factories: { document: (args) => toolOf(args, lenient) },
    ready: (ctx) => {
      storeOf(ctx);
    },
    prepare: async ({ agent, tenant, tools, logger, ...ctx }) => {
      const store = storeOf({ ...ctx, logger });
      const stored = await store.list({ tenant, agent }, MAX_STORED_TOOLS);
      for (const { name, version, document } of stored) {
        const wireName = toWireName(name);
        if (tools.names.some((other) => toWireName(other) === wireName)) {
          logger.warn('tool document not used: the agent has a tool of this name', { tool: name });
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
  });
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

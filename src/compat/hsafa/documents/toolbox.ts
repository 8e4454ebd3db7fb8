/**
 * Tool documents that change at run time: a port with versions, and the plugin by which agents have them. A call that
 * waits keeps the version that it was made with. Runs in Node.
 */
import { DefinitionError } from '../../../define/checks/problems.js';
import { definePlugin } from '../../../define/define-plugin.js';
import type { PluginContext } from '../../../define/plugin/context.js';
import { DOCUMENTS } from '../../../define/plugin/documents.js';
import type { Plugin } from '../../../define/plugin/types.js';
import { MAX_MADE_TOOLS } from '../../../protocol/limits/service-limits.js';
import type { Json } from '../../../protocol/values/json.js';
import { toWireName } from '../../../protocol/values/tool-names.js';
import { type DocumentBox, documentBox } from './box.js';
import type { ToolDocument } from './forms.js';
import { keptToolDocuments, type ToolDocumentStore } from './stores.js';
import { asStored, type HsafaOptions, hsafaTools } from './tools.js';

/** Documents of one agent of a tenant. */
const MAX_STORED_TOOLS = MAX_MADE_TOOLS;

/** The documents of a store, and the plugin that gives them to agents. Calls that wait keep a deleted document. */
export interface HsafaToolbox extends DocumentBox<ToolDocument> {
  /** For `plugins` of agents whose tools change at run time. */
  readonly plugin: Plugin;
}

/** Gives documents of a store to agents. All workers of an agent have the same `options`. */
export function hsafaToolbox(store: ToolDocumentStore, options: HsafaOptions = {}): HsafaToolbox {
  return {
    plugin: pluginOf(() => store, options),
    ...documentBox(store, {
      kind: 'tool document',
      most: MAX_STORED_TOOLS,
      check: (document) => checked(document, options),
    }),
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
  const lenient = asStored(options);
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

function checked(document: unknown, options: HsafaOptions) {
  if (Array.isArray(document))
    throw new DefinitionError('a tool document', [{ field: '', rule: 'must be one document' }]);
  return hsafaTools(document, options);
}

function toolOf(args: Json, options: HsafaOptions) {
  const { document } = args as { readonly document?: Json };
  const [tool] = hsafaTools(document, options).tools;
  if (tool === undefined) throw new TypeError('unreachable: a document makes one tool');
  return tool;
}

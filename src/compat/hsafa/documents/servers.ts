/**
 * MCP servers as documents that change at run time: a port with versions, and the plugin by which agents have them. A
 * call that waits keeps the version that it was made with, and ends once its server is deleted. Runs anywhere.
 */
import { definePlugin } from '../../../define/define-plugin.js';
import type { McpServer } from '../../../define/mcp/server.js';
import type { McpDeps } from '../../../define/mcp/spec.js';
import { mcpServer } from '../../../define/mcp-server.js';
import type { PluginContext } from '../../../define/plugin/context.js';
import { DOCUMENTS } from '../../../define/plugin/documents.js';
import type { Plugin } from '../../../define/plugin/types.js';
import type { Json } from '../../../protocol/values/json.js';
import type { ServerExtras } from './agents.js';
import { type DocumentBox, documentBox } from './box.js';
import { below, Findings, type Warning } from './findings.js';
import {
  MAX_AGENT_SERVERS,
  type ParsedServer,
  type ServerDocument,
  ServerDocumentSchema,
  unreadFields,
} from './forms.js';
import { checkAddress, headersOf } from './headers.js';
import { keptServerDocuments, type ServerDocumentStore, type StoredServer } from './stores.js';

export interface HsafaServerOptions {
  /** Refuses the documents where they would otherwise be taken with a warning. @defaultValue false */
  readonly strict?: boolean;
  /** Secrets that headers name. @defaultValue those of the tenant, by the worker's `secrets` */
  readonly secret?: (name: string) => (deps: McpDeps) => string | Promise<string>;
  /** Addresses that are not public; the same as the field of `httpTool`. @defaultValue none */
  readonly allowPrivate?: true | readonly string[];
  /** Adds to a server of the documents, by its name, such as its approval. @defaultValue nothing */
  readonly mcp?: (
    name: string,
  ) => Omit<ServerExtras, 'allowPrivate' | 'headers' | 'identity' | 'token'>;
}

/**
 * The servers of a store, and the plugin that gives them to agents. `put` connects to no server; calls of a deleted
 * server that wait end as those of a tool that is gone.
 */
export interface HsafaServers extends DocumentBox<ServerDocument> {
  /** For `plugins` of agents whose servers change at run time. */
  readonly plugin: Plugin;
}

/** Gives MCP servers of a store to agents. All workers of an agent have the same `options`. */
export function hsafaServers(
  store: ServerDocumentStore,
  options: HsafaServerOptions = {},
): HsafaServers {
  return {
    plugin: pluginOf(() => store, options),
    ...documentBox(store, {
      kind: 'MCP server',
      most: MAX_AGENT_SERVERS,
      check: (document) => serverOf(document, options),
    }),
  };
}

/**
 * The plugin of servers whose documents are in the event log of the worker, for modules of agents that open no log. A
 * worker whose event log keeps no documents does not start.
 */
export function hsafaServerPlugin(options: HsafaServerOptions = {}): Plugin {
  return pluginOf((ctx) => keptServerDocuments(ctx.port(DOCUMENTS)), options);
}

function pluginOf(
  storeOf: (ctx: PluginContext) => ServerDocumentStore,
  options: HsafaServerOptions,
): Plugin {
  const lenient = { ...options, strict: false };
  return definePlugin({
    id: 'hsafa.servers',
    servers: {
      document: {
        make: (args) => serverOf(storedIn(args).document, lenient).server,
        has: async (args, { agent, tenant, ...ctx }) => {
          const { version, document } = storedIn(args);
          return await storeOf(ctx).has({ tenant, agent }, { name: document.name, version });
        },
      },
    },
    ready: (ctx) => {
      storeOf(ctx);
    },
    prepare: async ({ agent, tenant, servers, logger, ...ctx }) => {
      const stored = await storeOf({ ...ctx, logger }).list({ tenant, agent }, MAX_AGENT_SERVERS);
      for (const { name, version, document } of stored) {
        if (servers.names.includes(name)) {
          const text = 'server document not used: the agent has a server of this name';
          logger.warn(text, { mcpServer: name });
          continue;
        }
        try {
          servers.make('document', { version, document } as unknown as Json);
        } catch (error) {
          // One server that a store holds against the rules takes no tool from the others.
          const reason = error instanceof Error ? error.message : String(error);
          logger.error('server document not used', { mcpServer: name, version, reason });
        }
      }
    },
  });
}

function storedIn(args: Json): Pick<StoredServer, 'version' | 'document'> {
  return args as unknown as Pick<StoredServer, 'version' | 'document'>;
}

/** Fields of a server that the option `mcp` does not set. */
const FIXED_FIELDS: ReadonlySet<string> = new Set([
  ...['name', 'url', 'transport', 'command', 'args', 'env', 'cwd'],
  ...['allowedTools', 'allowPrivate', 'headers', 'identity', 'token'],
]);

/** In place of required fields that break rules. */
const REQUIRED = { name: 'server', url: 'https://mcp.invalid' };

/** @throws {DefinitionError} invalid_definition with every fault */
export function serverOf(
  document: unknown,
  options: HsafaServerOptions,
): { readonly server: McpServer; readonly warnings: readonly Warning[] } {
  const findings = new Findings(options.strict);
  const about = { at: '', required: REQUIRED };
  const parsed = findings.parsed(ServerDocumentSchema, document, about);
  const server = parsed === undefined ? undefined : serverFrom(parsed, { findings, options });
  findings.throwIfAny('an MCP server document');
  if (server === undefined) throw new TypeError('unreachable: a document makes one server');
  return { server, warnings: findings.warnings };
}

function serverFrom(
  parsed: ParsedServer,
  { findings, options }: { readonly findings: Findings; readonly options: HsafaServerOptions },
): McpServer | undefined {
  const { name, url, allowedTools, headers } = parsed;
  for (const field of unreadFields('server', parsed))
    findings.warn(field, 'is not a field of a server document: nothing reads it');
  checkAddress(url, 'url', findings);
  headersOf(headers ?? {}, 'headers', { findings, secretOf: () => () => '' });
  return findings.defined(
    () =>
      mcpServer({
        ...extrasOf(name, options),
        ...{ name, url, transport: 'http' },
        ...(allowedTools === undefined ? {} : { allowedTools }),
        ...(options.allowPrivate === undefined ? {} : { allowPrivate: options.allowPrivate }),
        ...(headers === undefined ? {} : { headers: headersFor(headers, options) }),
      }),
    (field) => below('', field),
  );
}

/** The fields of code, without those that decide where requests and secrets go: plain JavaScript may return them. */
function extrasOf(name: string, { mcp }: HsafaServerOptions): ServerExtras {
  const extras: Readonly<Record<string, unknown>> = { ...mcp?.(name) };
  const allowed = Object.entries(extras).filter(([field]) => !FIXED_FIELDS.has(field));
  return Object.fromEntries(allowed);
}

function headersFor(
  headers: NonNullable<ParsedServer['headers']>,
  { secret }: HsafaServerOptions,
): (deps: McpDeps) => Promise<Readonly<Record<string, string>>> {
  return async (deps) => {
    const texts = Object.entries(headers).map(async ([header, value]) => {
      if (typeof value === 'string') return [header, value] as const;
      const { secret: name, prefix = '' } = value;
      const found = await (secret === undefined ? deps.secret(name) : secret(name)(deps));
      return [header, `${prefix}${found}`] as const;
    });
    return Object.fromEntries(await Promise.all(texts));
  };
}

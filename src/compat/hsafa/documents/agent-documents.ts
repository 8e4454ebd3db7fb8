/**
 * Agents as documents that change while workers run: a port with versions, and the catalog by which workers have them.
 * Model and instructions are those of the newest version; a call that waits keeps the tool, or the server, that it was
 * made with, and ends once its agent is deleted. Runs in Node.
 */
import { LRUCache } from 'lru-cache';
import { DefinitionError } from '../../../define/checks/problems.js';
import {
  type Agent,
  type AgentCatalog,
  defineAgent,
  manifestOf,
  UnreadableAgent,
} from '../../../define/define-agent.js';
import { definePlugin } from '../../../define/define-plugin.js';
import type { McpServer } from '../../../define/mcp/server.js';
import { DOCUMENTS } from '../../../define/plugin/documents.js';
import type { Plugin } from '../../../define/plugin/types.js';
import type { PortAccess } from '../../../define/tool/ports.js';
import type { Tool } from '../../../define/tool/types.js';
import type { AgentManifest } from '../../../protocol/conversation/agents.js';
import { MAX_MADE_TOOLS, MAX_STORED_AGENTS } from '../../../protocol/limits/service-limits.js';
import { isRecord, type Json, utf8Bytes } from '../../../protocol/values/json.js';
import {
  type AgentDocumentStore,
  CATALOG,
  keptAgentDocuments,
  type StoredAgent,
} from './agent-store.js';
import { agentOf, type HsafaAgentOptions, settingsWith } from './agents.js';
import { below, Findings, storable, type Warning } from './findings.js';
import { MAX_AGENT_SERVERS, MAX_STORED_BYTES } from './forms.js';
import { type HsafaServerOptions, serverOf } from './servers.js';
import { asStored, hsafaTools, withBuiltIns } from './tools.js';

/** Bytes of JSON of an agent's document. */
const MAX_DOCUMENT_BYTES = 128 * 1024;
/** Agents that a worker has made of documents, and remembers. */
const MAX_MADE_AGENTS = 1_000;
/** JSON of their documents, in characters. An agent in memory takes several times as much. */
const MAX_MADE_CHARS = 16 * 1024 * 1024;

export interface HsafaStoredAgentOptions extends Omit<HsafaAgentOptions, 'mcp'> {
  /** The options of `hsafaServers`, for the MCP servers of the documents. */
  readonly servers?: Omit<HsafaServerOptions, 'strict'>;
}

export interface PutAgent extends Omit<StoredAgent, 'manifest' | 'since'> {
  readonly warnings: readonly Warning[];
}

export interface TenantOf {
  readonly tenant: string;
}

/** The agents of a store, checked before they are stored, and the catalog that gives them to workers. */
export interface HsafaAgentDocuments {
  /** For the option `catalog` of workers. */
  readonly catalog: AgentCatalog;
  list(of: TenantOf): Promise<readonly Omit<StoredAgent, 'manifest' | 'since'>[]>;
  /**
   * Stores an agent, or its next version, for the model calls that follow.
   * @throws {DefinitionError} invalid_definition with every fault, also when it is too large, or one too many
   */
  put(of: TenantOf, document: unknown): Promise<PutAgent>;
  /** Whether there was one. Messages to it are refused, and its calls that wait end. */
  delete(of: TenantOf, name: string): Promise<boolean>;
  /** For `agents` of a client that does not read `keptAgentDocuments` by itself. */
  manifests(asked: {
    readonly tenant?: string;
    readonly name?: string;
  }): Promise<readonly AgentManifest[]>;
}

/** Gives agents of a store to workers. All workers and all who put documents have the same `options`. */
export function hsafaAgentDocuments(
  store: AgentDocumentStore,
  options: HsafaStoredAgentOptions,
): HsafaAgentDocuments {
  return {
    catalog: catalogOf(() => ({ store, keeper: store }), options),
    list: async ({ tenant }) => (await store.list(tenant, MAX_STORED_AGENTS)).map(shownOf),
    put: async ({ tenant }, given) => {
      const document = storable(given, { subject: 'an agent document', most: MAX_DOCUMENT_BYTES });
      const { agent, warnings } = readAgent(document, options);
      const manifest = JSON.parse(JSON.stringify(manifestOf(agent))) as AgentManifest;
      const { name } = agent;
      const written = { name, manifest, document: document as StoredAgent['document'] };
      // Workers make it without the tools of the document, which settings may name.
      agentFrom({ ...written, version: 1, since: 1, changedAt: '' }, { ...options, strict: false });
      const stored = await store.put(tenant, written, MAX_STORED_AGENTS);
      if (stored !== undefined) return { ...shownOf(stored), warnings };
      const rule = `the tenant has ${MAX_STORED_AGENTS} agents already`;
      throw new DefinitionError(`agent ${JSON.stringify(name)}`, [{ field: '', rule }]);
    },
    delete: async ({ tenant }, name) => await store.delete(tenant, name),
    manifests: async ({ tenant, name }) => {
      if (tenant === undefined) return [];
      if (name === undefined)
        return (await store.list(tenant, MAX_STORED_AGENTS)).map(({ manifest }) => manifest);
      const found = await store.get(tenant, name);
      return found === undefined || found === 'deleted' ? [] : [found.manifest];
    },
  };
}

/**
 * The catalog of the agents whose documents are in the event log of the worker, for modules of agents that open no log.
 * A worker whose event log keeps no documents does not start.
 */
export function hsafaAgentCatalog(options: HsafaStoredAgentOptions): AgentCatalog {
  return catalogOf((ctx) => {
    const documents = ctx.port(DOCUMENTS);
    return { store: keptAgentDocuments(documents), keeper: documents };
  }, options);
}

interface Place {
  readonly store: AgentDocumentStore;
  /** The object that keeps the documents, the same for each activity: a catalog may be that of two event logs. */
  readonly keeper: object;
}

type PlaceOf = (ctx: PortAccess) => Place;

function catalogOf(placeOf: PlaceOf, options: HsafaStoredAgentOptions): AgentCatalog {
  const lenient = { ...options, strict: false };
  const made = new MadeAgents();
  return {
    kind: 'agent_catalog',
    template: templateOf(placeOf, options),
    find: async ({ tenant, agent: name }, ctx) => {
      const { store, keeper } = placeOf(ctx);
      const stored = await store.get(tenant, name);
      if (stored === undefined || stored === 'deleted') return stored;
      const agent = made.get({ tenant, keeper, stored }, () => agentOrStandIn(stored, lenient));
      if (agent instanceof UnreadableAgent) throw agent;
      return agent;
    },
  };
}

interface Found extends TenantOf, Pick<Place, 'keeper'> {
  readonly stored: StoredAgent;
}

/**
 * One object for a version, because much is remembered by the object of an agent. The document is compared, since
 * versions begin anew after the tenant was deleted.
 */
class MadeAgents {
  readonly #keepers = new WeakMap<object, number>();
  #lastKeeper = 0;
  readonly #made = new LRUCache<string, { readonly text: string; readonly agent: FoundAgent }>({
    max: MAX_MADE_AGENTS,
    maxSize: MAX_MADE_CHARS,
    sizeCalculation: ({ text }) => text.length,
  });

  get({ tenant, keeper, stored }: Found, make: () => FoundAgent): FoundAgent {
    const { name, version, since, document } = stored;
    const key = JSON.stringify([this.#idOf(keeper), tenant, name]);
    const text = JSON.stringify([version, since, document]);
    const before = this.#made.get(key);
    if (before?.text === text) return before.agent;
    const agent = make();
    this.#made.set(key, { text, agent });
    return agent;
  }

  #idOf(keeper: object): number {
    const known = this.#keepers.get(keeper);
    if (known !== undefined) return known;
    this.#lastKeeper += 1;
    this.#keepers.set(keeper, this.#lastKeeper);
    return this.#lastKeeper;
  }
}

type FoundAgent = Agent | UnreadableAgent;

/** @throws {DefinitionError} where the plugins of the options have sub-agents, which no worker would serve */
function templateOf(placeOf: PlaceOf, options: HsafaStoredAgentOptions): Agent {
  const { plugins = [], settings } = options;
  // Budgets in money need a model with prices.
  const { budgets: _budgets, ...others } = settings ?? {};
  const problems = plugins.flatMap(({ id, tools }, index) =>
    tools.flatMap(({ name, subAgent, handoff }, place) =>
      subAgent === undefined && handoff === undefined
        ? []
        : {
            field: `plugins[${index}].tools[${place}]`,
            rule: `"${name}" of plugin "${id}" calls another agent, which stored agents cannot do`,
          },
    ),
  );
  if (problems.length > 0) throw new DefinitionError('the options of stored agents', problems);
  const ready = definePlugin({
    id: CATALOG,
    ready: (ctx) => {
      placeOf(ctx);
    },
  });
  return defineAgent({
    name: CATALOG,
    description: 'Agents that are documents.',
    model: { name: 'none', generate: () => Promise.reject(new Error('a catalog has no model')) },
    instructions: 'Agents that are documents.',
    plugins: [ready, ...withBuiltIns(plugins, options)],
    settings: settingsWith({ plugins, settings: others }),
  });
}

interface ReadAgent {
  /** With the tools and servers of the document. */
  readonly agent: Agent;
  readonly warnings: readonly Warning[];
}

/** @throws {DefinitionError} invalid_definition with every fault */
function readAgent(document: unknown, options: HsafaStoredAgentOptions): ReadAgent {
  const findings = new Findings(options.strict);
  const { own, servers: given } = parted(document, findings);
  const servers = given.flatMap((each, index) => {
    const at = `mcp.servers[${index}]`;
    checkBytes(each, at, findings);
    const server = checkedServer(each, at, { findings, options });
    return server === undefined ? [] : { server, place: at };
  });
  const agent = agentOf(own, '', { findings, options, servers });
  const { name, tools } = (isRecord(own) ? own : {}) as { readonly [field: string]: unknown };
  if (name === CATALOG) findings.fault('name', `is that of the catalog: ${JSON.stringify(name)}`);
  if (Array.isArray(tools)) {
    for (const [index, tool] of tools.entries()) checkBytes(tool, `tools[${index}]`, findings);
    if (tools.length > MAX_MADE_TOOLS)
      findings.fault('tools', `must have at most ${MAX_MADE_TOOLS} entries in a stored document`);
  }
  findings.throwIfAny('an agent document');
  if (agent === undefined) throw new TypeError('unreachable: a document makes one agent');
  return { agent, warnings: findings.warnings };
}

function checkBytes(part: unknown, at: string, findings: Findings): void {
  if (utf8Bytes(JSON.stringify(part)) > MAX_STORED_BYTES)
    findings.fault(
      at,
      `must be at most ${MAX_STORED_BYTES} bytes of JSON, since each call keeps its document`,
    );
}

/** The document without its servers, which have the form of `hsafaServers`. */
function parted(
  document: unknown,
  findings: Findings,
): { readonly own: unknown; readonly servers: readonly unknown[] } {
  if (!isRecord(document) || !isRecord(document['mcp'])) return { own: document, servers: [] };
  const { servers, ...mcp } = document['mcp'];
  const own = { ...document, mcp };
  if (!Array.isArray(servers)) {
    if (servers !== undefined) findings.fault('mcp.servers', 'must be a list of servers');
    return { own, servers: [] };
  }
  if (servers.length > MAX_AGENT_SERVERS)
    findings.fault('mcp.servers', `must have at most ${MAX_AGENT_SERVERS} entries`);
  return { own, servers: (servers as readonly unknown[]).slice(0, MAX_AGENT_SERVERS) };
}

/** Undefined, with its faults added, when the document makes no server. */
function checkedServer(
  document: unknown,
  at: string,
  { findings, options }: { readonly findings: Findings; readonly options: HsafaStoredAgentOptions },
): McpServer | undefined {
  try {
    const { server, warnings } = serverOf(document, serverOptions(options));
    for (const { path, message } of warnings) findings.warn(below(at, path), message);
    return server;
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    for (const { field, rule } of error.problems) findings.fault(below(at, field), rule);
    return undefined;
  }
}

function serverOptions({ servers = {} }: HsafaStoredAgentOptions): HsafaServerOptions {
  return { ...servers, strict: false };
}

/** The agent of a stored document; the error where the options have changed so that it cannot be made any more. */
function agentOrStandIn(stored: StoredAgent, options: HsafaStoredAgentOptions): FoundAgent {
  try {
    return agentFrom(stored, options);
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    return new UnreadableAgent(
      `the stored agent ${JSON.stringify(stored.name)}`,
      error.problems,
      standInFor(stored, options),
    );
  }
}

/** An agent for the calls that wait, which have their tools and servers. */
function standInFor(stored: StoredAgent, options: HsafaStoredAgentOptions): Agent {
  const { plugins } = partsOf(stored, options, new Findings(false));
  return defineAgent({
    name: stored.name,
    model: { name: 'none', generate: () => Promise.reject(new Error('no model')) },
    instructions: 'The document of this agent cannot be read.',
    plugins: withBuiltIns(plugins, options),
    settings: settingsWith(options),
    resultForm: 'bare',
  });
}

/**
 * The agent of a stored document. A plugin gives its tools and servers to each model call, so that the plan of a call
 * has its own document.
 * @throws {DefinitionError} where a store holds a document against the rules
 */
function agentFrom(stored: StoredAgent, options: HsafaStoredAgentOptions): Agent {
  const findings = new Findings(false);
  const { rest, plugins } = partsOf(stored, options, findings);
  const agent = agentOf(rest, '', { findings, options: { ...options, plugins } });
  findings.throwIfAny(`the stored agent ${JSON.stringify(stored.name)}`);
  if (agent === undefined) throw new TypeError('unreachable: a document makes one agent');
  return agent;
}

function partsOf(
  stored: StoredAgent,
  options: HsafaStoredAgentOptions,
  findings: Findings,
): { readonly rest: unknown; readonly plugins: readonly Plugin[] } {
  const { own, servers } = parted(stored.document, findings);
  const { tools, ...rest } = own as { readonly tools?: readonly unknown[] };
  const plugin = documentPlugin(stored, { tools: tools ?? [], servers }, options);
  return { rest, plugins: [plugin, ...(options.plugins ?? [])] };
}

interface Parts {
  readonly tools: readonly unknown[];
  readonly servers: readonly unknown[];
}

function documentPlugin(
  { version, since }: StoredAgent,
  { tools: toolDocuments, servers: serverDocuments }: Parts,
  options: HsafaStoredAgentOptions,
): Plugin {
  const documentIn = (args: Json): unknown => {
    const { version: own, document } = args as {
      readonly version: number;
      readonly document: Json;
    };
    // The agent was deleted since, and another one has its name.
    if (own < since) throw new TypeError(`version ${own} of the agent was deleted`);
    return document;
  };
  const nameOf = (document: unknown): unknown =>
    isRecord(document) ? document['name'] : undefined;
  const names = new Set(serverDocuments.map(nameOf));
  return definePlugin({
    id: CATALOG,
    factories: { tool: (args) => toolFrom(documentIn(args), options) },
    servers: {
      server: {
        make: (args) => serverOf(documentIn(args), serverOptions(options)).server,
        // A server that is left out of the next version is deleted: no more requests to it.
        has: (args) => names.has(nameOf((args as { readonly document?: Json }).document)),
      },
    },
    prepare: ({ tools, servers, logger }) => {
      const given = (document: unknown, give: (args: Json) => void): void => {
        try {
          give({ version, document } as unknown as Json);
        } catch (error) {
          // One part that a store holds against the rules takes nothing from the others.
          const reason = error instanceof Error ? error.message : String(error);
          logger.error('part of an agent document not used', { name: nameOf(document), reason });
        }
      };
      for (const document of toolDocuments)
        given(document, (args) => {
          tools.make('tool', args);
        });
      for (const document of serverDocuments)
        given(document, (args) => {
          servers.make('server', args);
        });
    },
  });
}

function toolFrom(document: unknown, options: HsafaStoredAgentOptions): Tool {
  const [tool] = hsafaTools(document, asStored(options)).tools;
  if (tool === undefined) throw new TypeError('unreachable: a document makes one tool');
  return tool;
}

function shownOf({
  manifest: _manifest,
  since: _since,
  ...stored
}: StoredAgent): Omit<StoredAgent, 'manifest' | 'since'> {
  return stored;
}

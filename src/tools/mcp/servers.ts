/**
 * The MCP servers of one worker: adds their listed tools to agents, and restores the tool of a planned call. Runs in
 * the worker.
 */
import { LRUCache } from 'lru-cache';
import type { AnyAgent } from '../../define/define-agent.js';
import type { AnyMcpServer } from '../../define/mcp/server.js';
import type { AnyTool } from '../../define/tool/types.js';
import type { Effects } from '../../protocol/calls/executors.js';
import type { CallTimeouts, MadeToolRef, McpToolRef } from '../../protocol/calls/plan.js';
import { canonicalJson } from '../../protocol/values/json.js';
import { toWireName } from '../../protocol/values/tool-names.js';
import { type MadeServer, withOrigin } from '../shared/factories.js';
import { HeldCalls } from './held.js';
import { type KnownServer, knownServer, MadeServers } from './known.js';
import type { ListedTool } from './listed-tool.js';
import { digestedName, plainName, prefixedName } from './names.js';
import type { McpWorker } from './session/transport.js';
import { mcpTool } from './tool.js';

interface ListedServer extends KnownServer {
  /** Present for a server that a plugin has made. */
  readonly origin?: MadeToolRef;
}

interface WithListedTools {
  readonly agent: AnyAgent;
  readonly listings: readonly (readonly ListedTool[] | undefined)[];
}

/** The parts of a call's plan that are needed here. */
interface PlannedMcpCall {
  readonly name: string;
  readonly mcp: McpToolRef;
  readonly effects?: Effects;
  readonly timeouts?: Pick<CallTimeouts, 'answerMs'>;
  readonly isNew: boolean;
}

/** Why the tool of a call cannot run. */
export type NoTool = { readonly missing: 'gone' | 'changed' };

const GONE: NoTool = { missing: 'gone' };
/** Agents of one definition with servers that plugins have made; prompts are kept by agent. */
const MAX_EQUIPPED = 100;

export class McpServers {
  readonly #worker: McpWorker;
  readonly #held: HeldCalls | undefined;
  readonly #known = new Map<AnyMcpServer, KnownServer>();
  readonly #made: MadeServers;
  readonly #withListedTools = new WeakMap<AnyAgent, WithListedTools>();
  /** By the servers that plugins have made for an agent, and its tenant. */
  readonly #withMadeServers = new WeakMap<AnyAgent, LRUCache<string, WithListedTools>>();

  constructor(worker: McpWorker) {
    this.#worker = worker;
    this.#held = worker.ownQueue && new HeldCalls(worker.ownQueue);
    this.#made = new MadeServers(worker);
  }

  /**
   * The agent with the tools that its servers list, besides its own: the same object while the lists are the same. A
   * server that cannot list its tools now adds those of its last list, or none. Never throws.
   */
  async equip(agent: AnyAgent): Promise<AnyAgent> {
    const { mcpServers } = agent;
    if (mcpServers === undefined) return agent;
    const servers = mcpServers.map((server) => this.#of(server));
    const listings = await Promise.all(servers.map(({ listing }) => listing.tools()));
    const before = this.#withListedTools.get(agent);
    if (isSame(before, listings)) return before.agent;
    const withTools = withAll(agent, this.#toolsOf(agent, servers, listings));
    this.#withListedTools.set(agent, { agent: withTools, listings });
    return withTools;
  }

  /**
   * The agent with the tools of servers that plugins have made, besides those that it has: the same object while the
   * servers and their lists are the same. Their tools are made again from the arguments of their servers. Never throws.
   */
  async equipMade(
    agent: AnyAgent,
    { servers, tenant }: { readonly servers: readonly MadeServer[]; readonly tenant: string },
  ): Promise<AnyAgent> {
    if (servers.length === 0) return agent;
    const known = servers.map((made) => ({ ...this.#made.of(made, tenant), origin: made.ref }));
    const listings = await Promise.all(known.map(({ listing }) => listing.tools()));
    const equipped = this.#withMadeServers.get(agent) ?? new LRUCache({ max: MAX_EQUIPPED });
    this.#withMadeServers.set(agent, equipped);
    const key = canonicalJson([servers.map(({ ref }) => ref), tenant]);
    const before = equipped.get(key);
    if (isSame(before, listings)) return before.agent;
    const withTools = withAll(agent, this.#toolsOf(agent, known, listings));
    equipped.set(key, { agent: withTools, listings });
    return withTools;
  }

  /**
   * The tool of a planned call, perhaps planned by another worker. `isNew`: the call runs for the first time, so the
   * tool must be as it was judged; a call that has asked is known to its server, which may have changed since. Never
   * throws.
   */
  async toolOf(agent: AnyAgent, call: PlannedMcpCall): Promise<AnyTool | NoTool> {
    const server = serverOf(agent, call.mcp);
    return server === undefined ? GONE : await this.#toolOf(this.#of(server), call);
  }

  /** The same for a tool of a server that a plugin has made. Without a pin its name decides, as it was listed. */
  async toolOfMade(
    made: MadeServer,
    call: Omit<PlannedMcpCall, 'mcp'> & {
      readonly mcp?: McpToolRef | undefined;
      readonly tenant: string;
    },
  ): Promise<AnyTool | NoTool> {
    const known = this.#made.of(made, call.tenant);
    const { server, listing } = known;
    const { mcp, name } = call;
    if (mcp !== undefined && mcp.server !== server.name) return GONE;
    const listed = mcp === undefined ? await listing.tools() : [];
    const tool = listed?.find((each) => namesOf(server, each.name).includes(name));
    const pin = mcp ?? (tool && { server: server.name, tool: tool.name, digest: tool.digest });
    if (pin === undefined) return GONE;
    const found = await this.#toolOf(known, { ...call, mcp: pin });
    return 'missing' in found ? found : withOrigin(found, made.ref);
  }

  async #toolOf(known: KnownServer, call: PlannedMcpCall): Promise<AnyTool | NoTool> {
    const { name, mcp: ref, effects, timeouts, isNew } = call;
    const { server } = known;
    if (!isAllowed(server, ref.tool)) return GONE;
    const listed = await known.listing.tools();
    const tool = listed?.find(({ name }) => name === ref.tool);
    if (listed !== undefined && tool === undefined) return GONE;
    if (tool !== undefined && isNew && isJudgedAnew(tool, ref)) return { missing: 'changed' };
    const { connections } = known;
    const pinned = {
      ...(effects === undefined ? {} : { effects }),
      ...(timeouts === undefined ? {} : { answerMs: timeouts.answerMs }),
    };
    const way = { server, connections, held: this.#held, ...pinned };
    return tool === undefined
      ? mcpTool(name, unlisted(ref), { ...way, unlisted: true })
      : mcpTool(name, tool, way);
  }

  /** Closes every connection and stops every process that was started. Never throws. */
  async close(): Promise<void> {
    await this.#held?.close();
    const all = [...this.#known.values()].map(({ connections }) => connections.close());
    await Promise.all([...all, this.#made.close()]);
  }

  #of(server: AnyMcpServer): KnownServer {
    const known = this.#known.get(server) ?? knownServer(server, this.#worker);
    this.#known.set(server, known);
    return known;
  }

  /** An agent's own tools keep their names; among listed ones, those of earlier servers do. */
  #toolsOf(
    agent: AnyAgent,
    servers: readonly ListedServer[],
    listings: WithListedTools['listings'],
  ): readonly AnyTool[] {
    const taken = new Set(agent.tools.map(({ name }) => toWireName(name)));
    return servers.flatMap((known, index) =>
      (listings[index] ?? []).flatMap((tool) => {
        const name = freeName(known.server, tool.name, taken);
        try {
          const made = mcpTool(name, tool, { ...known, held: this.#held });
          taken.add(toWireName(name));
          return [known.origin === undefined ? made : withOrigin(made, known.origin)];
        } catch (error) {
          const reason = error instanceof Error ? error.message : String(error);
          const about = { mcpServer: known.server.name, tool: tool.name, reason };
          this.#worker.logger.warn('MCP server lists a tool that cannot be used', about);
          return [];
        }
      }),
    );
  }
}

function serverOf({ mcpServers }: AnyAgent, { server }: McpToolRef): AnyMcpServer | undefined {
  return mcpServers?.find(({ name }: AnyMcpServer) => name === server);
}

/**
 * Another schema only needs the arguments to be parsed again; other hints may make policies judge the call differently.
 */
function isJudgedAnew(tool: ListedTool, ref: McpToolRef): boolean {
  return ref.hints === undefined ? tool.digest !== ref.digest : tool.hints !== ref.hints;
}

function isAllowed({ spec }: AnyMcpServer, tool: string): boolean {
  return spec.allowedTools?.includes(tool) ?? true;
}

function freeName(server: AnyMcpServer, tool: string, taken: ReadonlySet<string>): string {
  const isFree = (candidate: string): boolean => !taken.has(toWireName(candidate));
  return namesOf(server, tool).find(isFree) ?? digestedName(server.name, tool);
}

/** The names that a tool may have in an agent, the first that is free; the last one always is. */
function namesOf({ name, spec }: AnyMcpServer, tool: string): readonly string[] {
  return [
    ...(spec.prefix === false ? [plainName(name, tool)] : []),
    prefixedName(name, tool),
    digestedName(name, tool),
  ];
}

function withAll(agent: AnyAgent, added: readonly AnyTool[]): AnyAgent {
  return Object.freeze({ ...agent, tools: Object.freeze([...agent.tools, ...added]) });
}

function isSame(
  before: WithListedTools | undefined,
  listings: WithListedTools['listings'],
): before is WithListedTools {
  return before?.listings.every((listing, index) => listing === listings[index]) === true;
}

/** A tool of a server that cannot list its tools can still be called: the plan has all that this needs. */
function unlisted({ tool, digest }: McpToolRef): ListedTool {
  return {
    name: tool,
    description: tool,
    inputSchema: { type: 'object' },
    annotations: {},
    digest,
  };
}

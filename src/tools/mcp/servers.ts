/**
 * The MCP servers of one worker: adds their listed tools to agents, and restores the tool of a planned call. Runs in
 * the worker.
 */
import type { AnyAgent } from '../../define/define-agent.js';
import type { AnyMcpServer } from '../../define/mcp-server.js';
import type { AnyTool } from '../../define/tool/types.js';
import type { Effects } from '../../protocol/calls/executors.js';
import type { CallTimeouts, McpToolRef } from '../../protocol/calls/plan.js';
import { toWireName } from '../../protocol/values/tool-names.js';
import { HeldCalls } from './held.js';
import type { ListedTool } from './listed-tool.js';
import { McpListing } from './listing.js';
import { digestedName, plainName, prefixedName } from './names.js';
import { McpConnections } from './session/connections.js';
import type { McpWorker } from './session/transport.js';
import { mcpTool } from './tool.js';

interface Known {
  readonly server: AnyMcpServer;
  readonly connections: McpConnections;
  readonly listing: McpListing;
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

export class McpServers {
  readonly #worker: McpWorker;
  readonly #held: HeldCalls | undefined;
  readonly #known = new Map<AnyMcpServer, Known>();
  readonly #withListedTools = new WeakMap<AnyAgent, WithListedTools>();

  constructor(worker: McpWorker) {
    this.#worker = worker;
    this.#held = worker.ownQueue && new HeldCalls(worker.ownQueue);
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
    if (before?.listings.every((listing, index) => listing === listings[index]) === true)
      return before.agent;
    const tools = [...agent.tools, ...this.#toolsOf(agent, servers, listings)];
    const withTools = Object.freeze({ ...agent, tools: Object.freeze(tools) });
    this.#withListedTools.set(agent, { agent: withTools, listings });
    return withTools;
  }

  /**
   * The tool of a planned call, perhaps planned by another worker. `isNew`: the call runs for the first time, so the
   * tool must be as it was judged; a call that has asked is known to its server, which may have changed since. Never
   * throws.
   */
  async toolOf(agent: AnyAgent, call: PlannedMcpCall): Promise<AnyTool | NoTool> {
    const { name, mcp: ref, effects, timeouts, isNew } = call;
    const server = serverOf(agent, ref);
    if (server === undefined || !isAllowed(server, ref.tool)) return { missing: 'gone' };
    const known = this.#of(server);
    const listed = await known.listing.tools();
    const tool = listed?.find(({ name }) => name === ref.tool);
    if (listed !== undefined && tool === undefined) return { missing: 'gone' };
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
    await Promise.all([...this.#known.values()].map(({ connections }) => connections.close()));
  }

  #of(server: AnyMcpServer): Known {
    const known = this.#known.get(server);
    if (known !== undefined) return known;
    const made = this.#connect(server);
    this.#known.set(server, made);
    return made;
  }

  #connect(server: AnyMcpServer): Known {
    const connections = new McpConnections(server, this.#worker, () => {
      listing.expire();
    });
    const listing = new McpListing(server, connections.own, this.#worker.logger);
    return { server, connections, listing };
  }

  /** An agent's own tools keep their names; among listed ones, those of earlier servers do. */
  #toolsOf(
    agent: AnyAgent,
    servers: readonly Known[],
    listings: WithListedTools['listings'],
  ): readonly AnyTool[] {
    const taken = new Set(agent.tools.map(({ name }) => toWireName(name)));
    return servers.flatMap((known, index) =>
      (listings[index] ?? []).flatMap((tool) => {
        const name = freeName(known.server, tool.name, taken);
        try {
          const made = mcpTool(name, tool, { ...known, held: this.#held });
          taken.add(toWireName(name));
          return [made];
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

function freeName({ name, spec }: AnyMcpServer, tool: string, taken: ReadonlySet<string>): string {
  const isFree = (candidate: string): boolean => !taken.has(toWireName(candidate));
  const candidates = [
    ...(spec.prefix === false ? [plainName(name, tool)] : []),
    prefixedName(name, tool),
  ];
  return candidates.find(isFree) ?? digestedName(name, tool);
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

/** The connections to one MCP server and its listed tools, as one worker knows them. Runs in the worker. */
import { MAX_MADE_MCP_SERVERS } from '../../define/mcp/limits.js';
import type { AnyMcpServer } from '../../define/mcp/server.js';
import type { AnyPlugin } from '../../define/plugin/types.js';
import { canonicalJson } from '../../protocol/values/json.js';
import type { MadeServer } from '../shared/factories.js';
import { McpListing } from './listing.js';
import { McpConnections } from './session/connections.js';
import type { McpConnectionWorker } from './session/transport.js';

export interface KnownServer {
  readonly server: AnyMcpServer;
  readonly connections: McpConnections;
  readonly listing: McpListing;
}

/** Connects to nothing yet. */
export function knownServer(server: AnyMcpServer, worker: McpConnectionWorker): KnownServer {
  const connections = new McpConnections(server, worker, () => {
    listing.expire();
  });
  const listing = new McpListing(server, connections.own, worker.logger);
  return { server, connections, listing };
}

/** Time after its last use for which a server that was made at run time is kept. */
const MADE_IDLE_MS = 10 * 60 * 1000;

interface Kept {
  readonly known: KnownServer;
  idle?: NodeJS.Timeout;
}

/**
 * The servers that plugins have made: one for the same plugin, arguments and tenant, whose secrets it is sent. Each is
 * reached at public addresses, or at those that it allows itself. One that is not used is closed.
 */
export class MadeServers {
  readonly #worker: McpConnectionWorker;
  /** By plugin and key, the least recently used first. */
  readonly #kept = new Map<AnyPlugin, Map<string, Kept>>();

  constructor(worker: McpConnectionWorker) {
    this.#worker = worker;
  }

  of({ plugin, ref, server }: MadeServer, tenant: string): KnownServer {
    const ofPlugin = this.#kept.get(plugin) ?? new Map<string, Kept>();
    this.#kept.set(plugin, ofPlugin);
    const key = canonicalJson([ref, tenant]);
    const worker = { ...this.#worker, caller: { tenant }, isGuarded: true };
    const before = ofPlugin.get(key);
    if (before === undefined) makeRoom(ofPlugin);
    const kept = before ?? { known: knownServer(server, worker) };
    // The newest is the last.
    ofPlugin.delete(key);
    ofPlugin.set(key, kept);
    rest(ofPlugin, key, kept);
    return kept.known;
  }

  /** Never throws. */
  async close(): Promise<void> {
    const all = [...this.#kept.values()].flatMap((ofPlugin) => [...ofPlugin.values()]);
    this.#kept.clear();
    for (const { idle } of all) clearTimeout(idle);
    await Promise.all(all.map(({ known }) => known.connections.close()));
  }
}

/** Closes the server that is idle for longest; while all are in use, there are as many as running calls. */
function makeRoom(ofPlugin: Map<string, Kept>): void {
  if (ofPlugin.size < MAX_MADE_MCP_SERVERS) return;
  const idle = [...ofPlugin].find(([, { known }]) => known.connections.isIdle);
  if (idle !== undefined) drop(ofPlugin, ...idle);
}

function rest(ofPlugin: Map<string, Kept>, key: string, kept: Kept): void {
  clearTimeout(kept.idle);
  kept.idle = setTimeout(() => {
    if (kept.known.connections.isIdle) drop(ofPlugin, key, kept);
    else rest(ofPlugin, key, kept);
  }, MADE_IDLE_MS).unref();
}

function drop(ofPlugin: Map<string, Kept>, key: string, kept: Kept): void {
  clearTimeout(kept.idle);
  if (ofPlugin.get(key) === kept) ofPlugin.delete(key);
  void kept.known.connections.close();
}

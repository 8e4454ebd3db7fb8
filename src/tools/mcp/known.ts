/** The connections to one MCP server and its listed tools, as one worker knows them. Runs in the worker. */
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
  readonly #kept = new Map<AnyPlugin, Map<string, Kept>>();

  constructor(worker: McpConnectionWorker) {
    this.#worker = worker;
  }

  of({ plugin, ref, server }: MadeServer, tenant: string): KnownServer {
    const ofPlugin = this.#kept.get(plugin) ?? new Map<string, Kept>();
    this.#kept.set(plugin, ofPlugin);
    const key = canonicalJson([ref, tenant]);
    const worker = { ...this.#worker, caller: { tenant }, isGuarded: true };
    const kept = ofPlugin.get(key) ?? { known: knownServer(server, worker) };
    ofPlugin.set(key, kept);
    const rest = (): void => {
      clearTimeout(kept.idle);
      kept.idle = setTimeout(() => {
        if (!kept.known.connections.isIdle) {
          rest();
          return;
        }
        if (ofPlugin.get(key) === kept) ofPlugin.delete(key);
        void kept.known.connections.close();
      }, MADE_IDLE_MS).unref();
    };
    rest();
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

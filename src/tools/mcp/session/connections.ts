/**
 * A worker's connections to one MCP server: its own, and one for each tenant or user if the declaration says so. A
 * server may tie a session to the user who opened it, so a token of another user never shares its connection. Runs in
 * the worker.
 */

import { MAX_MCP_CALLERS, MCP_CALLER_IDLE_MS } from '../../../define/mcp/limits.js';
import type { AnyMcpServer } from '../../../define/mcp/server.js';
import type { McpCaller } from '../../../define/mcp/spec.js';
import type { CallContext } from '../../../define/tool/context.js';
import { canonicalJson } from '../../../protocol/values/json.js';
import { McpConnection } from './connection.js';
import type { McpConnectionWorker } from './transport.js';

/** A connection for the duration of a call. */
export interface Lease {
  readonly connection: McpConnection;
  /** Must be called once. */
  readonly release: () => void;
}

type Who = Pick<CallContext, 'tenant' | 'requester'>;

interface Held {
  readonly connection: McpConnection;
  uses: number;
  idle?: NodeJS.Timeout;
}

export class McpConnections {
  /** The worker's own, or that of its tenant: for listings, and for calls without a caller's identity. */
  readonly own: McpConnection;
  readonly #connect: (caller?: McpCaller) => McpConnection;
  readonly #identity: 'worker' | 'tenant' | 'requester';
  /** The caller of the worker's own connection, which has no other one. */
  readonly #ownKey: string | undefined;
  #ownUses = 0;
  /** By caller, the least recently used first. */
  readonly #held = new Map<string, Held>();
  #isClosed = false;

  /** With a caller of the worker, the server is that of its tenant, which lists the tools as well. */
  constructor(server: AnyMcpServer, worker: McpConnectionWorker, onToolsChanged: () => void) {
    const { transport } = server;
    const { caller: owner } = worker;
    this.#identity =
      (transport.type === 'http' ? transport.identity : undefined) ??
      (owner === undefined ? 'worker' : 'tenant');
    this.#connect = (caller) => new McpConnection(server, { ...worker, caller }, onToolsChanged);
    this.own = this.#connect(owner);
    this.#ownKey = owner && canonicalJson(owner);
  }

  /** True while no call has a lease. */
  get isIdle(): boolean {
    return this.#ownUses === 0 && [...this.#held.values()].every(({ uses }) => uses === 0);
  }

  /** The connection for a call; opens nothing yet. */
  lease(who: Who): Lease {
    const caller = this.#callerOf(who);
    if (caller === undefined || this.#isClosed) return this.#leaseOwn();
    const key = canonicalJson(caller);
    if (key === this.#ownKey) return this.#leaseOwn();
    const held = this.#held.get(key) ?? this.#made(caller);
    // The newest is the last.
    this.#held.delete(key);
    this.#held.set(key, held);
    clearTimeout(held.idle);
    held.uses += 1;
    return {
      connection: held.connection,
      release: () => {
        held.uses -= 1;
        if (held.uses === 0) this.#rest(key, held);
      },
    };
  }

  /** Never throws. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const all = [this.own, ...[...this.#held.values()].map(({ connection }) => connection)];
    for (const { idle } of this.#held.values()) clearTimeout(idle);
    this.#held.clear();
    await Promise.all(all.map((connection) => connection.close()));
  }

  #leaseOwn(): Lease {
    this.#ownUses += 1;
    return {
      connection: this.own,
      release: () => {
        this.#ownUses -= 1;
      },
    };
  }

  #callerOf({ tenant, requester }: Who): McpCaller | undefined {
    if (this.#identity === 'worker') return undefined;
    if (this.#identity === 'tenant') return { tenant };
    // The flag is part of the identity: an unverified id must not share the connection of the verified user.
    const { id, verified } = requester;
    return { tenant, requester: { id, verified } };
  }

  #made(caller: McpCaller): Held {
    const idle = [...this.#held].find(([, { uses }]) => uses === 0);
    // While all are in use there are as many as running calls, which the worker bounds.
    if (this.#held.size >= MAX_MCP_CALLERS && idle !== undefined) this.#drop(...idle);
    return { connection: this.#connect(caller), uses: 0 };
  }

  #rest(key: string, held: Held): void {
    held.idle = setTimeout(() => {
      this.#drop(key, held);
    }, MCP_CALLER_IDLE_MS);
    held.idle.unref();
  }

  #drop(key: string, held: Held): void {
    clearTimeout(held.idle);
    if (this.#held.get(key) === held) this.#held.delete(key);
    void held.connection.close();
  }
}

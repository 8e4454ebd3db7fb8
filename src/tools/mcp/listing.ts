/**
 * The tools that one server lists, as one worker knows them. A turn waits for the first listing only; later ones are
 * fetched in the background, and a failed one keeps the previous list. Runs in the worker.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Tool } from '@modelcontextprotocol/client';
import { MAX_MCP_TOOLS, MCP_LIST_RETRY_MS } from '../../define/mcp/limits.js';
import type { AnyMcpServer } from '../../define/mcp/server.js';
import type { Logger } from '../../define/tool/context.js';
import { canonicalJson } from '../../protocol/values/json.js';
import { type ListedTool, listedTool } from './listed-tool.js';
import type { McpConnection } from './session/connection.js';
import { reasonIn } from './session/failures.js';

export class McpListing {
  readonly #server: AnyMcpServer;
  readonly #connection: McpConnection;
  readonly #logger: Logger;
  #known: readonly ListedTool[] | undefined;
  #text = '';
  #dueAt = 0;
  #refreshing: Promise<void> | undefined;
  /** Number of changes that the server has announced, and the number at the last fetched listing. */
  #changes = 0;
  #seenChanges = 0;
  #hasFailed = false;

  constructor(server: AnyMcpServer, connection: McpConnection, logger: Logger) {
    this.#server = server;
    this.#connection = connection;
    this.#logger = logger;
  }

  /**
   * The tools, sorted by name; the same array while nothing has changed. Undefined when the server has never listed
   * them. Waits for a listing only if there is none, or if the server has announced a change, and no longer than
   * `timeouts.list`. Never throws.
   */
  async tools(): Promise<readonly ListedTool[] | undefined> {
    if (Date.now() >= this.#dueAt) this.#refresh();
    const isOutdated = this.#known === undefined || this.#changes !== this.#seenChanges;
    if (this.#refreshing !== undefined && isOutdated) await this.#atMost(this.#refreshing);
    return this.#known;
  }

  /** Marks the list as outdated and fetches it. */
  expire(): void {
    this.#changes += 1;
    this.#dueAt = 0;
    this.#refresh();
  }

  async #atMost(refreshing: Promise<void>): Promise<void> {
    const over = new AbortController();
    const waited = delay(this.#server.listMs, undefined, { signal: over.signal, ref: false });
    await Promise.race([refreshing, waited.catch(() => undefined)]);
    over.abort();
  }

  /** Fetches the list, one fetch at a time. */
  #refresh(): void {
    if (this.#refreshing !== undefined) return;
    this.#refreshing = this.#fetch().finally(() => {
      this.#refreshing = undefined;
    });
  }

  async #fetch(): Promise<void> {
    const { name, refreshAfterMs } = this.#server;
    const changes = this.#changes;
    try {
      const listed = this.#accepted(await this.#connection.list());
      const text = canonicalJson(listed);
      if (this.#known === undefined || text !== this.#text) this.#known = listed;
      this.#text = text;
      // The list may have changed again while it was fetched.
      this.#dueAt = this.#changes === changes ? Date.now() + refreshAfterMs : 0;
      this.#seenChanges = changes;
      this.#hasFailed = false;
    } catch (error) {
      this.#dueAt = Date.now() + MCP_LIST_RETRY_MS;
      const reason = reasonIn(error, (words) => this.#connection.secrets.text(words));
      // Logged once for each outage, because the listing is retried repeatedly.
      if (!this.#hasFailed)
        this.#logger.warn('MCP server does not list its tools; agents use the last known list', {
          mcpServer: name,
          known: this.#known?.length ?? 0,
          reason,
        });
      this.#hasFailed = true;
    }
  }

  #accepted(listed: readonly unknown[]): readonly ListedTool[] {
    const { name, spec } = this.#server;
    const { allowedTools } = spec;
    const left: { readonly tool: string; readonly problem: string }[] = [];
    const tools = new Map<string, ListedTool>();
    for (const definition of listed as readonly Tool[]) {
      if (allowedTools !== undefined && !allowedTools.includes(definition.name)) continue;
      const parsed = listedTool(definition);
      if ('problem' in parsed) left.push({ tool: definition.name, problem: parsed.problem });
      else if (tools.size < MAX_MCP_TOOLS) tools.set(parsed.name, parsed);
      else left.push({ tool: definition.name, problem: `more than ${MAX_MCP_TOOLS} tools` });
    }
    if (left.length > 0)
      this.#logger.warn('MCP server lists tools that cannot be used', {
        mcpServer: name,
        tools: left.slice(0, 20),
      });
    const missing = (allowedTools ?? []).filter((tool) => !tools.has(tool));
    if (missing.length > 0)
      this.#logger.warn('MCP server does not list tools that are allowed', {
        mcpServer: name,
        tools: missing.slice(0, 20),
      });
    // Servers list in any order; a provider's prompt cache needs a stable one.
    return [...tools.values()].sort((left_, right) => (left_.name < right.name ? -1 : 1));
  }
}

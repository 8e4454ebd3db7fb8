/** The MCP servers that plugins give to one model call. */
import type { AnyAgent } from '../../define/define-agent.js';
import type { AnyPlugin } from '../../define/plugin/types.js';
import { MAX_MADE_SERVERS } from '../../protocol/limits/service-limits.js';
import { type MadeServer, serverByMaker } from '../shared/factories.js';

export class StepServers {
  /** In the order in which they were made. */
  readonly made: MadeServer[] = [];
  readonly #names: Set<string>;

  constructor({ mcpServers = [] }: AnyAgent) {
    this.#names = new Set(mcpServers.map(({ name }) => name));
  }

  names(): readonly string[] {
    return [...this.#names];
  }

  /** @throws {TypeError} the error of the maker */
  make(plugin: AnyPlugin, maker: string, args: unknown): void {
    const made = serverByMaker(plugin, maker, args);
    const { name } = made.server;
    if (made.server.transport.type !== 'http')
      throw new TypeError(`server "${name}": only one that has a url is made at run time`);
    if (this.#names.has(name)) throw new TypeError(`the agent has a server "${name}" already`);
    if (this.made.length === MAX_MADE_SERVERS)
      throw new TypeError(`more than ${MAX_MADE_SERVERS} servers made for one model call`);
    this.#names.add(name);
    this.made.push(made);
  }
}

/** Entry of pages: one client for each API and user, one conversation object for each conversation. */
import type { Caller } from './caller.js';
import { BrowserConversation } from './conversation.js';
import { Api, type ApiOptions, type WithApi } from './net/api.js';
import { defined } from './net/defined.js';
import { ToolRegistry } from './tools/registry.js';
import type { ClientTool, ClientTools, ToolSettings } from './tools/types.js';
import { type FollowTurnOptions, followTurn, type TurnFrame } from './turn.js';
import type { Me } from './view/types.js';

export interface BrowserClientOptions extends ApiOptions, ToolSettings {
  /** Functions of this page by name of their tools. More can be added with `registerTool`. */
  readonly tools?: ClientTools;
  /** Who the page acts for: decides which calls are shown as `waiting_for_you`. The API judges by itself. */
  readonly me?: Me;
}

export interface ConversationOptions {
  readonly agent?: string;
  readonly isNew?: boolean;
}

export interface BrowserClient extends WithApi {
  /**
   * One conversation. With `agent`, it may not have begun: the first message begins it. `isNew`: the page has just made
   * the id, so that nothing is read before the conversation begins.
   * @param id Letters, digits, `_`, `.` and `-`.
   */
  conversation(id: string, options?: ConversationOptions): BrowserConversation;
  /**
   * The events of one turn from its first one, or behind `after`, with live events between, over lost connections, to
   * the event that ends it; then the loop is over. `log_rewritten` comes as well: behind it the turn begins anew.
   * @throws {ApiError} unknown_turn, and other refusals that trying again does not mend
   */
  followTurn(turnId: string, options?: FollowTurnOptions): AsyncIterable<TurnFrame>;
  /** The option `me`. */
  readonly me?: Me;
  /** Sends the requests of this client, also to routes for which it has no method. */
  readonly api: Api;
  /** Who sends the requests, as the API sees it. @throws {ApiError} */
  session(): Promise<Caller>;
  /**
   * Adds a function, also for calls that wait since a few seconds (`graceMs`). Returns how to take it away again.
   * @throws {TypeError} for a name that is taken
   */
  registerTool(name: string, tool: ClientTool): () => void;
}

export function createBrowserClient(options: BrowserClientOptions): BrowserClient {
  const { tools, me, leaseMs, graceMs } = options;
  const api = new Api(options);
  const registry = new ToolRegistry(tools);
  const settings = defined({ leaseMs, graceMs });
  return {
    conversation: (id, { agent, isNew = false } = {}) =>
      new BrowserConversation(id, { api, registry, settings, agent, isNew, me }),
    followTurn: (turnId, options) => followTurn(api, turnId, options),
    api,
    ...defined({ me }),
    session: () => api.read<Caller>('/v1/session', { query: { tenant: undefined } }),
    registerTool: (name, tool) => registry.add(name, tool),
  };
}

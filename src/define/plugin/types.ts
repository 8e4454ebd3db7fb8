/** The types of plugins: tools with a state of their own, and code that runs before each model call. Types only. */
import type { EarlierResult, ToolResultError } from '../../protocol/calls/results.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import type { Duration } from '../../protocol/values/durations.js';
import type { Json } from '../../protocol/values/json.js';
import type { McpServer } from '../mcp/server.js';
import type { ParsedOf, RawSchema, Schema } from '../schemas/schema.js';
import type { ToolSignal, UntypedServices } from '../tool/context.js';
import type { PluginRef, StateAccess } from '../tool/state-access.js';
import type { Tool } from '../tool/types.js';
import type { CallHooks } from './call-hooks.js';
import type { PluginContext } from './context.js';

/** The most turns that events may start within a time. */
export interface InboxRate {
  /** 1 to 120 */
  readonly turns: number;
  /** At most an hour. */
  readonly per: Duration;
}

/** A plugin as the engine knows it; made by `definePlugin` only. `State` is for inference and has no value. */
export interface Plugin<Services = UntypedServices, State = unknown> extends PluginRef<State> {
  readonly kind: 'plugin';
  readonly id: string;
  /** Version of the state's form, from 1. */
  readonly version: number;
  /** Absent: any JSON, and nothing before the first change. */
  readonly state?: Schema;
  readonly migrate?: (value: Json, fromVersion: number) => unknown;
  readonly setup?: (ctx: PluginContext<Services>) => void | Promise<void>;
  readonly ready?: (ctx: PluginContext<Services>) => void | Promise<void>;
  readonly prepare?: (ctx: PrepareContext<Services>) => void | Promise<void>;
  readonly dispose?: (ctx: PluginContext<Services>) => void | Promise<void>;
  readonly calls?: CallHooks<Services>;
  readonly inboxRate?: InboxRate;
  readonly tools: readonly Tool<Services>[];
  /** Makers of tools, by name. Absent: none. */
  readonly factories?: Readonly<Record<string, (args: Json) => Tool<Services>>>;
  /** Makers of MCP servers, by name. Absent: none. */
  readonly servers?: Readonly<Record<string, ServerMaker<Services>>>;
}

/** Makes an MCP server that `prepare` gives to a model call, from arguments that each call of its tools keeps. */
export interface ServerMaker<Services = UntypedServices> {
  /** Returns the same server for the same arguments, and needs nothing else. Runs in any worker. */
  readonly make: (args: Json) => McpServer<Services>;
  /**
   * Whether the agent still has the server: asked before each run of a call, which is `not_available` where it has not.
   * @defaultValue it has
   */
  readonly has?: (args: Json, ctx: ServerContext<Services>) => boolean | Promise<boolean>;
}

/** The agent that a call belongs to. */
export interface ServerContext<Services = UntypedServices> extends PluginContext<Services> {
  readonly agent: string;
  readonly tenant: string;
}

/** Any plugin, of any services: to be inspected, not run. */
export type AnyPlugin = Plugin<never>;

/**
 * A result of the turn, with its value as the model reads it. The value is a copy. Absent: the model's provider ran the
 * call; newer results have `MAX_RESULT_VALUES_BYTES` already; or `prepare` runs once more in a worker, to make the tool
 * of one call again, where no transcript is.
 */
export interface ResultOfTurn extends EarlierResult {
  /** Present for a call that is `ok`. A large one is cut, as for the model: its beginning with a marker. */
  readonly result?: Json;
  /** Present for a call that is not `ok`. */
  readonly error?: ToolResultError;
}

/** The context of `prepare`. */
export interface PrepareContext<Services = UntypedServices> extends PluginContext<Services> {
  readonly agent: string;
  readonly tenant: string;
  readonly conversationId: string;
  /** The requester of the turn. */
  readonly user: StampedActor;
  readonly turn: { readonly turnId: string; readonly step: number };
  /** The calls of this turn that have a result, the newest 100, in the model's order. */
  readonly results: readonly ResultOfTurn[];
  readonly state: StateAccess;
  readonly tools: {
    /** Names of the tools that this model call will see. */
    readonly names: readonly string[];
    /** Hides a tool from this model call; a call of it is answered like that of an unknown tool. */
    hide(name: string): void;
    /**
     * Adds a tool to this model call. Another worker that has to run its call, or check an answer, runs `prepare` once
     * more to have it; where that adds no tool of the name, the call ends with `not_available`.
     */
    add(tool: Tool<Services>): void;
    /**
     * The same with the tool of one of the plugin's `factories`: any worker makes it from these arguments alone, at any
     * time. At most 4 KiB of JSON, part of each call in the log. @defaultValue args null
     */
    make(factory: string, args?: Json): void;
  };
  readonly servers: {
    /** Names of the servers that the agent has now, in this model call. */
    readonly names: readonly string[];
    /**
     * Gives this model call the tools of an MCP server, made by one of the plugin's `servers`. Their names have that of
     * the server in front. The arguments have the bounds of `tools.make`. @defaultValue args null
     * @throws {TypeError} for a name that another server of the agent has; the error of the maker
     */
    make(maker: string, args?: Json): void;
  };
  readonly context: {
    /** Adds a text that this model call reads behind the conversation; it does not enter the transcript. */
    add(text: string): void;
  };
  /** Fires when the turn is cancelled, `prepare` runs out of time, or the worker stops. */
  readonly signal: ToolSignal;
}

export interface Configured<Config> {
  readonly config: Config;
}

/** The declaration of a plugin. */
export interface PluginSpec<Services, State extends Schema, Config> {
  /** Letters, digits, "_", "." and "-". Names the state in the log, so it never changes. */
  readonly id: string;
  /** Given to the plugin's functions. */
  readonly config?: Config;
  /**
   * Schema of the state. Parsing must accept its own result, and `{}` or `undefined` for the state of a new
   * conversation: give every field a default. @defaultValue any JSON
   */
  readonly state?: State;
  /** Version of the state's form, to be raised with each change that old states do not match. @defaultValue 1 */
  readonly version?: number;
  /** Makes a state of the present version from that of an older one. @defaultValue the state as it is */
  readonly migrate?: (value: Json, fromVersion: number) => unknown;
  /** Runs once in each worker, before it takes work. An error stops the worker's start. */
  readonly setup?: (ctx: PluginContext<Services> & Configured<Config>) => void | Promise<void>;
  /** The same, after `setup` of all plugins. */
  readonly ready?: (ctx: PluginContext<Services> & Configured<Config>) => void | Promise<void>;
  /**
   * Runs before each model call of an agent with the plugin. An error fails the model call, which is repeated as after
   * a failure of the model; then the turn fails with `plugin_failed`. May run more than once for one model call.
   */
  readonly prepare?: (ctx: PrepareContext<Services> & Configured<Config>) => void | Promise<void>;
  /** Runs when the worker has ended its work. An error is logged. */
  readonly dispose?: (ctx: PluginContext<Services> & Configured<Config>) => void | Promise<void>;
  /** Takes part in the calls of all tools of the agent. */
  readonly calls?: CallHooks<Services>;
  /**
   * `inbox.rate` of agents whose settings have none; of several plugins the first counts. For plugins that let others
   * wake the agent.
   */
  readonly inboxRate?: InboxRate;
  /**
   * Tools that every agent with the plugin has. The function gets the plugin as the name of its state: a plugin whose
   * declaration names itself would have no type.
   */
  readonly tools?:
    | PluginTools<Services>
    | ((self: PluginRef<StateOf<State>>) => PluginTools<Services>);
  /**
   * Makers of tools for `prepare`, by name. Each returns the same tool for the same arguments, and needs nothing else:
   * it also runs in workers that did not prepare the model call, perhaps after a deploy, so its name never changes.
   */
  readonly factories?: Readonly<
    Record<string, (args: Json, ctx: Configured<Config>) => Tool<Services>>
  >;
  /**
   * Makers of MCP servers for `prepare`, by name, such as of those that a store lists. No factory has the same name,
   * and it never changes. A server is reached at public addresses, or at those that its `allowPrivate` names.
   */
  readonly servers?: Readonly<Record<string, ServerMakerSpec<Services, Config>>>;
}

/** The declaration of a `ServerMaker`, whose functions get the plugin's configuration as well. */
export interface ServerMakerSpec<Services, Config> {
  readonly make: (args: Json, ctx: Configured<Config>) => McpServer<Services>;
  readonly has?: (
    args: Json,
    ctx: ServerContext<Services> & Configured<Config>,
  ) => boolean | Promise<boolean>;
}

type PluginTools<Services> = readonly Tool<Services>[];

export type StateOf<State extends Schema> = RawSchema extends State ? unknown : ParsedOf<State>;

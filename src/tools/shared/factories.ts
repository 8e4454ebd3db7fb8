/** Tools that factories of plugins make, and servers that their makers make. Runs in the worker. */
import type { AnyAgent } from '../../define/define-agent.js';
import type { AnyMcpServer } from '../../define/mcp/server.js';
import type { AnyPlugin, ServerMaker } from '../../define/plugin/types.js';
import type { AnyTool } from '../../define/tool/types.js';
import type { MadeToolRef } from '../../protocol/calls/plan.js';
import { MAX_FACTORY_ARGS_BYTES } from '../../protocol/limits/service-limits.js';
import { canonicalJson, isRecord, type Json, utf8Bytes } from '../../protocol/values/json.js';
import { toJson } from './normalise.js';

/** A tool with the same arguments is the same object, so that its schemas are read once: of the first `MAX_KNOWN`. */
const known = new WeakMap<AnyPlugin, Map<string, AnyTool>>();
const MAX_KNOWN = 500;

/** @throws {TypeError} when there is no such factory, or it returns no tool; the error of the factory */
export function madeByFactory(plugin: AnyPlugin, factory: string, args: unknown): AnyTool {
  const { id, factories = {} } = plugin;
  const make = Object.hasOwn(factories, factory) ? factories[factory] : undefined;
  if (make === undefined) throw new TypeError(`plugin "${id}" has no factory "${factory}"`);
  const json = argumentsOf(factory, args);
  const key = canonicalJson([factory, json]);
  const tools = known.get(plugin) ?? new Map<string, AnyTool>();
  known.set(plugin, tools);
  const before = tools.get(key);
  if (before !== undefined) return before;
  const tool: unknown = make(structuredClone(json));
  if (!isTool(tool)) throw new TypeError(`factory "${factory}" must return a tool of defineTool`);
  const ref = { plugin: id, factory, ...(json === null ? {} : { args: json }) };
  const made = withOrigin(tool, ref);
  if (tools.size < MAX_KNOWN) tools.set(key, made);
  return made;
}

/** An MCP server that a plugin has made, and how any worker makes it again. */
export interface MadeServer {
  readonly plugin: AnyPlugin;
  readonly ref: MadeToolRef;
  readonly server: AnyMcpServer;
}

/** @throws {TypeError} when there is no such maker, or it returns no server; the error of the maker */
export function serverByMaker(plugin: AnyPlugin, maker: string, args: unknown): MadeServer {
  const { id } = plugin;
  const { make } = makerOf(plugin, maker) ?? {};
  if (make === undefined) throw new TypeError(`plugin "${id}" has no maker of servers "${maker}"`);
  const json = argumentsOf(maker, args);
  const server: unknown = make(structuredClone(json));
  if (!isRecord(server) || server['kind'] !== 'mcp_server')
    throw new TypeError(`maker "${maker}" must return a server of mcpServer`);
  const ref = { plugin: id, factory: maker, ...(json === null ? {} : { args: json }) };
  return { plugin, ref, server: server as unknown as AnyMcpServer };
}

/** The plugin and the maker of the server of a call; undefined where it is a tool of a factory, or either is gone. */
export function serverMakerOf(
  agent: AnyAgent | undefined,
  { plugin: id, factory = '' }: MadeToolRef,
): { readonly plugin: AnyPlugin; readonly maker: ServerMaker<never> } | undefined {
  const plugin = agent?.plugins?.find((each) => each.id === id);
  const maker = plugin === undefined ? undefined : makerOf(plugin, factory);
  return plugin === undefined || maker === undefined ? undefined : { plugin, maker };
}

function makerOf({ servers = {} }: AnyPlugin, name: string): ServerMaker<never> | undefined {
  return Object.hasOwn(servers, name) ? servers[name] : undefined;
}

/**
 * The tool of a call that a factory made; undefined where plugin or factory are gone, or the factory refuses the
 * arguments, or returns a tool of another name.
 */
export function toolByFactory(
  agent: AnyAgent,
  {
    name,
    ref: { plugin: id, factory, args },
  }: { readonly name: string; readonly ref: MadeToolRef },
  onError: (error: unknown) => void = () => undefined,
): AnyTool | undefined {
  const plugin = agent.plugins?.find((each) => each.id === id);
  if (plugin === undefined || factory === undefined) return undefined;
  try {
    const tool = madeByFactory(plugin, factory, args);
    return tool.name === name ? tool : undefined;
  } catch (error) {
    onError(error);
    return undefined;
  }
}

/** The tool that the plugin's `prepare` has added. */
export function addedTool(
  { tools }: AnyAgent,
  { name, ref }: { readonly name: string; readonly ref: MadeToolRef },
): AnyTool | undefined {
  return tools.find(
    (tool) =>
      tool.name === name && tool.made?.plugin === ref.plugin && tool.made.factory === undefined,
  );
}

export function isTool(value: unknown): value is AnyTool {
  return isRecord(value) && value['kind'] === 'tool';
}

export function withOrigin(tool: AnyTool, made: MadeToolRef): AnyTool {
  return Object.freeze({ ...tool, made });
}

function argumentsOf(factory: string, args: unknown): Json {
  const json = args === undefined ? null : toJson(args);
  const bytes = utf8Bytes(JSON.stringify(json));
  if (bytes > MAX_FACTORY_ARGS_BYTES)
    throw new TypeError(
      `arguments of factory "${factory}" have ${bytes} bytes; at most ${MAX_FACTORY_ARGS_BYTES}`,
    );
  return json;
}

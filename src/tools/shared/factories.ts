/** Tools that factories of plugins make. Runs in the worker. */
import type { AnyAgent } from '../../define/define-agent.js';
import type { AnyPlugin } from '../../define/plugin/types.js';
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

/** The life of plugins in one worker: `setup` of all, `ready` of all, and `dispose` at the end. Runs in the worker. */
import type { AnyAgent } from '../../define/define-agent.js';
import type { PluginContext } from '../../define/plugin/context.js';
import type { AnyPlugin } from '../../define/plugin/types.js';
import type { Logger } from '../../define/tool/context.js';
import { type PortValues, portAccess } from '../../define/tool/ports.js';
import type { FailureCode } from '../../protocol/failures/failures.js';
import { messageOf } from '../shared/message-of.js';
import { withFields } from '../shared/tool-logger.js';
import { pluginFailedText } from './failed-text.js';

/** A plugin's function failed. `message` names plugin and function, and the error that it threw. */
export class PluginFailed extends Error {
  override readonly name = 'PluginFailed';
  readonly code = 'plugin_failed' satisfies FailureCode;
}

export interface StartedPlugins {
  /** In reverse order. An error is logged, and the other plugins are disposed of all the same. Safe to repeat. */
  dispose(): Promise<void>;
}

export interface PluginDeps {
  readonly services: never;
  readonly logger: Logger;
  /** @defaultValue none */
  readonly ports?: PortValues | undefined;
}

/**
 * Starts each plugin of these agents once, in the order of agents and plugins.
 * @throws {PluginFailed} of the first that fails, after those that were set up are disposed of
 */
export async function startPlugins(
  agents: readonly AnyAgent[],
  deps: PluginDeps,
): Promise<StartedPlugins> {
  const plugins = [...new Set(agents.flatMap((agent) => agent.plugins ?? []))];
  const begun: AnyPlugin[] = [];
  const dispose = async (): Promise<void> => {
    for (const plugin of begun.splice(0).reverse()) await disposed(plugin, deps);
  };
  try {
    for (const plugin of plugins) {
      begun.push(plugin);
      await run(plugin, 'setup', deps);
    }
    for (const plugin of plugins) await run(plugin, 'ready', deps);
  } catch (error) {
    await dispose();
    throw error;
  }
  return { dispose };
}

/** @throws {PluginFailed} */
async function run(
  plugin: AnyPlugin,
  hook: 'setup' | 'ready' | 'dispose',
  deps: PluginDeps,
): Promise<void> {
  try {
    await plugin[hook]?.(contextFor(plugin, deps));
  } catch (error) {
    throw new PluginFailed(pluginFailedText(plugin.id, hook, messageOf(error)));
  }
}

async function disposed(plugin: AnyPlugin, deps: PluginDeps): Promise<void> {
  try {
    await run(plugin, 'dispose', deps);
  } catch (error) {
    deps.logger.error('plugin not disposed of', { plugin: plugin.id, reason: messageOf(error) });
  }
}

export function contextFor({ id }: AnyPlugin, deps: PluginDeps): PluginContext<never> {
  const { services, ports } = deps;
  return { services, ...portAccess(ports), logger: withFields(deps.logger, { plugin: id }) };
}

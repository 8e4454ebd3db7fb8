/** The plugins in the declaration of an agent. Runs anywhere. */
import { isRecord } from '../../protocol/values/json.js';
import { type ProblemList, shown, type Untyped } from '../checks/problems.js';
import type { AnyPlugin } from './types.js';

export function checkPlugins(plugins: unknown, problems: ProblemList): void {
  if (plugins === undefined) return;
  if (!Array.isArray(plugins)) {
    problems.add('plugins', `must be a list of plugins, got ${shown(plugins)}`);
    return;
  }
  const ids = new Set<string>();
  for (const [index, plugin] of (plugins as readonly unknown[]).entries()) {
    if (!isPlugin(plugin)) problems.add(`plugins[${index}]`, 'must come from definePlugin');
    else if (ids.has(plugin.id)) problems.add(`plugins[${index}]`, `duplicate id "${plugin.id}"`);
    else ids.add(plugin.id);
  }
}

/** The declaration with the tools of its plugins behind its own, so that all are checked as one list. */
export function withPluginTools(spec: Untyped): Untyped {
  const { tools = [], plugins } = spec;
  if (!Array.isArray(plugins) || !Array.isArray(tools)) return spec;
  const more = (plugins as readonly unknown[]).filter(isPlugin).flatMap((plugin) => plugin.tools);
  return { ...spec, tools: [...(tools as readonly unknown[]), ...more] };
}

function isPlugin(value: unknown): value is AnyPlugin {
  return isRecord(value) && value['kind'] === 'plugin' && Array.isArray(value['tools']);
}

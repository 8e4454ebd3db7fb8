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

/** A tool of a declaration, checked or not, and the field that has it. */
export interface PlacedTool {
  readonly place: string;
  readonly tool: unknown;
}

/** The tools of an agent's declaration, then those of its plugins: all are checked as one list. */
export function placedTools({ tools, plugins }: Untyped): readonly PlacedTool[] {
  const own = listIn(tools).map((tool, index) => ({ place: `tools[${index}]`, tool }));
  const more = listIn(plugins).flatMap((plugin, index) =>
    isPlugin(plugin)
      ? plugin.tools.map((tool, nth) => ({ place: `plugins[${index}].tools[${nth}]`, tool }))
      : [],
  );
  return [...own, ...more];
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

function isPlugin(value: unknown): value is AnyPlugin {
  return isRecord(value) && value['kind'] === 'plugin' && Array.isArray(value['tools']);
}

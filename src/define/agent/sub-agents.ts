/** The sub-agents of an agent: how their costs are counted, and which agents a worker serves. Runs anywhere. */
import { unknownFieldRule } from '../../protocol/values/field-problem.js';
import { isRecord } from '../../protocol/values/json.js';
import { type ProblemList, shown, type Untyped } from '../checks/problems.js';
import type { AnyTool } from '../tool/types.js';

const BOUNDS = { maxDepth: 10, maxOpen: 100 } as const;

/** Adds the faults of `settings.subAgents`. */
export function checkSubAgents(subAgents: unknown, problems: ProblemList): void {
  if (subAgents === undefined) return;
  const field = 'settings.subAgents';
  if (!isRecord(subAgents)) {
    problems.add(field, `must be an object, got ${shown(subAgents)}`);
    return;
  }
  for (const [name, value] of Object.entries(subAgents)) {
    const max = name in BOUNDS ? BOUNDS[name as keyof typeof BOUNDS] : undefined;
    if (max === undefined)
      problems.add(`${field}.${name}`, unknownFieldRule(name, Object.keys(BOUNDS)));
    else if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > max)
      problems.add(`${field}.${name}`, `must be a whole number from 1 to ${max}`);
  }
}

/** The spending of a sub-agent counts for its caller as well, so both must count in one currency. */
export function checkCurrencies(
  { model, settings }: Untyped,
  tools: readonly { readonly place: string; readonly tool: AnyTool }[],
  problems: ProblemList,
): void {
  const own = currencyOf(model);
  const budgets = isRecord(settings) ? settings['budgets'] : undefined;
  const isBounded = isRecord(budgets) && budgets['cost'] !== undefined;
  for (const { place, tool } of tools) {
    if (tool.subAgent === undefined) continue;
    const { agent } = tool.subAgent;
    const others = currencyOf('model' in agent ? agent.model : undefined);
    if (isBounded && others === undefined)
      problems.add(
        place,
        `the model of agent "${agent.name}" has no prices, which settings.budgets.cost needs`,
      );
    else if (own !== undefined && others !== undefined && own !== others)
      problems.add(place, `agent "${agent.name}" counts costs in ${others}, this agent in ${own}`);
  }
}

function currencyOf(model: unknown): string | undefined {
  const prices = isRecord(model) ? model['prices'] : undefined;
  return isRecord(prices) && typeof prices['currency'] === 'string'
    ? prices['currency']
    : undefined;
}

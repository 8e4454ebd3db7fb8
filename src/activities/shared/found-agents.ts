/** Agents of the worker's catalog, which an activity finds by tenant and name. */
import { type AnyAgent, defineAgent } from '../../define/define-agent.js';
import { portAccess } from '../../define/tool/ports.js';
import { withAgent } from '../../tools/registry.js';
import type { ActivityTools } from './deps.js';
import { failureOf, reasonOf } from './failure.js';
import { withHeartbeat } from './heartbeat.js';

interface OfAgent {
  readonly tenant: string;
  readonly agent?: string;
}

/**
 * The tools of an activity, whose registry has the agent, if the catalog does. One that was deleted is there without
 * tools and without a model: its calls end, and its turns fail with `unknown_agent`.
 * @throws the error of the catalog
 */
export async function withFoundAgent(
  tools: ActivityTools,
  { tenant, agent }: OfAgent,
): Promise<ActivityTools> {
  const { catalog, registry, ports } = tools;
  if (catalog === undefined || agent === undefined || registry.agent(agent) !== undefined)
    return tools;
  const found = await withHeartbeat(() => catalog.find({ tenant, agent }, portAccess(ports)));
  if (found === undefined) return tools;
  const added = found === 'deleted' ? deletedAgent(agent) : found;
  return { ...tools, registry: withAgent(registry, added) };
}

/** The same. An error of the catalog is a failure, which is retried. */
export async function withFoundAgentOrFail(
  tools: ActivityTools,
  of: OfAgent,
): Promise<ActivityTools> {
  try {
    return await withFoundAgent(tools, of);
  } catch (error) {
    throw failureOf('internal', reasonOf(error), { retryable: true });
  }
}

function deletedAgent(name: string): AnyAgent {
  const failure = failureOf('unknown_agent', `Agent "${name}" was deleted`, { retryable: false });
  return defineAgent({
    name,
    model: { name: 'none', generate: () => Promise.reject(failure) },
    instructions: 'This agent was deleted.',
  });
}

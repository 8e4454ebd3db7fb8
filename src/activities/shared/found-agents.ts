/** Agents of the worker's catalog, which an activity finds by tenant and name. */
import { Context } from '@temporalio/activity';
import { type AnyAgent, defineAgent, UnreadableAgent } from '../../define/define-agent.js';
import { portAccess } from '../../define/tool/ports.js';
import { withAgent } from '../../tools/registry.js';
import type { ActivityTools } from './deps.js';
import { failureOf, interruption, isCancelRequested, reasonOf } from './failure.js';
import { withHeartbeat } from './heartbeat.js';

/** Between reads of one activity: a call that may run only once has no other attempt. */
const PAUSES_MS = [50, 200, 600] as const;

interface OfAgent {
  readonly tenant: string;
  readonly agent?: string;
}

/**
 * The tools of an activity, whose registry has the agent, if the catalog does. One that was deleted is there without
 * tools and without a model: its calls end, and its turns fail with `unknown_agent`.
 * @throws the error of the catalog, after it was read a few times; that of an interruption
 */
export async function withFoundAgent(
  tools: ActivityTools,
  { tenant, agent }: OfAgent,
): Promise<ActivityTools> {
  const { catalog, registry, ports, logger } = tools;
  if (catalog === undefined || agent === undefined || registry.agent(agent) !== undefined)
    return tools;
  const find = async () => {
    try {
      return await catalog.find({ tenant, agent }, portAccess(ports));
    } catch (error) {
      if (!(error instanceof UnreadableAgent)) throw error;
      logger.error('agent not readable', { tenant, agent, reason: error.message });
      return failing(error as UnreadableAgent<never>);
    }
  };
  const found = await withHeartbeat(() => readPatiently(find));
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
    if (isCancelRequested(Context.current())) throw interruption(Context.current(), 'internal');
    throw failureOf('internal', reasonOf(error), { retryable: true });
  }
}

/** The agent whose model calls fail with the reason for good: another read finds the same definition. */
function failing(error: UnreadableAgent<never>): AnyAgent {
  const failure = failureOf('internal', reasonOf(error), { retryable: false });
  const model = { name: 'none', generate: () => Promise.reject(failure) };
  return Object.freeze({ ...error.standIn, model });
}

async function readPatiently<Found>(read: () => Promise<Found>): Promise<Found> {
  for (const pauseMs of PAUSES_MS) {
    try {
      return await read();
    } catch {
      // Rejects when the activity is cancelled, or its worker stops.
      await Context.current().sleep(pauseMs);
    }
  }
  return await read();
}

/** The agent of this name as activities have it after its deletion. */
export function deletedAgent(name: string): AnyAgent {
  const failure = failureOf('unknown_agent', `Agent "${name}" was deleted`, { retryable: false });
  return defineAgent({
    name,
    model: { name: 'none', generate: () => Promise.reject(failure) },
    instructions: 'This agent was deleted.',
  });
}

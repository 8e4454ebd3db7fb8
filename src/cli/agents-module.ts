/** Loads an application's agents: a module whose exports are agents, and optionally `services`. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Agent } from '../define/agent.js';
import { isRecord } from '../protocol/json.js';

export interface AgentsModule {
  readonly agents: readonly Agent[];
  readonly services: unknown;
}

export class AgentsModuleError extends Error {
  readonly code = 'invalid_agents_module';
}

/**
 * Every export made by `defineAgent` is served; an export named `services` (a value, or a function that makes one) is handed
 * to the tools.
 * @throws {AgentsModuleError} when the module cannot be loaded or exports no agent, or its `services` fail.
 */
export async function loadAgents(path: string): Promise<AgentsModule> {
  const file = resolve(path);
  let exported: Readonly<Record<string, unknown>>;
  try {
    exported = (await import(pathToFileURL(file).href)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new AgentsModuleError(`Cannot load agents from ${file}: ${reason}`, { cause: error });
  }
  // One agent may be exported under several names.
  const agents = [...new Set(Object.values(exported).filter(isAgent))];
  if (agents.length === 0)
    throw new AgentsModuleError(
      `${file} exports no agent. Export at least one: export const support = defineAgent({...})`,
    );
  const names = agents.map((agent) => agent.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw new AgentsModuleError(
      `${file} exports two agents named "${twice}"; names must be unique`,
    );
  return { agents, services: await servicesOf(file, exported['services']) };
}

async function servicesOf(file: string, services: unknown): Promise<unknown> {
  if (!isMaker(services)) return services;
  try {
    return await services();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new AgentsModuleError(`services() of ${file} failed: ${reason}`, { cause: error });
  }
}

function isMaker(value: unknown): value is () => unknown {
  return typeof value === 'function';
}

function isAgent(value: unknown): value is Agent {
  return isRecord(value) && value['kind'] === 'agent' && typeof value['name'] === 'string';
}

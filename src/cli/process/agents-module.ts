/**
 * Loads an application's agents: a module that exports agents, arrays of them or a catalog, and optionally `services`
 * and `secrets`.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Agent, AgentCatalog } from '../../define/define-agent.js';
import type { SecretResolver } from '../../define/services/secrets.js';
import { isRecord } from '../../protocol/values/json.js';

export interface AgentsModule {
  readonly agents: readonly Agent[];
  readonly catalog: AgentCatalog | undefined;
  readonly services: unknown;
  readonly secrets: SecretResolver | undefined;
}

export class AgentsModuleError extends Error {
  readonly code = 'invalid_agents_module';
}

/**
 * Serves every export made by `defineAgent`, the members of every exported array of agents (`export const agents =
 * [support, sales]`, `export default [...]`), and those of a catalog that it exports. An export named `services` (a
 * value, or a function that makes one) is handed to the tools, one named `secrets` finds their secrets; `services: false`
 * makes none, for commands that only read definitions.
 * @throws {AgentsModuleError} when the module cannot be loaded or exports no agent, when an array of agents holds
 * something else, or when its `services` fail.
 */
export async function loadAgents(
  path: string,
  { services = true }: { readonly services?: boolean } = {},
): Promise<AgentsModule> {
  const file = resolve(path);
  const exported = await importModule(file, (reason, options) => {
    return new AgentsModuleError(`Cannot load agents from ${file}: ${reason}`, options);
  });
  // One agent may be exported under several names, alone and in an array.
  const agents = [...new Set(Object.entries(exported).flatMap((entry) => agentsIn(file, entry)))];
  const catalogs = [...new Set(Object.values(exported).filter(isCatalog))];
  const [catalog] = catalogs;
  if (catalogs.length > 1)
    throw new AgentsModuleError(
      `${file} exports ${catalogs.length} catalogs of agents; at most one`,
    );
  if (agents.length === 0 && catalog === undefined)
    throw new AgentsModuleError(
      `${file} exports no agent. Export at least one: export const support = defineAgent({...}), or an array of them`,
    );
  const names = agents.map((agent) => agent.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw new AgentsModuleError(
      `${file} exports two agents named "${twice}"; names must be unique`,
    );
  if (!services) return { agents, catalog, services: undefined, secrets: undefined };
  const secrets = secretsOf(file, exported['secrets']);
  return { agents, catalog, services: await servicesOf(file, exported['services']), secrets };
}

/** The exports of a module of the application. `failure` makes the error, with a reason that names file and line. */
export async function importModule(
  file: string,
  failure: (reason: string, options: ErrorOptions) => Error,
): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(pathToFileURL(file).href)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw failure(withPlace(error), { cause: error });
  }
}

/** The message, with file and line where the error names them: of the syntax, or of the statement that threw. */
function withPlace(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, stack = '' } = error;
  // A module that is not found is named by the message; its stack has places of Node only.
  const place = stack
    .replace(message, '')
    .split('\n')
    .map((line) => /(?:^|\(|\s)(?:file:\/\/)?(\/[^\s():]+:\d+)/.exec(line)?.[1])
    .find((found) => found !== undefined);
  return place === undefined ? message : `${message} (${place})`;
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

function secretsOf(file: string, secrets: unknown): SecretResolver | undefined {
  if (secrets === undefined || typeof secrets === 'function')
    return secrets as SecretResolver | undefined;
  throw new AgentsModuleError(
    `secrets of ${file} must be a function that finds a secret by {name, tenant, user}`,
  );
}

/**
 * An array without any agent is ignored; one with agents beside something else is a mistake, such as a cycle of
 * imports.
 */
function agentsIn(file: string, [name, value]: readonly [string, unknown]): readonly Agent[] {
  // These may hold anything.
  if (name === 'services' || name === 'secrets') return [];
  if (isAgent(value)) return [value];
  if (!Array.isArray(value) || !value.some(isAgent)) return [];
  const members: readonly unknown[] = value;
  return members.map((member, index) => {
    if (isAgent(member)) return member;
    const found = member === null ? 'null' : typeof member;
    throw new AgentsModuleError(
      `${file}: ${name}[${index}] is not an agent (${found}); an exported array must contain only agents`,
    );
  });
}

function isMaker(value: unknown): value is () => unknown {
  return typeof value === 'function';
}

function isAgent(value: unknown): value is Agent {
  return isRecord(value) && value['kind'] === 'agent' && typeof value['name'] === 'string';
}

function isCatalog(value: unknown): value is AgentCatalog {
  return isRecord(value) && value['kind'] === 'agent_catalog';
}

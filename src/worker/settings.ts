/**
 * Checks the options of a worker at run time, before anything is opened: a bad setting must not look like a network
 * problem.
 */
import { pageUrlProblem } from '../client/api/checks.js';
import { TEMPORAL_FIELDS } from '../client/temporal/connection.js';
import { isHttpUrl } from '../net/hosts.js';
import { type FieldsOf, requireKnown } from '../protocol/values/field-problem.js';
import { isRecord } from '../protocol/values/json.js';
import type { ColloquyWorkerOptions, RetentionOptions } from './options.js';
import { retentionMs } from './options.js';
import { checkWebhooks } from './worker-webhooks.js';

const FIELDS: FieldsOf<ColloquyWorkerOptions<unknown>> = {
  ...{ agents: true, catalog: true, services: true, secrets: true, eventLog: true, blobs: true },
  ...{ retention: true, temporal: true, taskQueue: true, searchAttributes: true, pageUrl: true },
  ...{ apiUrls: true, compression: true, audit: true, retryForMs: true, deployment: true },
  ...{ logger: true, webhooks: true, health: true, transcriptCacheBytes: true },
  ...{ shutdownGraceMs: true, sdkGuards: true, tuning: true },
};

const RETENTION: FieldsOf<RetentionOptions> = { closedAfter: true };
const DEPLOYMENT: FieldsOf<NonNullable<ColloquyWorkerOptions<unknown>['deployment']>> = {
  ...{ name: true, buildId: true },
};
const HEALTH: FieldsOf<NonNullable<ColloquyWorkerOptions<unknown>['health']>> = {
  ...{ host: true, port: true },
};
const NESTED = {
  ...{ retention: RETENTION, deployment: DEPLOYMENT, health: HEALTH, temporal: TEMPORAL_FIELDS },
};

/** @throws {TypeError} that names the invalid setting */
export function checkSettings<Services>(options: ColloquyWorkerOptions<Services>): void {
  const given: unknown = options;
  if (!isRecord(given)) throw new TypeError('createColloquyWorker: the options must be an object');
  checkFields(given);
  checkAgents(given['agents'], given['catalog']);
  const { eventLog, audit, sdkGuards, secrets, health, pageUrl, apiUrls } = given;
  checkHealth(health);
  if (eventLog === undefined || eventLog === null || eventLog === '')
    throw new TypeError(
      'eventLog must be a file such as ".colloquy/log.db", the address of a Postgres database, or adapters',
    );
  retentionMs(options.retention);
  if (audit !== undefined && audit !== 'off' && audit !== 'records' && audit !== 'full')
    throw new TypeError(`audit must be "off", "records" or "full", got ${JSON.stringify(audit)}`);
  if (secrets !== undefined && typeof secrets !== 'function')
    throw new TypeError('secrets must be a function that finds a secret by {name, tenant, user}');
  if (sdkGuards !== undefined && typeof sdkGuards !== 'boolean')
    throw new TypeError(`sdkGuards must be true or false, got ${JSON.stringify(sdkGuards)}`);
  const problem = pageUrl === undefined ? undefined : pageUrlProblem(pageUrl);
  if (problem !== undefined) throw new TypeError(`pageUrl ${problem}`);
  if (apiUrls !== undefined && !(Array.isArray(apiUrls) && apiUrls.every(isHttpUrl)))
    throw new TypeError('apiUrls must be a list of addresses such as http://127.0.0.1:8080');
  checkWebhooks(given['webhooks']);
}

/** A misspelt option would be lost silently. */
function checkFields(given: Readonly<Record<string, unknown>>): void {
  requireKnown('createColloquyWorker', given, FIELDS);
  for (const [option, fields] of Object.entries(NESTED)) {
    const value = given[option];
    if (isRecord(value)) requireKnown(`createColloquyWorker: ${option}`, value, fields);
  }
}

function checkHealth(health: unknown): void {
  if (health === undefined) return;
  const { port, host } = isRecord(health) ? health : {};
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 0 || port > 65_535)
    throw new TypeError('health.port must be a whole number from 0 (any free port) to 65535');
  if (host !== undefined && (typeof host !== 'string' || host === ''))
    throw new TypeError('health.host must be an address, such as "0.0.0.0"');
}

function checkAgents(agents: unknown, catalog: unknown): void {
  if (catalog !== undefined && !(isRecord(catalog) && catalog['kind'] === 'agent_catalog'))
    throw new TypeError('catalog must be a catalog of agents, such as that of hsafaAgentCatalog');
  if (!Array.isArray(agents) || (agents.length === 0 && catalog === undefined))
    throw new TypeError('agents must be a list with at least one agent made by defineAgent');
  const { template } = (catalog ?? {}) as { readonly template?: { readonly name?: unknown } };
  const names = new Set<unknown>(template === undefined ? [] : [template.name]);
  for (const [index, agent] of (agents as readonly unknown[]).entries()) {
    if (!isRecord(agent) || agent['kind'] !== 'agent')
      throw new TypeError(`agents[${index}] must be an agent made by defineAgent`);
    const name = agent['name'];
    if (names.has(name))
      throw new TypeError(
        `agents[${index}] has the name of another agent: ${JSON.stringify(name)}`,
      );
    names.add(name);
  }
}

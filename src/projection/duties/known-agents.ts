/** The agents that clients know: those that workers have published, and the documents of a tenant. */
import { LRUCache } from 'lru-cache';
import type { AskedAgents } from '../../client/ports/agents.js';
import { within } from '../../client/temporal/waiting.js';
import {
  type AgentManifest,
  STORED_AGENTS,
  type StoredAgent,
} from '../../protocol/conversation/agents.js';
import { MAX_STORED_AGENTS } from '../../protocol/limits/service-limits.js';
import { type EventLog, StoreUnavailable } from '../../store/ports/log.js';
import type { OpenLog } from '../source/open-log.js';

/** Milliseconds that a message waits for a fresh list of agents, if this process has read one before. */
const AGENTS_DEADLINE_MS = 1_000;
/** Documents that are remembered. */
const MAX_REMEMBERED = 1_000;

type Known = readonly AgentManifest[];

/**
 * The agents of the store, and those of the tenant that are documents there, if workers have served their catalog. Where
 * the store is down or slow, those that it named last: a message needs Temporal, and the store only to know its agent.
 */
export function knownAgents({
  log,
  documents,
}: Pick<OpenLog, 'documents'> & { readonly log: Pick<EventLog, 'agents'> }): (
  asked?: AskedAgents,
) => Promise<Known> {
  const remembered = new LRUCache<string, Known>({ max: MAX_REMEMBERED });
  let published: Known | undefined;
  return async ({ tenant, name } = {}) => {
    published = await freshOr(published, () => log.agents());
    const own = published.filter((agent) => agent.isCatalog !== true);
    const catalogs = published.filter((agent) => agent.isCatalog === true);
    // An agent that was taken out of the code may be a document now.
    const served = own.filter((agent) => agent.notServedSince === undefined);
    const isServed = isNameIn(served);
    if (documents === undefined || tenant === undefined || catalogs.length === 0) return own;
    if (name !== undefined && isServed({ name })) return own;
    const key = { ...STORED_AGENTS, tenant };
    const asked = JSON.stringify([tenant, name]);
    const stored = await freshOr(remembered.get(asked), async () => {
      const found =
        name === undefined
          ? await documents.list(key, MAX_STORED_AGENTS)
          : [await documents.get(key, name)];
      const agents = found.flatMap((each) => (each === undefined ? [] : [each.document]));
      return agents.flatMap((agent) => servedBy(catalogs, agent as unknown as StoredAgent));
    });
    remembered.set(asked, stored);
    const added = stored.filter((agent) => !isServed(agent));
    const isAdded = isNameIn(added);
    return [...own.filter((agent) => !isAdded(agent)), ...added];
  };
}

function isNameIn(agents: Known): (of: Pick<AgentManifest, 'name'>) => boolean {
  const names = new Set(agents.map((agent) => agent.name));
  return ({ name }) => names.has(name);
}

/** None, if no worker has ever served the catalog of the agent. */
function servedBy(catalogs: Known, { catalog: name, manifest }: StoredAgent): Known {
  const catalog = catalogs.find((each) => each.name === name);
  if (catalog === undefined) return [];
  const { notServedSince } = catalog;
  return [notServedSince === undefined ? manifest : { ...manifest, notServedSince }];
}

/** @throws the error of `read`, where nothing is known yet, or it is not that the store is unavailable */
async function freshOr(before: Known | undefined, read: () => Promise<Known>): Promise<Known> {
  if (before === undefined) return await read();
  const fresh = read().catch((error: unknown) => {
    if (error instanceof StoreUnavailable) return undefined;
    throw error;
  });
  return (await within(AGENTS_DEADLINE_MS, fresh)) ?? before;
}

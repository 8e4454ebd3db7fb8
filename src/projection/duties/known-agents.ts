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
import type { StoredDocument } from '../../store/ports/documents/documents.js';
import { type EventLog, StoreUnavailable } from '../../store/ports/log.js';
import type { OpenLog } from '../source/open-log.js';

/** Milliseconds that a message waits for a fresh list of agents, if this process has read one before. */
const AGENTS_DEADLINE_MS = 1_000;
/** Bytes of manifests of documents that are remembered. */
const MAX_REMEMBERED_BYTES = 16 * 1024 * 1024;

type Known = readonly AgentManifest[];

interface Answer {
  readonly known: Known;
  /** When its read began, by `performance.now()`. */
  readonly begunAt: number;
}

/** The last answer to one question. */
interface Memory {
  get(): Answer | undefined;
  set(answer: Answer): void;
}

/**
 * The agents of the store, and those of the tenant that are documents there, if workers have served their catalog.
 * Where the store is down or slow, those that it named last: a message needs Temporal, and the store only to know its
 * agent. Lists of a tenant's documents are not remembered.
 */
export function knownAgents({
  log,
  documents,
}: Pick<OpenLog, 'documents'> & { readonly log: Pick<EventLog, 'agents'> }): (
  asked?: AskedAgents,
) => Promise<Known> {
  const published = memoryOfOne();
  const ofNames = memoriesByName();
  return async ({ tenant, name } = {}) => {
    const all = await lastKnown(published, () => log.agents());
    const own = all.filter((agent) => agent.isCatalog !== true);
    const catalogs = all.filter((agent) => agent.isCatalog === true);
    // An agent that was taken out of the code may be a document now.
    const served = own.filter((agent) => agent.notServedSince === undefined);
    const isServed = isNameIn(served);
    if (documents === undefined || tenant === undefined || catalogs.length === 0) return own;
    if (name !== undefined && isServed({ name })) return own;
    const key = { ...STORED_AGENTS, tenant };
    const manifests = (found: readonly (StoredDocument | undefined)[]): Known =>
      found.flatMap((each) =>
        each === undefined ? [] : servedBy(catalogs, each.document as unknown as StoredAgent),
      );
    const stored =
      name === undefined
        ? manifests(await documents.list(key, MAX_STORED_AGENTS))
        : await lastKnown(ofNames(tenant, name), async () =>
            manifests([await documents.get(key, name)]),
          );
    const added = stored.filter((agent) => !isServed(agent));
    const isAdded = isNameIn(added);
    return [...own.filter((agent) => !isAdded(agent)), ...added];
  };
}

function memoryOfOne(): Memory {
  let last: Answer | undefined;
  return {
    get: () => last,
    set: (answer) => {
      last = answer;
    },
  };
}

function memoriesByName(): (tenant: string, name: string) => Memory {
  const answers = new LRUCache<string, Answer>({
    maxSize: MAX_REMEMBERED_BYTES,
    sizeCalculation: ({ known }) => JSON.stringify(known).length,
  });
  return (tenant, name) => {
    const key = JSON.stringify([tenant, name]);
    return {
      get: () => answers.get(key),
      set: (answer) => {
        // A caller may make up any number of names that no agent has.
        if (answer.known.length > 0 || answers.has(key)) answers.set(key, answer);
      },
    };
  };
}

/**
 * The answer of the store; the last one, where it does not come in time. One that comes late is the last one then.
 * @throws the error of `read`, where nothing is known yet, or it is not that the store is unavailable
 */
async function lastKnown(memory: Memory, read: () => Promise<Known>): Promise<Known> {
  const begunAt = performance.now();
  const fresh = read().then((known) => {
    // A read that began before that of the last answer may know less.
    if (begunAt >= (memory.get()?.begunAt ?? 0)) memory.set({ known, begunAt });
    return known;
  });
  if (memory.get() === undefined) return await fresh;
  const inTime = await within(
    AGENTS_DEADLINE_MS,
    fresh.catch((error: unknown) => {
      if (error instanceof StoreUnavailable) return undefined;
      throw error;
    }),
  );
  return inTime ?? memory.get()?.known ?? (await fresh);
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

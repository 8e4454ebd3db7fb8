/**
 * An event log that shows the visible calls of what it stores. A call is shown before its event is stored, so that a
 * process that dies between the two does both again; a repeat changes nothing.
 */
import type { ProjectionLogger } from '../../projection/source/outages.js';
import type { AgentManifest } from '../../protocol/conversation/agents.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import { type ConversationKey, conversationKey } from '../../protocol/values/ids.js';
import { exactHash } from '../../store/plans/append.js';
import {
  type AppendBatch,
  type AppendResult,
  type EventLog,
  StoreUnavailable,
} from '../../store/ports/log.js';
import { callerOf, type SpacesOfAgents } from '../plugin/port.js';
import { isVisible } from '../plugin/shown.js';
import { CallsFold, type IsVisible, type ShowCall } from './fold.js';

export interface ShowingDeps {
  readonly log: EventLog;
  readonly spaces: Pick<SpacesOfAgents, 'show'>;
  /** The agents that this worker serves; of others it reads what they have published. */
  readonly agents: readonly AgentManifest[];
  readonly logger: ProjectionLogger;
  /** Clock of tests. */
  readonly now?: () => number;
}

/** Conversations whose calls are remembered; of others the log is read again. */
const MAX_KEPT = 500;
/** Conversations whose agents are remembered. */
const MAX_AGENTS = 10_000;
const AGENTS_FOR_MS = 30_000;

/** The same log with another `append`. */
export function showingLog(deps: ShowingDeps): EventLog {
  const calls = new ShownCalls(deps);
  const append: EventLog['append'] = (batch) => calls.append(batch);
  return new Proxy(deps.log, {
    get: (target, name) => {
      if (name === 'append') return append;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

interface Kept {
  readonly fold: CallsFold;
  /** Hash of the last event that was taken: by it the log is known again, which another process may have rewritten. */
  readonly hash: string;
}

/** A fold, and the generation of the log that it was read from; undefined while nothing was read. */
interface Place {
  readonly fold: CallsFold;
  readonly generation?: number;
}

class ShownCalls {
  readonly #deps: ShowingDeps;
  readonly #kept = new Map<string, Kept>();
  /** The agents of conversations, by their events, else by their logs. */
  readonly #agents = new Map<string, string>();
  #visible: { readonly tools: Visible; readonly atMs: number } | undefined;

  constructor(deps: ShowingDeps) {
    this.#deps = deps;
  }

  /** @throws {StoreUnavailable} then nothing is stored, and the caller comes again */
  async append(batch: AppendBatch): Promise<AppendResult> {
    const { log } = this.#deps;
    if (!(await this.#concerns(batch))) return await log.append(batch);
    const name = conversationKey(batch);
    const known = this.#kept.get(name);
    // Kept again once all is stored: a batch that is not must not count as taken.
    this.#kept.delete(name);
    const fold = await this.#caughtUp(known, batch);
    if (fold === undefined) return await log.append(batch);
    for (const event of batch.events) {
      const call = fold.take(event);
      if (call !== undefined) await this.#show(batch, call);
    }
    const result = await log.append(batch);
    const last = batch.events.at(-1);
    if (result.outcome === 'appended' && last !== undefined)
      put(this.#kept, MAX_KEPT, [name, { fold, hash: exactHash(last) }]);
    return result;
  }

  /** Whether events of the batch may change what is shown. */
  async #concerns(batch: AppendBatch): Promise<boolean> {
    const { names, byAgent, ofDocuments } = await this.#tools();
    if (byAgent.size === 0 && ofDocuments === undefined) return false;
    this.#noteAgent(batch);
    const called = batch.events.map(nameOf).filter((name) => name !== undefined);
    if (called.some((name) => names.has(name)) || batch.events.some(isMadeVisible)) return true;
    const isOther = (own: ReadonlyMap<string, boolean>): boolean =>
      called.some((name) => !own.has(name));
    // The later events of a call name its tool, and no definition has a tool that was made at run time.
    const all = [...byAgent.values(), ...(ofDocuments === undefined ? [] : [ofDocuments])];
    if (!all.some(isOther)) return false;
    const own = this.#toolsOf((await this.#agentOf(batch)) ?? '');
    return own !== undefined && isOther(own);
  }

  #noteAgent(batch: AppendBatch): void {
    const name = conversationKey(batch);
    const last = batch.events.findLast(isOfAgent);
    if (last !== undefined) put(this.#agents, MAX_AGENTS, [name, last.agent]);
    // A reset may have dropped a hand-off.
    else if (batch.cutsOff !== undefined) this.#agents.delete(name);
  }

  async #agentOf(batch: AppendBatch): Promise<string | undefined> {
    const name = conversationKey(batch);
    const known = this.#agents.get(name);
    if (known !== undefined) return known;
    const agent = (await this.#deps.log.head(batch))?.snapshot.agent;
    if (agent !== undefined) put(this.#agents, MAX_AGENTS, [name, agent]);
    return agent;
  }

  /**
   * Takes what is stored before the batch. Events of the batch that are stored have been shown. Undefined where events
   * between the two are missing: the store will refuse the batch.
   */
  async #caughtUp(known: Kept | undefined, batch: AppendBatch): Promise<CallsFold | undefined> {
    if (known !== undefined && goesOn(known, batch)) return known.fold;
    const before = (batch.events[0]?.seq ?? 0) - 1;
    const isBehind = known !== undefined && known.fold.seq <= before;
    let { fold, generation } =
      (isBehind ? await this.#resumed(known, batch) : undefined) ?? this.#fresh();
    for (let more = true; more && fold.seq < before; ) {
      const afterSeq = fold.seq;
      const read = await this.#deps.log.read(batch, { afterSeq });
      if (read === undefined) break;
      if (generation !== undefined && generation !== read.generation) {
        ({ fold, generation } = this.#fresh());
        continue;
      }
      generation = read.generation;
      for (const event of read.events) if (event.seq <= before) fold.take(event);
      more = read.more && fold.seq > afterSeq;
    }
    return fold.seq === before ? fold : undefined;
  }

  /** The kept fold, where the stored log still has its last event. */
  async #resumed({ fold, hash }: Kept, key: ConversationKey): Promise<Place | undefined> {
    const read = await this.#deps.log.read(key, { afterSeq: fold.seq - 1, limit: 1 });
    const last = read?.events[0];
    if (read === undefined || last === undefined || exactHash(last) !== hash) return undefined;
    return { fold, generation: read.generation };
  }

  #fresh(): Place {
    return { fold: new CallsFold(this.#isVisible) };
  }

  async #show(key: ConversationKey, { spaceId, agent, ...call }: ShowCall): Promise<void> {
    const { tenant, conversationId } = key;
    try {
      await this.#deps.spaces.show(callerOf({ tenant, conversationId, agent }), spaceId, call);
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      // The space is gone, or the agent was removed; no other fault may keep events from being stored either.
      const reason = error instanceof Error ? error.message : String(error);
      this.#deps.logger.warn('A call is not shown', { tenant, conversationId, spaceId, reason });
    }
  }

  readonly #isVisible: IsVisible = (agent, { name, made, metadata }) =>
    made === undefined ? this.#toolsOf(agent)?.get(name) === true : isVisible({ metadata });

  #toolsOf(agent: string): ReadonlyMap<string, boolean> | undefined {
    const { byAgent, defined, ofDocuments } = this.#visible?.tools ?? {};
    return byAgent?.get(agent) ?? (defined?.has(agent) === true ? undefined : ofDocuments);
  }

  async #tools(): Promise<Visible> {
    const { log, agents, now = Date.now } = this.#deps;
    const nowMs = now();
    if (this.#visible === undefined || nowMs - this.#visible.atMs > AGENTS_FOR_MS)
      // A worker's own definitions count, even while those of an older build are published.
      this.#visible = { tools: visibleIn([...(await log.agents()), ...agents]), atMs: nowMs };
    return this.#visible.tools;
  }
}

interface Visible {
  /** The tools of agents that can enter a space, with whether they are visible. */
  readonly byAgent: ReadonlyMap<string, ReadonlyMap<string, boolean>>;
  /** The names of all agents that are no documents. */
  readonly defined: ReadonlySet<string>;
  /** The tools that agents have which are documents, those of their plugins. Undefined: they enter no space. */
  readonly ofDocuments: ReadonlyMap<string, boolean> | undefined;
  /** The visible ones of all of these. */
  readonly names: ReadonlySet<string>;
}

/** A later definition of an agent counts. */
function visibleIn(manifests: readonly AgentManifest[]): Visible {
  const byAgent = new Map<string, ReadonlyMap<string, boolean>>();
  for (const { name: agent, tools } of manifests)
    if (tools.some(({ name }) => name === 'enter_space'))
      byAgent.set(agent, new Map(tools.map((tool) => [tool.name, isVisible(tool)])));
    else byAgent.delete(agent);
  const all = [...byAgent.values()].flatMap((tools) => [...tools]);
  const names = new Set(all.flatMap(([name, isShown]) => (isShown ? [name] : [])));
  const catalogs = new Set(manifests.flatMap(({ name, isCatalog }) => (isCatalog ? [name] : [])));
  const ofDocuments = [...catalogs].flatMap((name) => [...(byAgent.get(name) ?? [])]);
  // A document may have taken the place of an agent in code that no worker serves any more.
  const newest = new Map(manifests.map((manifest) => [manifest.name, manifest]));
  for (const { name: agent, notServedSince, isCatalog } of newest.values())
    if (notServedSince !== undefined && isCatalog !== true && ofDocuments.length > 0)
      byAgent.set(agent, new Map([...ofDocuments, ...(byAgent.get(agent) ?? [])]));
  return {
    ...{ byAgent, names },
    defined: new Set(manifests.map(({ name }) => name)),
    ofDocuments: ofDocuments.length === 0 ? undefined : new Map(ofDocuments),
  };
}

/** Whether the batch repeats the last event that was taken, as one does that begins with the newest stored event. */
function goesOn({ fold, hash }: Kept, { events }: AppendBatch): boolean {
  const [first] = events;
  const own = first === undefined ? undefined : events[fold.seq - first.seq];
  return own !== undefined && exactHash(own) === hash;
}

/** Puts a value as the newest; the oldest leaves where there are too many. */
function put<Value>(
  all: Map<string, Value>,
  max: number,
  [name, value]: readonly [string, Value],
): void {
  all.delete(name);
  all.set(name, value);
  const [oldest] = all.keys();
  if (all.size > max && oldest !== undefined) all.delete(oldest);
}

/** An event that says whose conversation it is from there on. */
function isOfAgent(
  event: CanonicalEvent,
): event is Extract<CanonicalEvent, { type: 'conversation_started' | 'agent_changed' }> {
  return event.type === 'conversation_started' || event.type === 'agent_changed';
}

/** A call of a visible tool that was made at run time. */
function isMadeVisible(event: CanonicalEvent): boolean {
  return (event.type === 'tool_call' || event.type === 'call_planned') && isVisible(event.call);
}

/** The tool of an event that may change what is shown of a call. */
function nameOf(event: CanonicalEvent): string | undefined {
  switch (event.type) {
    case 'tool_call':
    case 'call_planned':
      return event.call.name;
    case 'suspension':
      return event.suspension.name;
    case 'tool_result':
    case 'inbox_event':
      return event.name;
    default:
      return undefined;
  }
}

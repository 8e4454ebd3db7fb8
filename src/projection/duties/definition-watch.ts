/**
 * Announces the agents of this worker, and offers waiting calls anew whose tools have changed: once all workers that
 * serve an agent have the same definitions of it, its calls that wait for an answer are compared with these. Runs in
 * workers, beside the sweep.
 *
 * D1  While old and new workers run side by side no call is offered anew: two of them would take turns.
 * D2  One worker at a time checks the calls of an agent, by a lock of the store. A repeated check does no harm: a call
 * that is already offered this way refuses the change, and that leaves no history.
 */
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import pLimit from 'p-limit';
import type { AnswerOffer, ChangeSuspensionInput } from '../../protocol/calls/definitions.js';
import type { PendingCall, SuspensionKind } from '../../protocol/calls/suspensions.js';
import { PRESENCE_INTERVAL_MS } from '../../protocol/limits/service-limits.js';
import { type ConversationKey, conversationKey } from '../../protocol/values/ids.js';
import { UPDATES } from '../../protocol/workflow/messaging.js';
import type { EventLog } from '../../store/ports/log.js';
import { Outages, type ProjectionLogger, SILENT } from '../source/outages.js';
import { Passes } from '../source/passes.js';
import { isTaken } from './refusable-update.js';

/** An agent of this worker. */
export interface ServedAgent {
  readonly name: string;
  /** Digest of how its tools take answers: equal if calls would be offered alike. */
  readonly digest: string;
  /** How a call of the tool is offered; undefined for tools that the agent does not have, or whose calls never wait. */
  readonly offerOf: (tool: string) => AnswerOffer | undefined;
}

/**
 * Sends a changed offer to a conversation. `refused`: the conversation does not run, or its call is already offered
 * this way, claimed or over. Rejects when no worker answers.
 */
export type NotifyOffer = (
  key: ConversationKey,
  input: ChangeSuspensionInput,
) => Promise<'changed' | 'refused'>;

export interface DefinitionWatchDeps {
  readonly log: Pick<
    EventLog,
    'announceWorker' | 'withdrawWorker' | 'liveWorkers' | 'list' | 'acquireLease' | 'releaseLease'
  >;
  readonly agents: readonly ServedAgent[];
  readonly notify: NotifyOffer;
  readonly logger?: ProjectionLogger;
  /** Id under which this worker announces itself. @defaultValue a random one */
  readonly id?: string;
  /** @defaultValue `PRESENCE_INTERVAL_MS` */
  readonly intervalMs?: number;
}

const KINDS: readonly SuspensionKind[] = ['elicitation', 'client_execution', 'external_execution'];
const PAGE_SIZE = 100;
const NOTIFIED_AT_ONCE = 8;
/** Milliseconds; covers a page of calls, each with its update. */
const LOCK_MS = 60_000;

export class DefinitionWatch {
  readonly #deps: Required<DefinitionWatchDeps>;
  readonly #id: string;
  readonly #outages: Outages;
  readonly #limited = pLimit(NOTIFIED_AT_ONCE);
  readonly #passes: Passes;
  /** Agents whose waiting calls are all offered by this worker's definitions. */
  readonly #done = new Set<string>();

  constructor(deps: DefinitionWatchDeps) {
    this.#deps = { logger: SILENT, intervalMs: PRESENCE_INTERVAL_MS, id: randomUUID(), ...deps };
    this.#id = this.#deps.id;
    this.#outages = new Outages(this.#deps.logger);
    this.#passes = new Passes({
      pass: () => this.pass(),
      name: 'watch of definitions',
      outages: this.#outages,
      intervalMs: this.#deps.intervalMs,
      firstAfterMs: 0,
    });
  }

  /** Announces the worker at once, and then repeatedly. Does not keep the process alive. */
  start(): void {
    this.#passes.start();
  }

  /** Ends after the requests that are under way, and withdraws the worker. Never throws. */
  async stop(): Promise<void> {
    await this.#passes.stop();
    await this.#deps.log.withdrawWorker(this.#id).catch(() => undefined);
  }

  /** Runs one pass; resolves to the number of calls that were offered anew. @throws {StoreUnavailable} */
  async pass(): Promise<number> {
    const { log, agents } = this.#deps;
    const served = Object.fromEntries(agents.map(({ name, digest }) => [name, digest]));
    await log.announceWorker({ id: this.#id, agents: served });
    const workers = await log.liveWorkers();
    let changed = 0;
    for (const agent of agents) {
      if (this.#passes.isStopping) break;
      const others = workers.map((worker) => worker.agents[agent.name]);
      const isAgreed = others.every((digest) => digest === undefined || digest === agent.digest);
      if (!isAgreed) this.#done.delete(agent.name);
      else if (!this.#done.has(agent.name)) changed += await this.#checkAll(agent);
    }
    return changed;
  }

  async #checkAll(agent: ServedAgent): Promise<number> {
    const { log } = this.#deps;
    const lock = { name: `definitions:${agent.name}`, holder: this.#id };
    if (!(await log.acquireLease({ ...lock, ttlMs: LOCK_MS }))) return 0;
    try {
      let [changed, left] = [0, 0];
      for (const pendingKind of KINDS)
        for (let cursor: string | undefined, more = !this.#passes.isStopping; more; ) {
          const asked = { agent: agent.name, pendingKind, limit: PAGE_SIZE };
          const page = await log.list(cursor === undefined ? asked : { ...asked, cursor });
          const found = page.conversations.flatMap((one) =>
            one.pending
              .filter(({ kind }) => kind === pendingKind)
              .map((call) => this.#limited(() => this.#checkCall(one, call, agent))),
          );
          for (const outcome of await Promise.all(found)) {
            if (outcome === 'changed') changed += 1;
            if (outcome === 'left') left += 1;
          }
          cursor = page.nextCursor;
          more = cursor !== undefined && !this.#passes.isStopping;
        }
      if (left === 0 && !this.#passes.isStopping) this.#done.add(agent.name);
      return changed;
    } finally {
      await log.releaseLease(lock).catch(() => undefined);
    }
  }

  /** `left`: the next pass checks the call again. */
  async #checkCall(
    { tenant, conversationId }: ConversationKey,
    { toolCallId, name, definition, claim, agent: made }: PendingCall,
    agent: ServedAgent,
  ): Promise<'same' | 'changed' | 'left'> {
    // A call of an agent that has passed the conversation on is judged when it is answered.
    const isOwn = (made ?? agent.name) === agent.name && definition !== undefined;
    const offer = isOwn ? agent.offerOf(name) : undefined;
    if (offer === undefined || offer.definition === definition) return 'same';
    if (claim !== undefined || this.#passes.isStopping) return 'left';
    const key = { tenant, conversationId };
    try {
      const outcome = await this.#deps.notify(key, { toolCallId, offer });
      return outcome === 'changed' ? 'changed' : 'same';
    } catch (error) {
      this.#outages.failed(error, conversationKey(key));
      return 'left';
    }
  }
}

/** Sends each offer as an update of its own. */
export function createOfferNotifier(client: Client): NotifyOffer {
  return async (key, input) => {
    const update = {
      name: UPDATES.changeSuspension,
      callId: input.toolCallId,
      requestId: `${input.offer.definition}~${randomUUID()}`,
      input,
    };
    return (await isTaken(client, key, update)) ? 'changed' : 'refused';
  };
}

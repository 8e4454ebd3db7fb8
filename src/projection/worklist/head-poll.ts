/**
 * Finds the conversations that have moved without a hint: one poll for the worklists of all tenants in this process,
 * because the store reads the heads of all tenants together.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ConversationId, conversationKey } from '../../protocol/values/ids.js';
import type { EventLog } from '../../store/ports/log.js';
import type { Outages } from '../source/outages.js';

const POLL_MS = 1_000;
/** A poll looks back so far: longer than an append takes to commit, and than a poll may be late. */
const POLL_WINDOW_MS = 10_000;
const POLL_PAGE = 1_000;

type Moved = (id: ConversationId) => void;

export class HeadPoll {
  readonly #log: Pick<EventLog, 'recentHeads'>;
  readonly #outages: Outages;
  /** By tenant. */
  readonly #listeners = new Map<string, Moved>();
  /** When each conversation that the last poll has found had moved, by tenant and id. */
  #seen = new Map<string, number>();
  #running: AbortController | undefined;

  constructor(log: Pick<EventLog, 'recentHeads'>, outages: Outages) {
    this.#log = log;
    this.#outages = outages;
  }

  /** Calls the only listener of a tenant from now on, until the returned function is called. */
  join(tenant: string, listener: Moved): () => void {
    this.#listeners.set(tenant, listener);
    if (this.#running === undefined) {
      this.#running = new AbortController();
      void this.#run(this.#running.signal);
    }
    return () => {
      if (this.#listeners.get(tenant) === listener) this.#listeners.delete(tenant);
      if (this.#listeners.size > 0) return;
      this.#running?.abort();
      this.#running = undefined;
    };
  }

  async #run(ended: AbortSignal): Promise<void> {
    while (!ended.aborted) {
      try {
        await this.#poll();
        this.#outages.succeeded();
      } catch (error) {
        this.#outages.failed(error, undefined, 'waiting_calls');
      }
      // An abort is the normal end.
      await sleep(POLL_MS, undefined, { signal: ended, ref: false }).catch(() => undefined);
    }
  }

  async #poll(): Promise<void> {
    const seen = new Map<string, number>();
    let after: Awaited<ReturnType<EventLog['recentHeads']>>[number] | undefined;
    do {
      const heads = await this.#log.recentHeads({
        limit: POLL_PAGE,
        withinMs: POLL_WINDOW_MS,
        ...(after === undefined ? {} : { after }),
      });
      for (const head of heads) {
        const { tenant, conversationId, changedAtMs } = head;
        const listener = this.#listeners.get(tenant);
        if (listener === undefined) continue;
        const name = conversationKey(head);
        seen.set(name, changedAtMs);
        if (this.#seen.get(name) !== changedAtMs) listener(conversationId);
      }
      after = heads.length < POLL_PAGE ? undefined : heads.at(-1);
    } while (after !== undefined);
    this.#seen = seen;
  }
}

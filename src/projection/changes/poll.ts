/**
 * Finds the conversations that have changed or were deleted without a hint: one poll of the store for all tenants that
 * this process follows.
 *
 * P1  A poll looks back by `LATE_MS` before the last one that succeeded, so a change that was committed late is found,
 *     and nothing is missed while the store is away.
 * P2  Listeners get changes before the time of the poll that has found them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { conversationKey } from '../../protocol/values/ids.js';
import { type Change, LATE_MS } from '../../store/ports/lists.js';
import type { EventLog } from '../../store/ports/log.js';
import type { Outages } from '../source/outages.js';

/** Milliseconds between polls. */
const POLL_MS = 1_000;
/** The most changes of a tenant that one poll reads. */
const MAX_CHANGES = 10_000;

export interface PollListener {
  /** A conversation has changed, or was deleted; called once for each version. Must not throw. */
  readonly moved: (change: Change) => void;
  /**
   * A poll that began after the listener had joined is over: every change that was visible at `nowMs`, by the store's
   * clock, has been found, by this poll or an earlier one. `isCut`: there were too many, and some were left out.
   */
  readonly polled?: (at: { readonly nowMs: number; readonly isCut: boolean }) => void;
}

interface Asked {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class ChangePoll {
  readonly #log: Pick<EventLog, 'changes'>;
  readonly #outages: Outages;
  readonly #pollMs: number;
  /** By tenant. */
  readonly #listeners = new Map<string, Set<PollListener>>();
  /** The versions that the last poll has found, by conversation and kind. */
  #seen = new Map<string, string>();
  #lastMs: number | undefined;
  #asked: Asked[] = [];
  #isRunning = false;
  #wake: (() => void) | undefined;

  constructor(log: Pick<EventLog, 'changes'>, outages: Outages, pollMs = POLL_MS) {
    this.#log = log;
    this.#outages = outages;
    this.#pollMs = pollMs;
  }

  /** Calls a listener from now on, until the returned function is called. */
  join(tenant: string, listener: PollListener): () => void {
    const listeners = this.#listeners.get(tenant) ?? new Set();
    this.#listeners.set(tenant, listeners.add(listener));
    if (!this.#isRunning) void this.#run();
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0 || this.#listeners.get(tenant) !== listeners) return;
      this.#listeners.delete(tenant);
      if (this.#listeners.size === 0) this.#wake?.();
    };
  }

  /** Resolves after the next poll that begins. For listeners. @throws {StoreUnavailable} */
  async once(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#asked.push({ resolve, reject });
      this.#wake?.();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    // Lets the listener that joins now ask for this first poll.
    await Promise.resolve();
    while (this.#listeners.size > 0) {
      const asked = this.#asked;
      this.#asked = [];
      try {
        await this.#poll();
        this.#outages.succeeded();
        for (const { resolve } of asked) resolve();
      } catch (error) {
        this.#outages.failed(error, undefined, 'waiting_calls');
        for (const { reject } of asked) reject(error);
      }
      await this.#pause();
    }
    this.#isRunning = false;
    this.#lastMs = undefined;
    this.#seen.clear();
    for (const { reject } of this.#asked.splice(0)) reject(new Error('No listener is left'));
  }

  async #pause(): Promise<void> {
    if (this.#asked.length > 0 || this.#listeners.size === 0) return;
    const woken = new AbortController();
    this.#wake = () => {
      woken.abort();
    };
    // Rejects when it is woken.
    await sleep(this.#pollMs, undefined, { signal: woken.signal, ref: false }).catch(
      () => undefined,
    );
    this.#wake = undefined;
  }

  async #poll(): Promise<void> {
    // Copied before the read, which does not cover the tenants of listeners that join during it.
    const listeners = new Map(
      [...this.#listeners].map(([tenant, joined]) => [tenant, [...joined]] as const),
    );
    const { nowMs, changes, cut } = await this.#log.changes({
      tenants: [...listeners.keys()],
      sinceMs: this.#lastMs,
      ...{ lookBackMs: LATE_MS, limit: MAX_CHANGES },
    });
    const seen = new Map<string, string>();
    for (const change of changes) {
      const name = `${change.isDeletion ? '-' : '+'}${conversationKey(change)}`;
      seen.set(name, change.version);
      if (this.#seen.get(name) === change.version) continue;
      for (const { moved } of this.#listeners.get(change.tenant) ?? []) moved(change);
    }
    this.#seen = seen;
    this.#lastMs = nowMs;
    for (const [tenant, joined] of listeners)
      for (const { polled } of joined) polled?.({ nowMs, isCut: cut.has(tenant) });
  }
}

/**
 * Watches the leases of claims, and reports lapsed ones to their conversations until their rows are gone. So neither
 * holding nor renewing costs a workflow anything. One process at a time, by a lock of the store; runs in workers,
 * beside the sweep. While the store is down no lease lapses; the deadline of the call ends it nevertheless.
 */
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import pLimit from 'p-limit';
import { LEASE_WATCH_INTERVAL_MS } from '../../protocol/limits/service-limits.js';
import { conversationKey } from '../../protocol/values/ids.js';
import { UPDATES } from '../../protocol/workflow/messaging.js';
import type { CallLease } from '../../store/ports/leases.js';
import type { EventLog } from '../../store/ports/log.js';
import { Outages, type ProjectionLogger, SILENT } from '../source/outages.js';
import { Passes } from '../source/passes.js';
import { isTaken } from './refusable-update.js';

/**
 * Reports a lapsed lease. `unknown`: the conversation does not run, or does not have such a claim. Rejects when no
 * worker answers.
 */
export type NotifyLeaseLost = (lease: CallLease) => Promise<'notified' | 'unknown'>;

export interface LeaseWatchDeps {
  readonly log: Pick<
    EventLog,
    'acquireLease' | 'releaseLease' | 'lapsedCallLeases' | 'dropCallLease'
  >;
  readonly notify: NotifyLeaseLost;
  readonly logger?: ProjectionLogger;
  /** @defaultValue `LEASE_WATCH_INTERVAL_MS` */
  readonly intervalMs?: number;
}

const LOCK = 'call-leases';
/** The leader may miss a few renewals. */
const LOCK_INTERVALS = 5;
const PAGE_SIZE = 200;
const NOTIFIED_AT_ONCE = 8;

export class LeaseWatch {
  readonly #deps: Required<LeaseWatchDeps>;
  readonly #holder = randomUUID();
  readonly #outages: Outages;
  readonly #limited = pLimit(NOTIFIED_AT_ONCE);
  readonly #passes: Passes;

  constructor(deps: LeaseWatchDeps) {
    this.#deps = { logger: SILENT, intervalMs: LEASE_WATCH_INTERVAL_MS, ...deps };
    this.#outages = new Outages(this.#deps.logger);
    this.#passes = new Passes({
      pass: () => this.pass(),
      name: 'watch of leases',
      outages: this.#outages,
      intervalMs: this.#deps.intervalMs,
    });
  }

  /** Begins to watch. Does not keep the process alive. */
  start(): void {
    this.#passes.start();
  }

  /** Ends after the requests that are under way, and releases the lock. Never throws. */
  async stop(): Promise<void> {
    await this.#passes.stop();
    await this.#deps.log.releaseLease({ name: LOCK, holder: this.#holder }).catch(() => undefined);
  }

  /**
   * Runs one pass; resolves to the number of conversations that were notified. Undefined when another process leads.
   * @throws {StoreUnavailable}
   */
  async pass(): Promise<number | undefined> {
    const { log, intervalMs } = this.#deps;
    const lock = { name: LOCK, holder: this.#holder, ttlMs: intervalMs * LOCK_INTERVALS };
    if (!(await log.acquireLease(lock))) return undefined;
    let signalled = 0;
    for (let after: CallLease | undefined; ; ) {
      const page = await log.lapsedCallLeases({
        limit: PAGE_SIZE,
        ...(after === undefined ? {} : { after }),
      });
      const outcomes = await Promise.all(
        page.map((lease) => this.#limited(async () => await this.#notify(lease))),
      );
      signalled += outcomes.filter(Boolean).length;
      after = page.at(-1);
      const isLast = after === undefined || page.length < PAGE_SIZE;
      if (isLast || this.#passes.isStopping) return signalled;
    }
  }

  async #notify(lease: CallLease): Promise<boolean> {
    if (this.#passes.isStopping) return false;
    const { log, notify } = this.#deps;
    try {
      if ((await notify(lease)) === 'notified') return true;
      await log.dropCallLease(lease);
    } catch (error) {
      this.#outages.failed(error, conversationKey(lease));
    }
    return false;
  }
}

/** Reports by update: a repeat is the same update. */
export function createLeaseLostNotifier(client: Client): NotifyLeaseLost {
  return async (lease) => {
    const { toolCallId, claimId, seq } = lease;
    const update = {
      name: UPDATES.leaseLost,
      callId: toolCallId,
      requestId: `${claimId}~${seq}`,
      input: { toolCallId, claimId, seq },
    };
    return (await isTaken(client, lease, update)) ? 'notified' : 'unknown';
  };
}

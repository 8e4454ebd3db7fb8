/**
 * Leases that this process renewed by update a moment ago. Such a renewal is in the history, so progress must not
 * repeat it.
 */
import { LRUCache } from 'lru-cache';
import { conversationKey } from '../../protocol/values/ids.js';
import type { LeaseRenewal } from '../ports/leases.js';

/**
 * Milliseconds. Small against a lease of minutes, large against reports of progress; progress of a holder that has lost
 * its lease may be published for that long.
 */
const FRESH_MS = 10_000;
/** A renewal that was dropped from the cache costs one update. */
const MAX_RENEWALS = 1_000;

type Renewed = Pick<LeaseRenewal, 'call' | 'claimId' | 'holder'>;

export class RecentRenewals {
  readonly #now: () => number;
  readonly #known = new LRUCache<string, { readonly until: string; readonly freshMs: number }>({
    max: MAX_RENEWALS,
  });

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  note(renewed: Renewed, leaseUntil: string): void {
    const nowMs = this.#now();
    // Half of a short lease, so that it is renewed in time.
    const freshMs = Math.min(nowMs + FRESH_MS, (nowMs + Date.parse(leaseUntil)) / 2);
    this.#known.set(nameOf(renewed), { until: leaseUntil, freshMs });
  }

  /** The end of the lease, ISO 8601; undefined when it is time to renew. */
  of(renewed: Renewed): string | undefined {
    const known = this.#known.peek(nameOf(renewed));
    return known !== undefined && this.#now() < known.freshMs ? known.until : undefined;
  }
}

function nameOf({ call, claimId, holder }: Renewed): string {
  return JSON.stringify([conversationKey(call), call.toolCallId, claimId, holder]);
}

/**
 * Plans the rows of leases that an append leaves, without touching them; every adapter carries out the same plan. And the
 * rows of leases of duties as a reader sees them.
 */
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import type { CallLease } from '../ports/leases.js';
import type { HeldLease } from '../ports/log.js';
import { type Row, textIn } from './rows.js';

/** Undefined when neither state has a claim: then no row has to be written or removed. */
export function leasesAfter(
  before: ConversationSnapshot | undefined,
  after: ConversationSnapshot,
): readonly CallLease[] | undefined {
  const leases = leasesIn(after);
  const hadAny = before?.pending.some(({ claim }) => claim !== undefined) === true;
  return hadAny || leases.length > 0 ? leases : undefined;
}

function leasesIn({ tenant, conversationId, pending }: ConversationSnapshot): readonly CallLease[] {
  return pending.flatMap(({ toolCallId, claim }) => {
    if (claim === undefined) return [];
    const { claimId, seq, by, leaseMs, leaseUntil } = claim;
    return [{ tenant, conversationId, toolCallId, claimId, seq, holder: by, leaseMs, leaseUntil }];
  });
}

export function heldLeaseOf(row: Row, leftMs: number): HeldLease {
  return {
    holder: textIn(row, 'holder'),
    leftMs: Math.max(0, leftMs),
    ...(row['note'] === null ? {} : { note: textIn(row, 'note') }),
  };
}

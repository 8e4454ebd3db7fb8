/** Plans the rows of leases that an append leaves, without touching them; every adapter carries out the same plan. */
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import type { CallLease } from '../ports/leases.js';

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

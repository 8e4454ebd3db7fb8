/** The client's leases port over the event log and its live channel. */
import type { LeasesPort } from '../../client/ports/leases.js';
import type { CallLeases } from '../../store/ports/leases.js';
import type { LiveChannel } from '../../store/ports/live.js';

export function createLeases(deps: {
  readonly log: Pick<CallLeases, 'renewCallLease'>;
  readonly live: LiveChannel;
}): LeasesPort {
  return {
    renew: async (renewal) => (await deps.log.renewCallLease(renewal))?.leaseUntil,
    show: ({ tenant, conversationId }, event) => {
      try {
        deps.live.publish({ type: 'live', tenant, conversationId, event });
      } catch {
        // No code may depend on a live event.
      }
    },
  };
}

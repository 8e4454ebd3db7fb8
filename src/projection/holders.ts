/** The client's holders port over the event log and its live channel. */
import type { HoldersPort } from '../client/holders.js';
import type { LiveChannel } from '../store/live-port.js';
import type { CallLeases } from '../store/port.js';

export function createHolders(deps: {
  readonly log: Pick<CallLeases, 'renewCallLease'>;
  readonly live: LiveChannel;
}): HoldersPort {
  return {
    renew: async (renewal) => (await deps.log.renewCallLease(renewal))?.leaseUntil,
    show: ({ tenant, conversationId }, event) => {
      try {
        deps.live.publish({ type: 'live', tenant, conversationId, event });
      } catch {
        // Nothing may depend on a live event.
      }
    },
  };
}

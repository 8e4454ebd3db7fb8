/** The leases port of the client: renews leases and publishes progress. `projection` implements it over the store. */

import type { ToolProgress } from '../../protocol/log/live-events.js';
import type { ConversationKey, ToolCallId } from '../../protocol/values/ids.js';

export interface LeaseRenewal {
  readonly call: ConversationKey & { readonly toolCallId: ToolCallId };
  readonly claimId: string;
  /** Id of the actor who claimed. */
  readonly holder: string;
  /** @defaultValue as long as the holder requested before */
  readonly leaseMs?: number;
}

export interface LeasesPort {
  /** The new end of the lease, ISO 8601; undefined when the store does not have such a claim (yet, or any more). */
  renew(renewal: LeaseRenewal): Promise<string | undefined>;
  /** Publishes progress to watchers of the conversation. May be lost; never throws. */
  show(key: ConversationKey, progress: ToolProgress): void;
}

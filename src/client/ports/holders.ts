/** The holders port of the client: where leases are renewed and progress is shown. `projection` implements it over the store. */

import type { ToolProgress } from '../../protocol/log/live-events.js';
import type { ConversationKey, ToolCallId } from '../../protocol/values/ids.js';

export interface LeaseRenewal {
  readonly call: ConversationKey & { readonly toolCallId: ToolCallId };
  readonly claimId: string;
  /** Id of the actor who claimed. */
  readonly holder: string;
  /** @defaultValue as long as the holder asked for before */
  readonly leaseMs?: number;
}

export interface HoldersPort {
  /** The new end of the lease, ISO 8601; undefined when the store knows of no such claim (yet, or any more). */
  renew(renewal: LeaseRenewal): Promise<string | undefined>;
  /** To whoever watches the conversation. May be lost; never throws. */
  show(key: ConversationKey, progress: ToolProgress): void;
}

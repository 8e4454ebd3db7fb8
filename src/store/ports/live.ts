/**
 * The live channel port: hints and live events between workers and API processes. Any message may be lost; no code may
 * depend on its arrival. Adapters: in process, one socket beside the sqlite file for several processes, and Postgres
 * for several machines.
 */

import type { LiveEvent } from '../../protocol/log/live-events.js';
import type { SpaceKey, StreamedArguments } from '../../protocol/spaces/spaces.js';
import type { ConversationId, ConversationKey } from '../../protocol/values/ids.js';

export type LiveMessage =
  | ({ readonly type: 'live'; readonly event: LiveEvent } & ConversationKey)
  /** The content streamed so far, repeated for late subscribers: text from offset 0 on. Other subscribers have it. */
  | ({ readonly type: 'so_far'; readonly event: LiveEvent } & ConversationKey)
  /** The store has more events: readers read it. */
  | ({
      readonly type: 'appended';
      readonly generation: number;
      readonly lastSeq: number;
      /** Under the key of a tenant: the conversation that has more. */
      readonly moved?: ConversationId;
    } & ConversationKey)
  /** Under the key of a space: a person has read up to a position. */
  | ({ readonly type: 'read'; readonly read: SpaceReading } & ConversationKey)
  /** Under the key of a space: a visible call that is being written. */
  | ({ readonly type: 'writing'; readonly writing: SpaceWriting } & ConversationKey);

/** A piece of a call's arguments, or the end of the model call that has written it. */
export type SpaceWriting = {
  /** Names the model call in all of its attempts. */
  readonly answer: string;
} & ({ readonly piece: StreamedArguments } | { readonly attempt: number });

export interface SpaceReading {
  readonly personId: string;
  readonly position: number;
}

/** The key under which the appends to all conversations of a tenant are published. No conversation has this id. */
export function tenantKey(tenant: string): ConversationKey {
  return { tenant, conversationId: '*' };
}

/** The key under which changes of a space are published, as `appended`. No conversation has this id. */
export function spaceLiveKey({ tenant, spaceId }: SpaceKey): ConversationKey {
  return { tenant, conversationId: `*${spaceId}` };
}

export interface Watch {
  /** Live events, too; without them only `appended` arrives, which is all that a reader of the log needs. */
  readonly live: boolean;
}

export interface LiveChannel {
  /** Never throws, never blocks; drops the message when no process watches the conversation. */
  publish(message: LiveMessage): void;
  /** Messages of one conversation from now on, from any process. Returns a function that ends the subscription. */
  subscribe(
    key: ConversationKey,
    watch: Watch,
    listener: (message: LiveMessage) => void,
  ): () => void;
  /** Whether any process watches the conversation. Publishers skip work when none does. */
  watched(key: ConversationKey): Watch | undefined;
  /**
   * Calls the listener when a subscriber, here or in another process, has begun to watch live events; now and then also
   * for one that had begun before. Returns a function that removes the listener.
   */
  onJoin(key: ConversationKey, listener: () => void): () => void;
  close(): Promise<void>;
}

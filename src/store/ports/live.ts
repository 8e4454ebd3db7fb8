/**
 * The live channel port: hints and live events between workers and API processes. May lose anything; nothing may depend on
 * a message having arrived. Adapters: in process, local sockets beside the sqlite file for several processes, and Postgres for
 * several machines.
 */

import type { LiveEvent } from '../../protocol/log/live-events.js';
import type { ConversationKey } from '../../protocol/values/ids.js';

export type LiveMessage =
  | ({ readonly type: 'live'; readonly event: LiveEvent } & ConversationKey)
  /** What has been streamed so far, said again for those who came later: text from offset 0 on. Others know it. */
  | ({ readonly type: 'so_far'; readonly event: LiveEvent } & ConversationKey)
  /** The store has more: readers read it. */
  | ({
      readonly type: 'appended';
      readonly generation: number;
      readonly lastSeq: number;
    } & ConversationKey);

export interface Watch {
  /** Live events, too; without it only `appended` comes, which is all that somebody who waits for the log needs. */
  readonly live: boolean;
}

export interface LiveChannel {
  /** Never throws, never blocks; drops when nobody watches. */
  publish(message: LiveMessage): void;
  /** Messages of one conversation from now on, from any process. Returns a function that stops. */
  subscribe(
    key: ConversationKey,
    watch: Watch,
    listener: (message: LiveMessage) => void,
  ): () => void;
  /** Whether anybody, here or in another process, watches. Publishers skip work when nobody does. */
  watched(key: ConversationKey): Watch | undefined;
  /**
   * Tells a publisher that somebody, here or in another process, has begun to watch live events; now and then also of one who had
   * begun before. Returns a function that stops.
   */
  onJoin(key: ConversationKey, listener: () => void): () => void;
  close(): Promise<void>;
}

/** The stream of the conversations of a tenant, for a list of them that stays current. Runs anywhere. */
import type { ConversationSnapshot } from '../conversation/conversation.js';
import { type StatusFilter, statusesOf } from '../conversation/statuses.js';
import type { ConversationId } from '../values/ids.js';

/** Filters of the stream, as those of the list; all given ones hold at once. */
export interface ConversationsFilter {
  readonly agent?: string;
  /** Conversations of sub-agents at any depth below this one. */
  readonly root?: ConversationId;
  readonly status?: StatusFilter;
}

/**
 * `id`: the place that a reader has with this frame: one that comes back with it misses nothing. Without it, the place
 * is still the one before.
 */
export type ConversationsFrame =
  /** The first frame of a new stream: a reader that reads the list after it, and applies the frames that follow, has all. */
  | { readonly type: 'ready'; readonly id: string }
  /** A conversation as lists have it, after it has changed. May come again unchanged. */
  | {
      readonly type: 'conversation';
      readonly conversation: ConversationSnapshot;
      readonly id?: string;
    }
  /** A conversation that has changed is not in the list: it was deleted, or does not match. The reader may not have it. */
  | { readonly type: 'removed'; readonly conversationId: ConversationId; readonly id?: string }
  /** More has changed than is sent one by one: to be treated as `ready`. */
  | { readonly type: 'reset'; readonly id: string }
  /** Nothing more has changed. */
  | { readonly type: 'place'; readonly id: string };

/** An id of a frame: the time up to which all changes have been sent, by the clock of the store. */
export const PLACE = /^t-(\d{1,15})$/;

export function formatPlace(ms: number): string {
  return `t-${ms}`;
}

/** Undefined for a text that is no id of a frame. */
export function parsePlace(id: string): number | undefined {
  const ms = PLACE.exec(id)?.[1];
  return ms === undefined ? undefined : Number(ms);
}

/** Whether the list with this filter has the conversation. */
export function isListed(
  { agent, status, trouble, parent }: ConversationSnapshot,
  filter: ConversationsFilter,
): boolean {
  if (filter.agent !== undefined && filter.agent !== agent) return false;
  if (filter.root !== undefined && filter.root !== parent?.root) return false;
  if (filter.status === undefined || filter.status === status) return true;
  // A status of the log also finds conversations with a mark of trouble.
  return statusesOf(filter.status).includes(trouble?.was ?? status);
}

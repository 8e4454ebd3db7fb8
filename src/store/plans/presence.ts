/** Filters and marks of agents that no worker serves any more; the same for every adapter. */
import type { AgentManifest } from '../../protocol/conversation/agents.js';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import type { ConversationList, ListOptions } from '../ports/lists.js';
import type { GoneAgents } from '../ports/presence.js';

/** Filters that only adapters use, beside those of callers. */
export interface ListRequest extends Omit<ListOptions, 'attention'> {
  /** Open conversations of these agents. */
  readonly openOf?: readonly string[];
}

export interface PublishedAgent {
  readonly manifest: AgentManifest;
  /** ISO 8601; present when there are workers, and none has served the agent for `AGENT_GONE_MS`. */
  readonly goneSince?: string;
}

export function shownManifest({ manifest, goneSince }: PublishedAgent): AgentManifest {
  return goneSince === undefined ? manifest : { ...manifest, notServedSince: goneSince };
}

export const NO_CONVERSATIONS: ConversationList = { conversations: [] };

/** Translates `attention` into a filter by agents; undefined if no conversation can match. */
export function requestOf(
  { attention, ...options }: ListOptions,
  gone: GoneAgents,
): ListRequest | undefined {
  if (attention === undefined) return options;
  return gone.size === 0 ? undefined : { ...options, openOf: [...gone.keys()] };
}

/** Adds to each conversation of the page the reason why it needs attention. */
export function withAttention(page: ConversationList, gone: GoneAgents): ConversationList {
  if (gone.size === 0) return page;
  return { ...page, conversations: page.conversations.map((one) => needing(one, gone)) };
}

/** Adds to the snapshot the reason why it needs attention. */
export function needing(snapshot: ConversationSnapshot, gone: GoneAgents): ConversationSnapshot {
  const since = snapshot.status === 'closed' ? undefined : gone.get(snapshot.agent);
  return since === undefined
    ? snapshot
    : { ...snapshot, attention: { reason: 'agent_not_served', since } };
}

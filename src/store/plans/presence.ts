/** What follows from which agents no worker serves any more; the same for every adapter. */
import type { AgentManifest } from '../../protocol/conversation/agents.js';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import type { ConversationList, ListOptions } from '../ports/lists.js';
import type { GoneAgents } from '../ports/presence.js';

/** Filters that only adapters ask for, beside those of callers. */
export interface ListRequest extends Omit<ListOptions, 'attention'> {
  /** Open conversations of these agents. */
  readonly openOf?: readonly string[];
}

export interface PublishedAgent {
  readonly manifest: AgentManifest;
  /** ISO 8601; present where workers are there, and none has served it for `AGENT_GONE_MS`. */
  readonly goneSince?: string;
}

export function shownManifest({ manifest, goneSince }: PublishedAgent): AgentManifest {
  return goneSince === undefined ? manifest : { ...manifest, notServedSince: goneSince };
}

export const NO_CONVERSATIONS: ConversationList = { conversations: [] };

/** What is read for a list that is asked for; undefined where nothing can be in it. */
export function requestOf(
  { attention, ...options }: ListOptions,
  gone: GoneAgents,
): ListRequest | undefined {
  if (attention === undefined) return options;
  return gone.size === 0 ? undefined : { ...options, openOf: [...gone.keys()] };
}

/** The page with what each conversation of it needs attention for. */
export function withAttention(page: ConversationList, gone: GoneAgents): ConversationList {
  if (gone.size === 0) return page;
  return { ...page, conversations: page.conversations.map((one) => needing(one, gone)) };
}

/** The snapshot with what it needs attention for. */
export function needing(snapshot: ConversationSnapshot, gone: GoneAgents): ConversationSnapshot {
  const since = snapshot.status === 'closed' ? undefined : gone.get(snapshot.agent);
  return since === undefined
    ? snapshot
    : { ...snapshot, attention: { reason: 'agent_not_served', since } };
}

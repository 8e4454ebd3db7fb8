/** Values of pages that look into conversations. */
import type { PluginStates } from '../../protocol/calls/plugin-state.js';
import type { AgentSettings } from '../../protocol/conversation/agents.js';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import type { Message } from '../../protocol/conversation/messages.js';
import type { Counts, Usage } from '../../protocol/conversation/turns.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { ConversationRun } from '../../protocol/workflow/run.js';
import type { Connection } from '../net/following.js';

/** A conversation at one place of its log. */
export interface LogPlace {
  /** The event behind which the place is. Absent: the place before the first. */
  readonly event?: CanonicalEvent;
  /** As readers saw the conversation then. Absent: it had not begun. */
  readonly snapshot?: ConversationSnapshot;
  /** The messages that the next model call may be given: the summary, if any, and those behind it. */
  readonly messages: readonly Message[];
  /** Number of older messages that no model call is given any more. */
  readonly forgotten: number;
  readonly settings?: AgentSettings;
  readonly turn?: {
    readonly turnId: string;
    readonly step: number;
    readonly usage: Usage;
    readonly startedAt: string;
    /** Calls that were allowed to run, by tool. Absent: no limit needs the counts. */
    readonly calls?: Counts;
    /** Cancelled, or over a limit. */
    readonly isStopping: boolean;
  };
  /** Number of events that the next model call reads. */
  readonly unread: number;
  readonly plugins: PluginStates;
  /** False: events were lost before it, or are of a later version, and the place is folded without them. */
  readonly isWhole: boolean;
  /** Whether a fork can begin here. */
  readonly canFork: boolean;
}

/** A list of conversations, the newest change first, and its connection. */
export interface ConversationsView {
  readonly connection: Connection;
  readonly conversations: readonly ConversationSnapshot[];
  /** Whether the list has been read. */
  readonly isRead: boolean;
  /** Whether there are more, which `loadMore` reads. */
  readonly hasMore: boolean;
}

/** A fork as the API answers it. `queued`: no worker has begun it yet; it is kept. */
export interface ForkedConversation {
  readonly status: 'forked' | 'queued';
  readonly conversationId: string;
  /** Calls that were open there and stay with the origin. */
  readonly notCarried: readonly string[];
  readonly warning?: string;
}

/** The run of a conversation, and its address in a Temporal UI, where the API knows one. */
export type ShownRun = ConversationRun & { readonly url?: string };

/** A turn, and the definition with which it is played again: at least an agent, a model, or instructions. */
export interface WhatIfRequest {
  readonly turnId: string;
  readonly generation: number;
  /** The agent whose instructions, tools and model are used. Absent: the agent of the turn. */
  readonly agent?: string;
  /** Name of the model of any agent that workers serve. Absent: the model of the agent. */
  readonly model?: string;
  /** Replaces the instructions of the agent. */
  readonly instructions?: string;
  readonly requestId?: string;
}

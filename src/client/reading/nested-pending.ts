/** The waiting calls of a conversation and of all its sub-agents, which the store finds by their root. */

import type { PendingCall } from '../../protocol/calls/suspensions.js';
import type { ChildStep } from '../../protocol/conversation/children.js';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import type { ConversationId } from '../../protocol/values/ids.js';
import type { ConversationReader } from '../ports/reader.js';

/** A waiting call, and the conversation in which it is answered. */
export interface NestedPendingCall extends PendingCall {
  readonly conversationId: ConversationId;
  /** The agent that made it. */
  readonly agent: string;
  /** The calls from the conversation that was asked down to the one that this call belongs to; empty for its own. */
  readonly path: readonly ChildStep[];
}

const PAGE = 200;

/**
 * The calls in the order in which they began to wait. Those of the conversation itself are as of the snapshot; those of
 * its sub-agents as of the store, which may lag behind by moments.
 */
export async function nestedPending(
  reader: Pick<ConversationReader, 'list'>,
  own: ConversationSnapshot,
): Promise<readonly NestedPendingCall[]> {
  const { tenant, conversationId, parent } = own;
  const root = parent?.root ?? conversationId;
  const found = [...callsOf(own, [])];
  for (const status of ['awaiting_input', 'active'] as const) {
    for (let cursor: string | undefined; ; ) {
      const from = cursor === undefined ? {} : { cursor };
      const page = await reader.list({ tenant, root, status, limit: PAGE, ...from });
      for (const snapshot of page.conversations) {
        const path = pathBelow(conversationId, snapshot);
        if (path !== undefined) found.push(...callsOf(snapshot, path));
      }
      cursor = page.nextCursor;
      if (cursor === undefined) break;
    }
  }
  return found.sort((left, right) => left.openedAt.localeCompare(right.openedAt));
}

/** Undefined where the conversation is not below. */
function pathBelow(
  conversationId: ConversationId,
  { parent }: ConversationSnapshot,
): readonly ChildStep[] | undefined {
  const path = parent?.path ?? [];
  const from = path.findIndex((step) => step.conversationId === conversationId);
  return from < 0 ? undefined : path.slice(from);
}

function callsOf(
  { conversationId, agent, pending }: ConversationSnapshot,
  path: readonly ChildStep[],
): readonly NestedPendingCall[] {
  return pending.map((call) => ({ ...call, conversationId, agent: call.agent ?? agent, path }));
}

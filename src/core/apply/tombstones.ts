/** Leaves tombstones of ended calls: their ids stay taken, and later answers get the verdict that the call has ended. */
import { endingCode, type FinalCallStatus, type ToolResult } from '../../protocol/calls/results.js';
import { MAX_TOMBSTONES } from '../../protocol/limits/limits.js';
import type { CallState } from '../state/calls.js';
import { callKey } from '../state/requests.js';
import type { ConversationState, Tombstone } from '../state/state.js';

export function withTombstones(
  state: ConversationState,
  ended: readonly Tombstone[],
): ConversationState {
  return { ...state, tombstones: [...state.tombstones, ...ended].slice(-MAX_TOMBSTONES) };
}

interface End {
  readonly status: FinalCallStatus;
  readonly result: ToolResult;
  readonly at: string;
  /** The end of the wait, if the call had one; kept for a call that has expired. */
  readonly deadline: string | undefined;
}

export function withTombstone(
  state: ConversationState,
  { plan: { toolCallId, name }, turnId, resolvedBy }: CallState,
  { status, result, at, deadline }: End,
): ConversationState {
  const by = result.actor?.id ?? resolvedBy;
  const tombstone: Tombstone = {
    key: callKey(toolCallId),
    ...{ name, turnId, status, at },
    ...(by === undefined ? {} : { by }),
    ...(status === 'expired' && deadline !== undefined ? { deadline } : {}),
    ...endingCode(result),
  };
  return withTombstones(state, [tombstone]);
}

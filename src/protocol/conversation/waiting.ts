/** The result of a turn that waits for input from outside, from the snapshot of its conversation. Runs anywhere. */
import type { TurnId } from '../values/ids.js';
import type { ConversationSnapshot, TurnResult } from './conversation.js';

/**
 * The `waiting` result of a turn when only people, clients or other backends can continue it: because of its own calls,
 * or those of the turn that it is queued behind.
 */
export function waitingResult(
  snapshot: ConversationSnapshot,
  turnId: TurnId,
): Extract<TurnResult, { status: 'waiting' }> | undefined {
  const { turn, queued, status, inFlightTools, pending } = snapshot;
  const concerned = turn?.turnId === turnId || queued.includes(turnId);
  const waits =
    concerned &&
    status === 'awaiting_input' &&
    inFlightTools.every(({ detached }) => detached === true);
  return waits ? { status: 'waiting', turnId, pending, seq: snapshot.seq } : undefined;
}

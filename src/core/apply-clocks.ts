/** Folds the events of clocks: a deadline was moved, its coming was announced. See `apply.ts` for the invariants. */
import type { Extended, SuspensionExpiring } from '../protocol/events.js';
import { remember, type Stamped, withCall } from './fold.js';
import { withMovedEnd } from './holding.js';
import type { ConversationState } from './state.js';

export function extended(state: ConversationState, event: Stamped<Extended>): ConversationState {
  const { toolCallId, deadline, previousDeadline, requestId, seq } = event;
  const next = withCall(state, toolCallId, (call) =>
    call.suspension === undefined
      ? call
      : { ...call, suspension: withMovedEnd(call.suspension, event) },
  );
  const reply = { verdict: 'accepted' as const, toolCallId, deadline, seq };
  return remember(next, { requestId, operation: 'extend', previousDeadline, reply });
}

export function expiring(state: ConversationState, event: SuspensionExpiring): ConversationState {
  return withCall(state, event.toolCallId, (call) => ({ ...call, warned: event.deadline }));
}

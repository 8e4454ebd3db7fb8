/** Waits for a time: rows of the table of effects. Pure. */
import type { EventBody } from '../../protocol/log/events.js';
import type { TimerEffect } from '../decide/effects.js';
import { expiryEvents } from '../events/resolutions.js';
import { inboxTurnEvent } from '../events/turns.js';
import { type ConversationState, callOf, isStopping } from '../state/state.js';
import type { TimerRow } from './row.js';

export const TIMERS: { readonly [Type in TimerEffect['type']]: TimerRow<Type> } = {
  await_deadline: {
    key: ({ toolCallId, kind, deadline }) => `deadline:${toolCallId}:${kind}:${deadline}`,
    fired: ({ state }, { toolCallId, deadline }) => overdueEvents(state, toolCallId, deadline),
  },
  // Ends the wait of a call that no client has claimed.
  await_claim: {
    key: ({ toolCallId, kind, deadline }) => `claim:${toolCallId}:${kind}:${deadline}`,
    fired: ({ state }, { toolCallId, deadline }) => {
      const call = callOf(state, toolCallId);
      return call?.suspension !== undefined && call.suspension.claimBy === deadline
        ? expiryEvents(call)
        : [];
    },
  },
  // Announces the end of a wait; none is announced twice for the same end.
  await_warning: {
    key: ({ toolCallId, kind, ends }) => `warning:${toolCallId}:${kind}:${ends}`,
    fired: ({ state, nowMs }, { toolCallId, ends }) => {
      const call = callOf(state, toolCallId);
      if (call?.suspension === undefined) return [];
      const { turnId, warned } = call;
      const { kind, deadline } = call.suspension;
      if (deadline !== ends || warned === deadline) return [];
      // No worker ran when the warning was due, and the deadline has passed since.
      if (nowMs >= Date.parse(deadline)) return overdueEvents(state, toolCallId, deadline);
      return [{ type: 'suspension_expiring', turnId, toolCallId, kind, deadline }];
    },
  },
  await_inbox_turn: {
    key: ({ deadline }) => `inbox:${deadline}`,
    fired: ({ state, turnToken }, { deadline }) =>
      state.turn === undefined && !state.closed && state.inboxPausedUntil === deadline
        ? inboxTurnEvent(state, turnToken)
        : [],
  },
  await_turn_limit: {
    key: ({ turnId, deadline }) => `limit:${turnId}:${deadline}`,
    fired: ({ state: { turn } }, { turnId }) =>
      turn?.turnId !== turnId || isStopping(turn)
        ? []
        : [{ type: 'turn_limit_reached', turnId, limit: 'time_budget' }],
  },
};

/** The end of a wait at its deadline. Empty when the call waits no longer, or until another time. */
export function overdueEvents(
  state: ConversationState,
  callId: string,
  deadline?: string,
): readonly EventBody[] {
  const call = callOf(state, callId);
  if (call?.suspension === undefined) return [];
  const isDue = deadline === undefined || call.suspension.deadline === deadline;
  return isDue ? expiryEvents(call) : [];
}

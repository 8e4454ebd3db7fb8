/** Events that several outcomes have in common. Pure. */

import type { ToolResult } from '../../protocol/calls/results.js';
import { RESULT_EVENT_PREFIX } from '../../protocol/conversation/inbox.js';
import type { EventBody, InboxEvent, TurnEnded } from '../../protocol/log/events.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import { SYSTEM_ACTOR } from '../../protocol/values/actors.js';
import { withNotice } from '../calls/results.js';
import type { CallState } from '../state/calls.js';
import type { TurnState } from '../state/state.js';

/** The only result of a call; for a detached or late call it is an inbox event. */
export function resultEvent(call: CallState, result: ToolResult): EventBody {
  if (call.background !== undefined) return backgroundResultEvent(call, result);
  const { turnId, plan } = call;
  const { toolCallId, name } = plan;
  return { type: 'tool_result', turnId, toolCallId, name, result: withNotice(plan, result) };
}

/** The end of the turn in progress. */
export function turnEndedEvent(
  turn: TurnState,
  end: Pick<TurnEnded, 'status' | 'reason' | 'error'>,
): TurnEnded {
  return {
    type: 'turn_ended',
    turnId: turn.turnId,
    ...end,
    text: turn.lastText,
    ...(turn.output === undefined || end.status !== 'completed' || end.reason !== undefined
      ? {}
      : { output: turn.output }),
    steps: turn.step,
    usage: turn.usage,
  };
}

/**
 * The outcome of a detached or late call as an inbox event. The id is derived from the call, so that the outcome is
 * recorded only once.
 */
function backgroundResultEvent(call: CallState, result: ToolResult): InboxEvent {
  const { plan, turnId, requestedBy, background } = call;
  const { toolCallId, name, mode } = plan;
  const suffix = background === 'late' && mode === 'detach' ? ':late' : '';
  const actor: StampedActor = result.actor ?? SYSTEM_ACTOR;
  return {
    type: 'inbox_event',
    eventId: `${RESULT_EVENT_PREFIX}${toolCallId}${suffix}`,
    kind: 'tool_result',
    toolCallId,
    name,
    originTurnId: turnId,
    result,
    actor,
    ...(requestedBy === undefined ? {} : { requester: requestedBy.requester }),
  };
}

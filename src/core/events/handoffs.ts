/** Events of a call that passes the conversation on to another agent. Pure. */
import type { ToolResult } from '../../protocol/calls/results.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import type { EventBody } from '../../protocol/log/events.js';
import { errorResult } from '../calls/results.js';
import type { CallState } from '../state/calls.js';
import type { ConversationState } from '../state/state.js';
import { resultEvent } from './results.js';

/** The agent changes before the result, which the other agent may be the first to read. One step has one change. */
export function handoffEvents(
  state: ConversationState,
  call: CallState,
  result: ToolResult,
): readonly EventBody[] {
  const { turn, agent: previous } = state;
  const { handoff, toolCallId } = call.plan;
  if (handoff === undefined || !result.envelope.ok) return [resultEvent(call, result)];
  if (turn !== undefined && turn.handedOverIn === turn.step) {
    const message = TEXTS.handedOver(previous);
    return [resultEvent(call, errorResult('errored', { code: 'not_available', message }))];
  }
  const { agent } = handoff;
  const about = { turnId: turn?.turnId ?? call.turnId, toolCallId };
  return [{ type: 'agent_changed', ...about, agent, previous }, resultEvent(call, result)];
}

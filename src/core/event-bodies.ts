/** Events that several outcomes end in. Pure. */
import type { StampedActor } from '../protocol/actors.js';
import type { EventBody, TurnEnded } from '../protocol/events.js';
import { TEXTS } from '../protocol/texts.js';
import type { PlannedCall, ToolErrorCode, ToolResult } from '../protocol/tools.js';
import { asideResultEvent } from './aside.js';
import type { CallState, TurnState } from './state.js';

/** The one result of a call; beside the step it is new input. */
export function resultEvent(call: CallState, result: ToolResult): EventBody {
  if (call.aside !== undefined) return asideResultEvent(call, result);
  const { turnId, plan } = call;
  const { toolCallId, name } = plan;
  return { type: 'tool_result', turnId, toolCallId, name, result: withNotice(plan, result) };
}

/** The warning stands beside the result: what the tool has said is not touched. */
function withNotice({ name, repeats }: PlannedCall, result: ToolResult): ToolResult {
  if (repeats === undefined) return result;
  return {
    ...result,
    envelope: { ...result.envelope, notice: TEXTS.repeatWarning(name, repeats) },
  };
}

/** What a run of ours came to. */
export function ranResult(
  plan: PlannedCall,
  { envelope, executionMs }: Pick<ToolResult, 'envelope' | 'executionMs'>,
): ToolResult {
  const status = envelope.ok ? 'resolved' : 'errored';
  const provenance = plan.provenance ?? 'trusted';
  const time = executionMs === undefined ? {} : { executionMs };
  return { status, envelope, provenance, ...time };
}

/** A result that is an error, by the engine's own word. */
export function errorResult(
  status: Exclude<ToolResult['status'], 'resolved'>,
  error: { code: ToolErrorCode; message: string },
  actor?: StampedActor,
): ToolResult {
  return {
    status,
    envelope: { ok: false, error },
    provenance: 'trusted',
    ...(actor === undefined ? {} : { actor }),
  };
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

/** The calls that the model made, read from a log. Pure. */

import type { ToolResult, ToolResultEnvelope } from '../protocol/calls/results.js';
import type { CanonicalEvent } from '../protocol/log/events.js';
import type { StampedActor } from '../protocol/values/actors.js';
import type { Json } from '../protocol/values/json.js';

/** One call, in the order in which the model made them. */
export interface SeenCall {
  readonly toolCallId: string;
  readonly name: string;
  /** The input as validated, and as edited by its approver; absent when it was refused. */
  readonly input?: Json;
  /** `open` until the call has its result. A detached call is `detached`, and then has its final status. */
  readonly status: 'open' | ToolResult['status'];
  /** The result that the model read, or, for a detached or late call, its final result. */
  readonly result?: ToolResultEnvelope;
  /** The actor who answered or decided last. */
  readonly actor?: StampedActor;
}

export function seenCalls(events: readonly CanonicalEvent[]): readonly SeenCall[] {
  const calls = new Map<string, SeenCall>();
  const change = (toolCallId: string, more: Partial<SeenCall>): void => {
    const call = calls.get(toolCallId);
    if (call !== undefined) calls.set(toolCallId, { ...call, ...more });
  };
  for (const event of events) {
    if (event.type === 'tool_call') {
      const { toolCallId, name, input } = event.call;
      const known = input === undefined ? {} : { input };
      calls.set(toolCallId, { toolCallId, name, ...known, status: 'open' });
    } else if (event.type === 'call_planned') {
      const { toolCallId, input } = event.call;
      if (input !== undefined) change(toolCallId, { input });
    } else if (event.type === 'input_edited') change(event.toolCallId, { input: event.input });
    else if (event.type === 'resolution') change(event.toolCallId, { actor: event.actor });
    else if (event.type === 'tool_result') change(event.toolCallId, endOf(event.result));
    else if (event.type === 'inbox_event' && event.toolCallId !== undefined)
      change(event.toolCallId, event.result === undefined ? {} : endOf(event.result));
  }
  return [...calls.values()];
}

function endOf({ status, envelope, actor }: ToolResult): Partial<SeenCall> {
  return { status, result: envelope, ...(actor === undefined ? {} : { actor }) };
}

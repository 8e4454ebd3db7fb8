/**
 * The calls of one step in the form for front ends, as a fold over the events of their turn: so the step can be read
 * from the log while it waits and at any later time. Pure.
 */
import type { ClientCallWait, StepContinuation, StepToolCall } from '../calls/batches.js';
import type { PlannedCall } from '../calls/plan.js';
import type { ToolResult } from '../calls/results.js';
import type { SuspensionKind } from '../calls/suspensions.js';
import { type StepId, stepIdFor } from '../values/ids.js';
import type { Json } from '../values/json.js';
import type { CanonicalEvent } from './events.js';

interface SeenCall {
  readonly plan: PlannedCall;
  readonly prepared?: Json;
  /** Kind of the open suspension. */
  readonly kind?: SuspensionKind;
  /** The call was answered; only the check by a worker may revert that. */
  readonly answered?: true;
  readonly result?: ToolResult;
}

/** Undefined when the events do not contain the step. */
export function stepContinuation(
  /** Events of the turn, in order. */
  events: readonly CanonicalEvent[],
  step: {
    readonly conversationId: string;
    readonly stepId: StepId;
    /** False: the turn has ended, so no call waits, even where the log leaves one open. */
    readonly turnRuns: boolean;
  },
): StepContinuation | undefined {
  const { conversationId, stepId, turnRuns } = step;
  const calls = new Map<string, SeenCall>();
  const texts = new Map<string, string>();
  let turnId: string | undefined;
  for (const event of events) {
    if (event.type === 'assistant_message')
      for (const part of event.parts)
        if (part.type === 'tool_call') texts.set(part.toolCallId, part.argumentsJson);
    if (event.type === 'tool_call' && stepIdFor(event.turnId, event.step) === stepId) {
      ({ turnId } = event);
      calls.set(event.call.toolCallId, { plan: event.call });
    } else foldCall(calls, event);
  }
  if (turnId === undefined) return undefined;
  const toolCalls = [...calls.values()].map((call) => shown(call, texts, turnRuns));
  const waits = toolCalls.flatMap(({ waitsFor }) => waitsFor ?? []);
  return {
    conversationId,
    turnId,
    stepId,
    seq: events.at(-1)?.seq ?? 0,
    ready: waits.length > 0 && waits.every((wait) => wait === 'client'),
    toolCalls,
  };
}

function foldCall(calls: Map<string, SeenCall>, event: CanonicalEvent): void {
  const call = callOf(calls, event);
  if (call !== undefined) calls.set(call.plan.toolCallId, changed(call, event));
}

function callOf(calls: ReadonlyMap<string, SeenCall>, event: CanonicalEvent): SeenCall | undefined {
  if (event.type === 'suspension') return calls.get(event.suspension.toolCallId);
  if (event.type === 'call_planned') return calls.get(event.call.toolCallId);
  return 'toolCallId' in event ? calls.get(event.toolCallId) : undefined;
}

function changed(call: SeenCall, event: CanonicalEvent): SeenCall {
  switch (event.type) {
    case 'call_planned':
      return { ...call, plan: event.call };
    case 'call_prepared':
      return { ...call, prepared: event.payload };
    case 'input_edited':
      return { ...call, plan: { ...call.plan, input: event.input } };
    case 'suspension':
      return { ...call, kind: event.suspension.kind };
    case 'resolution': {
      const { kind: _closed, ...rest } = call;
      return event.kind === 'approval' ? rest : { ...rest, answered: true };
    }
    case 'resolution_reverted': {
      const { answered: _taken, ...rest } = call;
      return rest;
    }
    case 'tool_result':
      return { ...call, result: event.result };
    default:
      return call;
  }
}

function shown(
  call: SeenCall,
  texts: ReadonlyMap<string, string>,
  turnRuns: boolean,
): StepToolCall {
  const { plan, prepared } = call;
  const { toolCallId, name, input } = plan;
  const waitsFor = turnRuns ? waitOf(call) : undefined;
  return {
    toolCallId,
    name,
    argumentsJson: input === undefined ? (texts.get(toolCallId) ?? '') : JSON.stringify(input),
    isServerTool: true,
    wasExecuted: wasExecuted(call),
    requiresClientExecution: waitsFor !== undefined,
    ...(prepared === undefined ? {} : { preparedPayload: prepared }),
    ...(waitsFor === undefined ? {} : { waitsFor }),
    ...resultOf(call),
  };
}

function resultOf({ result }: SeenCall): Partial<StepToolCall> {
  if (result === undefined) return {};
  const { status, envelope } = result;
  return envelope.ok
    ? { status, resultJson: JSON.stringify(envelope.result) }
    : { status, errorMessage: envelope.error.message };
}

/** Folds from events the value that `clientWait` reads from the state. */
function waitOf({ plan, prepared, kind, answered, result }: SeenCall): ClientCallWait | undefined {
  if (plan.executor !== 'client' || plan.error !== undefined || plan.unplanned !== undefined)
    return undefined;
  if (answered === true || result !== undefined) return undefined;
  if (kind === 'client_execution') return 'client';
  return prepared === undefined && plan.preflight === true ? 'preflight' : 'approval';
}

/**
 * Whether the server has done its part. For a client call that is the preflight or, without one, the check of its
 * input.
 */
function wasExecuted({ plan, prepared, result }: SeenCall): boolean {
  if (plan.error !== undefined || plan.unplanned !== undefined) return false;
  if (plan.executor === 'client') return prepared !== undefined || plan.preflight !== true;
  return result?.envelope.ok === true;
}

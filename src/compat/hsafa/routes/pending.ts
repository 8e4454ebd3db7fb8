/**
 * `PendingToolCall`: the records of calls that are answered from outside, as views of the event log and of the calls
 * that wait. Pure; runs anywhere.
 */
import type { PlannedCall } from '../../../protocol/calls/plan.js';
import type { ToolResult } from '../../../protocol/calls/results.js';
import type { PendingCall } from '../../../protocol/calls/suspensions.js';
import type { CanonicalEvent } from '../../../protocol/log/events.js';
import { idProblem } from '../../../protocol/values/ids.js';
import type { Json } from '../../../protocol/values/json.js';

/**
 * | status | the call |
 * |---|---|
 * | `waiting` | is waited for by its agent: a result is returned inline |
 * | `pending` | is async, or timed out: a result goes to the agent's inbox |
 * | `resolved` | has its result, or ended without one: denied, cancelled, failed |
 */
export type PendingStatus = 'waiting' | 'pending' | 'resolved';

export interface PendingToolCall {
  /** Unique within its conversation. */
  readonly toolCallId: string;
  /** The conversation: one agent with its own inbox. */
  readonly agentEntityId: string;
  /** The cycle that made the call: see `runIdOf`. */
  readonly runId: string;
  readonly toolName: string;
  readonly args: Json;
  readonly status: PendingStatus;
  /** The result alone, or `{error: message}`. Absent until the call is resolved. */
  readonly result?: Json;
  /** ISO 8601: the end of the wait. Absent once it has passed, and for calls that are resolved. */
  readonly expiresAt?: string;
}

/** A run is a turn of a conversation: `<conversation>:<turn>`. Neither id can have the colon. */
export function runIdOf(conversationId: string, turnId: string): string {
  return `${conversationId}:${turnId}`;
}

/** The inverse of `runIdOf`; undefined for any other text. Never throws. */
export function parseRunId(
  runId: string,
): { readonly conversationId: string; readonly turnId: string } | undefined {
  const [conversationId = '', turnId = '', ...rest] = runId.split(':');
  const faults = [idProblem('conversation', conversationId), idProblem('turn', turnId)];
  return rest.length > 0 || faults.some((fault) => fault !== undefined)
    ? undefined
    : { conversationId, turnId };
}

/**
 * The record of a call of a snapshot, list or webhook. Undefined for an approval: such a call has not been sent out.
 */
export function pendingToolCallOf(
  call: Pick<
    PendingCall,
    'deadline' | 'detached' | 'kind' | 'name' | 'prompt' | 'toolCallId' | 'turnId'
  >,
  conversationId: string,
): PendingToolCall | undefined {
  if (!isSentOut(call.kind)) return undefined;
  return {
    toolCallId: call.toolCallId,
    agentEntityId: conversationId,
    runId: runIdOf(conversationId, call.turnId),
    toolName: call.name,
    args: call.prompt,
    status: call.detached === true ? 'pending' : 'waiting',
    expiresAt: call.deadline,
  };
}

/**
 * The records of all calls in a conversation's events, in the order in which they were made. The events are in order,
 * and may begin anywhere: a call whose beginning is not among them has no record.
 */
export function pendingToolCalls(
  conversationId: string,
  events: readonly CanonicalEvent[],
): readonly PendingToolCall[] {
  const plans = new Map<string, PlannedCall>();
  const records = new Map<string, PendingToolCall>();
  const change = (id: string, to: (record: PendingToolCall) => PendingToolCall): void => {
    const record = records.get(id);
    if (record !== undefined) records.set(id, to(record));
  };
  for (const event of events) {
    switch (event.type) {
      case 'tool_call':
      case 'call_planned':
        plans.set(event.call.toolCallId, event.call);
        break;
      case 'suspension': {
        const { suspension } = event;
        const plan = plans.get(suspension.toolCallId);
        const detached = suspension.detached === true || plan?.mode === 'detach';
        const record = pendingToolCallOf(
          { ...suspension, ...(detached ? { detached: true } : {}) },
          conversationId,
        );
        if (record !== undefined && plan !== undefined) records.set(record.toolCallId, record);
        break;
      }
      case 'extended':
        change(event.toolCallId, (record) =>
          record.expiresAt === undefined ? record : { ...record, expiresAt: event.deadline },
        );
        break;
      case 'tool_result':
      case 'inbox_event': {
        const { toolCallId, result } = event;
        if (toolCallId !== undefined && result !== undefined)
          change(toolCallId, (record) => ended(record, result, plans.get(toolCallId)));
        break;
      }
      default:
    }
  }
  return [...records.values()];
}

function isSentOut(kind: PendingCall['kind']): boolean {
  return kind === 'elicitation' || kind === 'client_execution' || kind === 'external_execution';
}

function ended(
  { expiresAt, ...record }: PendingToolCall,
  result: ToolResult,
  plan: PlannedCall | undefined,
): PendingToolCall {
  if (result.status === 'detached')
    return { ...record, status: 'pending', ...(expiresAt === undefined ? {} : { expiresAt }) };
  // The agent has its error, and one later result is still taken.
  if (result.status === 'expired' && plan?.lateResult === 'inbox')
    return { ...record, status: 'pending' };
  const { envelope } = result;
  const value = envelope.ok ? envelope.result : { error: envelope.error.message };
  return { ...record, status: 'resolved', result: value };
}

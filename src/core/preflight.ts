/**
 * Client calls whose request is shaped on the server first: preflight, then the gate, then the client. What the tool shaped
 * is the prompt of every wait that follows, under a digest of its own: what was approved is what the client executes. Pure.
 */
import type { PreflightToolResult } from '../protocol/activities.js';
import type { CallPrepared, EventBody } from '../protocol/events.js';
import type { FieldProblem } from '../protocol/resolutions.js';
import { changedEvent } from './definitions/changes.js';
import type { Effect } from './effects.js';
import { errorResult, resultEvent } from './event-bodies.js';
import { type Stamped, withCall } from './fold.js';
import type { CallState, ConversationState } from './state.js';

/** True until the payload is there. */
export function needsPreflight(call: Pick<CallState, 'plan' | 'prepared'>): boolean {
  const { plan, prepared } = call;
  return plan.preflight === true && plan.error === undefined && prepared === undefined;
}

export function decidePreflight(call: CallState): readonly Effect[] {
  return [{ type: 'preflight_tool', toolCallId: call.plan.toolCallId }];
}

/** The payload is there, or the call cannot be offered to anybody. */
export function preflightEvents(
  call: CallState,
  outcome: PreflightToolResult,
): readonly EventBody[] {
  if (!outcome.ok && 'changed' in outcome) return changedEvent(call, outcome.changed.definition);
  if (!outcome.ok) return [resultEvent(call, errorResult('errored', outcome.error))];
  const { turnId, plan } = call;
  const { payload, argsDigest } = outcome;
  const { toolCallId } = plan;
  return [{ type: 'call_prepared', turnId, toolCallId, payload, argsDigest }];
}

export function callPrepared(
  state: ConversationState,
  event: Stamped<CallPrepared>,
): ConversationState {
  const { payload, argsDigest, toolCallId } = event;
  return withCall(state, toolCallId, (call) => ({ ...call, prepared: { payload, argsDigest } }));
}

/** The payload was made from the input, so an edit of either would part what is approved from what is executed. */
export function preparedEditProblems(
  call: CallState,
  resolution: { readonly type: string; readonly input?: unknown },
): readonly FieldProblem[] {
  return resolution.type === 'approve' && resolution.input !== undefined && call.plan.preflight
    ? [{ path: '/resolution/input', message: 'cannot be edited: the tool has shaped the request' }]
    : [];
}

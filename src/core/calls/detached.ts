/** Calls that run on while the model continues, and the results that arrive late. Pure. */
import type { PlannedCall } from '../../protocol/calls/plan.js';
import type { ToolResult } from '../../protocol/calls/results.js';
import type { SuspensionKind } from '../../protocol/calls/suspensions.js';
import {
  MAX_DETACHED_CALLS,
  MAX_LATE_BYTES,
  MAX_LATE_CALLS,
} from '../../protocol/limits/limits.js';
import type { CallState, EndedCall, LateCall } from '../state/calls.js';
import type { ConversationState, TurnState } from '../state/state.js';
import { isSince } from '../state/state.js';
import { bytesOf, noCapacityResult } from './capacity.js';
import { errorResult } from './results.js';

type Calls = ConversationState['calls'];

export function backgroundCalls(state: ConversationState): readonly CallState[] {
  return Object.values(state.calls).filter((call) => call.background !== undefined);
}

export function detachedCalls(state: ConversationState): readonly CallState[] {
  return backgroundCalls(state).filter((call) => call.background === 'detached');
}

/**
 * The calls that outlive their step and their turn: detached ones, late ones whose answer is being checked, and the
 * `MAX_LATE_CALLS` that expired last; of these, since revision 2, the newest within `MAX_LATE_BYTES`, one at least.
 */
export function keptInBackground(state: ConversationState): Calls {
  const kept = Object.entries(state.calls).filter(([, call]) => call.background !== undefined);
  const late = kept.map(([, call]) => call).filter(isOpenLate);
  const newest = late.sort((left, right) => right.since - left.since).slice(0, MAX_LATE_CALLS);
  let bytes = isSince(state, 2) ? 0 : -Infinity;
  const beyond = newest.findIndex((call, index) => {
    bytes += bytesOf(call);
    return bytes > MAX_LATE_BYTES && index > 0;
  });
  const oldest = newest.at(beyond === -1 ? -1 : beyond - 1)?.since ?? 0;
  return Object.fromEntries(kept.filter(([, call]) => !isOpenLate(call) || call.since >= oldest));
}

/** Whether the call has expired, and no late answer was accepted yet. */
export function isOpenLate(call: CallState): call is LateCall & { readonly answer?: never } {
  return call.background === 'late' && call.answer === undefined;
}

/** Requesters of the turn, for calls that may outlive it. */
export function requestedByOf(
  plan: PlannedCall,
  turn: TurnState | undefined,
): Pick<CallState, 'requestedBy'> {
  const outlives = plan.mode === 'detach' || plan.lateResult === 'inbox';
  if (!outlives || turn === undefined) return {};
  const { requester, joined } = turn;
  return { requestedBy: { requester, ...(joined === undefined ? {} : { joined }) } };
}

/**
 * Whether a result is accepted after the end of the wait. An approval never is: the call that it would run has ended.
 */
export function takesLate(call: CallState, kind: SuspensionKind): boolean {
  // Answers to questions of a tool's code are not accepted late either: the tool would continue in a conversation that
  // has moved on.
  if (kind === 'approval' || call.ask !== undefined) return false;
  return call.plan.lateResult === 'inbox';
}

/** An expired call that may still be answered, without the fields that it no longer needs. */
export function lateCall(call: EndedCall): EndedCall | LateCall {
  const { closedWait, plan, status } = call;
  if (closedWait === undefined || status !== 'expired') return call;
  const { input: _input, raw: _raw, ...rest } = plan;
  const kept = { ...closedWait, prompt: null };
  return { ...call, plan: rest, status, background: 'late', closedWait: kept };
}

/** The immediate result of a detached call, or the error when the capacity for detached calls is used up. */
export function detachResult(state: ConversationState, call: CallState): ToolResult {
  const { toolCallId } = call.plan;
  const noCapacity = noCapacityResult(state, call);
  if (noCapacity !== undefined) return noCapacity;
  if (detachedCalls(state).length >= MAX_DETACHED_CALLS)
    return errorResult('errored', {
      code: 'too_many_calls',
      message: `${MAX_DETACHED_CALLS} detached calls are open already`,
    });
  const result = { status: 'pending', pendingToolCallId: toolCallId };
  return { status: 'detached', envelope: { ok: true, result }, provenance: 'trusted' };
}

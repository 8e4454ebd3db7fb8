/** Calls that run on while the model goes on, and the results that they bring late. Pure. */
import type { PlannedCall } from '../../protocol/calls/plan.js';
import type { ToolResult } from '../../protocol/calls/results.js';
import type { SuspensionKind } from '../../protocol/calls/suspensions.js';
import { MAX_DETACHED_CALLS, MAX_LATE_CALLS } from '../../protocol/limits/limits.js';
import type { CallState, ConversationState, TurnState } from '../state/state.js';
import { noRoomResult } from './capacity.js';

type Calls = ConversationState['calls'];

export function asideCalls(state: ConversationState): readonly CallState[] {
  return Object.values(state.calls).filter((call) => call.aside !== undefined);
}

export function detachedCalls(state: ConversationState): readonly CallState[] {
  return asideCalls(state).filter((call) => call.aside === 'detached');
}

/** What outlives its step and its turn: of the expired calls those that expired last, and those whose answer is being checked. */
export function keptAside(state: ConversationState): Calls {
  const kept = Object.entries(state.calls).filter(([, call]) => call.aside !== undefined);
  const isDue = ({ aside, answer }: CallState): boolean => aside === 'late' && answer === undefined;
  const late = kept.filter(([, call]) => isDue(call)).map(([, call]) => call.since);
  const oldest = late.sort((left, right) => right - left)[MAX_LATE_CALLS - 1] ?? 0;
  return Object.fromEntries(kept.filter(([, call]) => !isDue(call) || call.since >= oldest));
}

/** Who asked, for calls that may outlive their turn. */
export function askerOf(plan: PlannedCall, turn: TurnState | undefined): Pick<CallState, 'asker'> {
  const outlives = plan.mode === 'detach' || plan.lateResult === 'inbox';
  if (!outlives || turn === undefined) return {};
  const { requester, joined } = turn;
  return { asker: { requester, ...(joined === undefined ? {} : { joined }) } };
}

/** Whether a result is still taken after the wait's end. An approval never is: what it would run is over. */
export function takesLate(call: CallState, kind: SuspensionKind): boolean {
  // Nor is the answer to a question of a tool's code: it would run on in a talk that has gone on without it.
  if (kind === 'approval' || call.ask !== undefined) return false;
  return call.plan.lateResult === 'inbox';
}

/** An expired call that may still be answered; what it no longer needs is left behind. */
export function lateCall(call: CallState): CallState {
  const { closedWait, plan } = call;
  if (closedWait === undefined || call.status !== 'expired') return call;
  const { input: _input, raw: _raw, ...rest } = plan;
  return { ...call, plan: rest, aside: 'late', closedWait: { ...closedWait, prompt: null } };
}

/** The immediate result of a detached call, or why there is no room for another. */
export function detachResult(state: ConversationState, plan: PlannedCall): ToolResult {
  const { toolCallId } = plan;
  const noRoom = noRoomResult(state, state.calls[toolCallId] ?? { plan });
  if (noRoom !== undefined) return noRoom;
  if (detachedCalls(state).length >= MAX_DETACHED_CALLS)
    return {
      status: 'errored',
      envelope: {
        ok: false,
        error: {
          code: 'too_many_calls',
          message: `${MAX_DETACHED_CALLS} detached calls are open already`,
        },
      },
      provenance: 'trusted',
    };
  const result = { status: 'pending', pendingToolCallId: toolCallId };
  return { status: 'detached', envelope: { ok: true, result }, provenance: 'trusted' };
}

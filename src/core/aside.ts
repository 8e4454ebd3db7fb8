/**
 * Calls beside the step: the model has their one result, and what comes of them is new input. A `detached` call is open: its
 * result is `pending`. A `late` call has expired, and the first valid result is still taken. Pure.
 */
import type { StampedActor } from '../protocol/actors.js';
import { SYSTEM_ACTOR } from '../protocol/actors.js';
import type { InboxEvent } from '../protocol/events.js';
import { RESULT_EVENT_PREFIX } from '../protocol/inbox.js';
import { MAX_DETACHED_CALLS, MAX_LATE_CALLS, MAX_TOMBSTONES } from '../protocol/limits.js';
import type { SuspensionKind } from '../protocol/suspensions.js';
import type { PlannedCall, ToolResult } from '../protocol/tools.js';
import { endingCode } from './definitions/changes.js';
import { type Stamped, withCall } from './fold.js';
import { endOfWait } from './holding.js';
import type { CallState, ConversationState, Tombstone, TurnState } from './state.js';
import { noRoomResult } from './waiting-room.js';

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

/** The model goes on with `pending`; the call does not end. */
export function detached(
  state: ConversationState,
  call: CallState,
  ack: ToolResult,
): ConversationState {
  // One that was awaited until now keeps its wait, and is from here on as if it had been detached from the start.
  const plan: PlannedCall = { ...call.plan, mode: 'detach' };
  const { suspension } = call;
  return withCall(state, plan.toolCallId, (entry) => ({
    ...entry,
    ...(entry.asker === undefined ? askerOf(plan, state.turn) : {}),
    ...(suspension === undefined ? {} : { suspension: { ...suspension, detached: true } }),
    plan,
    aside: 'detached',
    status: 'detached',
    ack,
  }));
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

/** What became of a call beside the step, as new input. Its id makes it one event for ever. */
export function asideResultEvent(call: CallState, result: ToolResult): InboxEvent {
  const { plan, turnId, asker, aside } = call;
  const { toolCallId, name, mode } = plan;
  const suffix = aside === 'late' && mode === 'detach' ? ':late' : '';
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
    ...(asker === undefined ? {} : { requester: asker.requester }),
  };
}

/** The call is over, or has expired and may still be answered once. */
export function asideEnded(
  state: ConversationState,
  event: Stamped<InboxEvent>,
): ConversationState {
  const { toolCallId = '', result, at } = event;
  const call = Object.hasOwn(state.calls, toolCallId) ? state.calls[toolCallId] : undefined;
  if (call === undefined || result === undefined || result.status === 'detached') return state;
  const by = result.actor?.id ?? call.resolvedBy;
  const deadline = call.closedWait === undefined ? undefined : endOfWait(call.closedWait);
  const tombstone: Tombstone = {
    toolCallId,
    name: call.plan.name,
    turnId: call.turnId,
    status: result.status,
    at,
    ...(by === undefined ? {} : { by }),
    ...(result.status === 'expired' && deadline !== undefined ? { deadline } : {}),
    ...endingCode(result),
  };
  const tombstones = [...state.tombstones, tombstone].slice(-MAX_TOMBSTONES);
  const { aside, suspension: _closed, answer: _taken, ...rest } = call;
  const ended: CallState = { ...rest, status: result.status, result: call.result ?? result };
  const left = aside === 'detached' ? lateCall(ended) : ended;
  const { [toolCallId]: _gone, ...others } = state.calls;
  const stays = left.aside !== undefined || state.turn?.callIds.includes(toolCallId) === true;
  return { ...state, tombstones, calls: stays ? { ...state.calls, [toolCallId]: left } : others };
}

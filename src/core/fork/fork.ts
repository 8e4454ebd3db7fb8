/**
 * Forks: a conversation that begins with the state which another one had at a finished step or turn. Pure.
 *
 * F1  A fork answers and runs no call of its origin. A call that is open at the cut gets the error `not_carried`, in
 *     the model's order; only a call that is named, and has not begun, waits anew.
 * F2  The model of the fork reads the messages of the origin, and no other: a turn that is cut off ends.
 * F3  Nothing happens in a fork before its first input.
 */
import type { ToolResult } from '../../protocol/calls/results.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import type { ForkOrigin, NotReopenedReason } from '../../protocol/forks/forks.js';
import type {
  CanonicalEvent,
  ConversationStarted,
  EventBody,
  TurnEnded,
} from '../../protocol/log/events.js';
import { SYSTEM_ACTOR } from '../../protocol/values/actors.js';
import { apply } from '../apply/apply.js';
import { detachedCalls } from '../calls/detached.js';
import { errorResult } from '../calls/results.js';
import { resultEvent, turnEndedEvent } from '../events/results.js';
import { tombstoneOf } from '../memory/memory.js';
import type { CallState } from '../state/calls.js';
import { type ConversationState, callOf, isStopping, stepCalls } from '../state/state.js';
import { NO_USAGE } from '../state/usage.js';

/** Why a call cannot wait anew in a fork from this state; undefined where it can. */
export function notReopened(
  state: ConversationState,
  toolCallId: string,
): NotReopenedReason | undefined {
  const call = callOf(state, toolCallId);
  if (call === undefined) return tombstoneOf(state, toolCallId) === undefined ? 'unknown' : 'ended';
  if (call.result !== undefined) return 'ended';
  if (call.plan.effects === 'once') return 'effects_once';
  if (call.lost !== undefined || call.status === 'outcome_unknown') return 'outcome_unknown';
  if (call.plan.subAgent !== undefined) return 'sub_agent';
  if (call.suspension === undefined) return 'running';
  if (call.ask !== undefined || call.runsEnded !== undefined) return 'has_run';
  const { turn } = state;
  return call.background === undefined && turn !== undefined && isStopping(turn)
    ? 'turn_stops'
    : undefined;
}

/** The end of everything that a fork does not take over from this state; they are events of the fork alone. */
export function leftToOrigin(
  state: ConversationState,
  reopened: readonly string[],
): readonly EventBody[] {
  const { turn, queue } = state;
  const isOver = turn !== undefined && !openInStep(state).some(isOneOf(reopened));
  return [
    ...callsLeft(state, reopened).map((call) => resultEvent(call, notCarried())),
    ...(isOver ? [turnEndedEvent(turn, { status: 'cancelled', reason: 'forked' })] : []),
    ...queue.map(({ turnId }) => neverBegun(turnId)),
  ];
}

/** The open calls that are not to wait anew: those of the step in the model's order, then the detached ones. */
export function callsLeft(
  state: ConversationState,
  reopened: readonly string[],
): readonly CallState[] {
  const isReopened = isOneOf(reopened);
  return [...openInStep(state), ...detachedCalls(state)].filter((call) => !isReopened(call));
}

function openInStep(state: ConversationState): readonly CallState[] {
  return stepCalls(state).filter(
    ({ background, result }) => background === undefined && result === undefined,
  );
}

function isOneOf(callIds: readonly string[]): (call: CallState) => boolean {
  return ({ plan }) => callIds.includes(plan.toolCallId);
}

function notCarried(): ToolResult {
  const error = { code: 'not_carried', message: TEXTS.notCarried } as const;
  return errorResult('cancelled', error, SYSTEM_ACTOR);
}

function neverBegun(turnId: string): TurnEnded {
  return {
    ...{ type: 'turn_ended', turnId, status: 'cancelled', reason: 'forked' },
    ...{ text: '', steps: 0, usage: NO_USAGE },
  };
}

export interface Fork {
  readonly state: ConversationState;
  /** The ends of what is left to the origin. */
  readonly ends: readonly CanonicalEvent[];
  readonly started: CanonicalEvent;
}

/** Begins a fork with the state at the cut; `started` has the place. */
export function forkOf(
  cut: ConversationState,
  started: ConversationStarted & { readonly origin: ForkOrigin },
  at: string,
): Fork {
  let state = cut;
  const ends = leftToOrigin(cut, started.origin.reopenedCalls ?? []).map((body): CanonicalEvent => {
    const event: CanonicalEvent = { ...body, seq: state.lastSeq + 1, at };
    state = apply(state, event);
    return event;
  });
  const event: CanonicalEvent = { ...started, seq: state.lastSeq + 1, at };
  return { state: apply(state, event), ends, started: event };
}

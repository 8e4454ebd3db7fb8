/** How turns and conversations are stopped from outside. Pure; the machine commits what these functions return. */
import type { StampedActor } from '../protocol/actors.js';
import { SYSTEM_ACTOR } from '../protocol/actors.js';
import type { CancelRequested, EventBody, TurnEnded } from '../protocol/events.js';
import { TEXTS } from '../protocol/texts.js';
import type { ToolResult } from '../protocol/tools.js';
import { detachedCalls } from './aside.js';
import { errorResult, resultEvent, turnEndedEvent } from './event-bodies.js';
import type { ConversationState } from './state.js';
import { isFinal, stepCalls } from './state.js';
import { NO_USAGE } from './view.js';

/**
 * A turn is stopped. Calls that are open get their one result at once; a model call in flight is aborted first, so that
 * what it has said is kept.
 */
export function cancelEvents(
  state: ConversationState,
  by: Omit<CancelRequested, 'type'>,
): readonly EventBody[] {
  const requested: EventBody = { type: 'cancel_requested', ...by };
  const { turn } = state;
  if (turn?.turnId !== by.turnId) return [requested, queuedTurnCancelled(by.turnId)];
  if (turn.phase === 'model') return [requested];
  return [
    requested,
    ...cancelledResults(state, by.actor),
    turnEndedEvent(turn, { status: 'cancelled', reason: 'cancelled' }),
  ];
}

/** One result for each call that is still open. */
export function cancelledResults(
  state: ConversationState,
  actor: StampedActor,
): readonly EventBody[] {
  return stepCalls(state)
    .filter((call) => call.aside === undefined && !isFinal(call.status))
    .map((call) => resultEvent(call, cancelledResult(actor)));
}

function cancelledResult(actor: StampedActor): ToolResult {
  return errorResult('cancelled', { code: 'cancelled', message: TEXTS.cancelled }, actor);
}

function queuedTurnCancelled(turnId: string): TurnEnded {
  return {
    type: 'turn_ended',
    turnId,
    status: 'cancelled',
    reason: 'cancelled',
    text: '',
    steps: 0,
    usage: NO_USAGE,
  };
}

/** The conversation closes: every turn and every call that is open ends first, so nobody waits for ever. */
export function closeEvents(
  state: ConversationState,
  by: {
    readonly reason: 'requested' | 'idle' | 'workflow_cancelled';
    readonly actor: StampedActor;
  },
): readonly EventBody[] {
  const { turn, queue } = state;
  const reason = by.reason === 'workflow_cancelled' ? 'workflow_cancelled' : 'cancelled';
  return [
    ...cancelledResults(state, by.actor),
    ...detachedCalls(state).map((call) => resultEvent(call, cancelledResult(by.actor))),
    ...(turn === undefined ? [] : [turnEndedEvent(turn, { status: 'cancelled', reason })]),
    ...queue.map((entry) => queuedTurnCancelled(entry.turnId)),
    { type: 'conversation_closed', ...by },
  ];
}

/**
 * What a run that was ended from outside left open is ended before its conversation is opened again, so that nobody waits
 * for it for ever. Nothing, when the run had closed by itself.
 */
export function leftOpenEvents(state: ConversationState): readonly EventBody[] {
  return closeEvents(state, { reason: 'workflow_cancelled', actor: SYSTEM_ACTOR }).filter(
    (event) => event.type !== 'conversation_closed',
  );
}

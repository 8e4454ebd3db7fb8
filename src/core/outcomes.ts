/**
 * From outcomes to events: what is written into the log when a decision is carried out or something outside has happened.
 * Pure functions of (state, outcome, time); the machine commits what they return.
 */
import type { RunToolResult } from '../protocol/activities.js';
import { SYSTEM_ACTOR } from '../protocol/actors.js';
import type { ToolChanged } from '../protocol/definitions/changes.js';
import type { EventBody } from '../protocol/events.js';
import { isRecord } from '../protocol/json.js';
import { FOREIGN_QUEUE_TIMEOUT_MS } from '../protocol/limits.js';
import { TEXTS } from '../protocol/texts.js';
import type { PlannedCall } from '../protocol/tools.js';
import { detachResult } from './aside.js';
import { answerRefusedEvents, askedEvents, runOf, toolAsked } from './asks.js';
import { changedEvent, isToolChanged } from './definitions/changes.js';
import type { InternalEffect } from './effects.js';
import { cancelledResults } from './endings.js';
import { errorResult, ranResult, resultEvent, turnEndedEvent } from './event-bodies.js';
import { suspensionEvent } from './open-suspension.js';
import { isHeld, lossTold, lostEvent } from './server-calls.js';
import type { CallState, ConversationState } from './state.js';
import { isoOf } from './state.js';
import { limitEvents, toolFailedEvent, withinBounds } from './turn-limits.js';
import { ruledEvents } from './wait-ends.js';
import { noRoomResult } from './waiting-room.js';

/** Carries out a decision that needs nobody outside. */
export function internalEvents(
  state: ConversationState,
  effect: InternalEffect,
  nowMs: number,
): readonly EventBody[] {
  switch (effect.type) {
    case 'start_turn': {
      const message = state.queue.find((entry) => entry.turnId === effect.turnId);
      return message === undefined
        ? []
        : [{ type: 'turn_started', turnId: effect.turnId, messageId: message.messageId }];
    }
    case 'start_inbox_turn':
      // The machine does it: a turn's id takes a token.
      return [];
    case 'open_suspension': {
      const call = state.calls[effect.toolCallId];
      if (call === undefined) return [];
      const event = suspensionEvent(call, effect.kind, nowMs);
      const noRoom = noRoomResult(state, call, event.suspension);
      return [noRoom === undefined ? event : resultEvent(call, noRoom)];
    }
    case 'apply_rule': {
      const call = state.calls[effect.toolCallId];
      return call === undefined ? [] : ruledEvents(call, effect.rule);
    }
    case 'record_result': {
      const call = state.calls[effect.toolCallId];
      if (call === undefined) return [];
      // Judged again: calls of the same step may have taken the room meanwhile.
      const { result } = effect;
      const now = result.status === 'detached' ? detachResult(state, call.plan) : result;
      return [resultEvent(call, now)];
    }
    case 'set_aside': {
      const call = state.calls[effect.toolCallId];
      return call === undefined ? [] : [resultEvent(call, detachResult(state, call.plan))];
    }
    case 'stop_at_limit':
      return state.turn === undefined
        ? []
        : [
            ...cancelledResults(state, SYSTEM_ACTOR),
            ...limitEvents(state, state.turn, effect.limit),
          ];
    case 'fail_turn':
      return state.turn === undefined
        ? []
        : [...cancelledResults(state, SYSTEM_ACTOR), toolFailedEvent(state.turn)];
    case 'end_turn':
      return state.turn === undefined ? [] : [turnEndedEvent(state.turn, { status: 'completed' })];
  }
}

/** A tool run is over. */
export function toolFinishedEvents(
  state: ConversationState,
  call: CallState,
  outcome: RunToolResult,
): readonly EventBody[] {
  if (!isToolEnd(outcome)) {
    const error = { code: 'tool_error' as const, message: TEXTS.faultyEnd(call.plan.name) };
    return [resultEvent(call, errorResult('errored', error))];
  }
  if (isToolChanged(outcome)) return toolChangedEvents(call, outcome);
  if ('ask' in outcome) return withRoom(state, call, askedEvents(call, outcome.ask));
  if ('refused' in outcome) return answerRefusedEvents(call, outcome);
  const loss = lossTold(call, outcome);
  if (loss !== undefined) return toolLostEvents(call, loss);
  return [resultEvent(call, ranResult(call.plan, outcome))];
}

/** Nothing has run. What a plan does not pin cannot have changed, and a later run is never refused by it: its worker was wrong. */
function toolChangedEvents(call: CallState, { changed }: ToolChanged): readonly EventBody[] {
  const events = runOf(call) > 1 ? [] : changedEvent(call, changed.definition);
  if (events.length > 0) return events;
  const error = { code: 'tool_error' as const, message: TEXTS.faultyEnd(call.plan.name) };
  return [resultEvent(call, errorResult('errored', error))];
}

/** A question that finds no room is not even written down: until its step ends, a call holds what it has asked. */
function withRoom(
  state: ConversationState,
  call: CallState,
  events: readonly EventBody[],
): readonly EventBody[] {
  const [event] = events;
  if (event?.type !== 'tool_asked') return events;
  // What is shown is as large at any time.
  const then = { seq: 0, at: isoOf(0) };
  const asked = toolAsked(state, { ...event, ...then }).calls[event.toolCallId] ?? call;
  const { suspension } = suspensionEvent(asked, 'elicitation', 0);
  const noRoom = noRoomResult(state, asked, suspension);
  return noRoom === undefined ? events : [resultEvent(call, noRoom)];
}

/** Workers in any language end calls, and what they say stands in the history: a wrong form must not fail the task for ever. */
function isToolEnd(outcome: unknown): boolean {
  if (!isRecord(outcome)) return false;
  const { envelope } = outcome;
  if ('ask' in outcome || 'refused' in outcome || isToolChanged(outcome)) return true;
  if (!isRecord(envelope)) return false;
  const { ok, result, error } = envelope;
  if (ok === true) return result !== undefined;
  return (
    isRecord(error) && typeof error['code'] === 'string' && typeof error['message'] === 'string'
  );
}

/** How the run of a tool was lost. */
export interface Loss {
  readonly timedOut: boolean;
  /** No worker ever took it: it certainly had no effect. */
  readonly neverStarted?: boolean;
  readonly message: string;
  /** Of the failure table, where the failure has one. */
  readonly code?: string;
}

/** The run of a tool was lost (worker death, time-out): infrastructure failed, not the tool. */
export function toolLostEvents(call: CallState, loss: Loss): readonly EventBody[] {
  const { plan } = call;
  // The run of a held call goes on with what is under way: nobody knows what became of that, and it is not made again.
  const isHeldOpen = call.ask?.question.heldAt !== undefined;
  if (loss.neverStarted === true && !isHeldOpen) {
    const message = TEXTS.notTaken(plan.name, FOREIGN_QUEUE_TIMEOUT_MS);
    return [resultEvent(call, errorResult('errored', { code: 'not_available', message }))];
  }
  if (isHeld(plan)) return [lostEvent(call, loss)];
  if (plan.effects === 'once' || isHeldOpen)
    return [
      resultEvent(
        call,
        errorResult('errored', {
          code: 'outcome_unknown',
          message: TEXTS.outcomeUnknown(plan.name),
        }),
      ),
    ];
  if (loss.code === 'unknown_agent') {
    const message = TEXTS.agentNotServed(plan.name, loss.message);
    return [resultEvent(call, errorResult('errored', { code: 'not_available', message }))];
  }
  const error = loss.timedOut
    ? { code: 'timeout' as const, message: TEXTS.timeout(plan.timeouts.runMs) }
    : { code: 'tool_crashed' as const, message: TEXTS.toolCrashed(loss.message) };
  return [resultEvent(call, errorResult('errored', error))];
}

/** The turn of a call has come, and a worker has validated and gated it. Bounds are looked at now. */
export function plannedEvents(
  state: ConversationState,
  call: CallState,
  plan: PlannedCall,
): readonly EventBody[] {
  const { turn } = state;
  if (turn === undefined || call.plan.unplanned === undefined) return [];
  const { toolCallId } = call.plan;
  const { unplanned: _due, ...planned } = { ...plan, toolCallId };
  return withinBounds(state, turn, [planned]).map((bounded) => ({
    type: 'call_planned' as const,
    turnId: call.turnId,
    step: call.step,
    call: bounded,
  }));
}

export function notPlannedEvents(call: CallState, { message }: Loss): readonly EventBody[] {
  if (call.plan.unplanned === undefined) return [];
  const error = { code: 'tool_crashed' as const, message: TEXTS.toolCrashed(message) };
  return [resultEvent(call, errorResult('errored', error))];
}

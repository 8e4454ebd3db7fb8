/** Events of internal effects, which need no activity. Pure. */
import type { EventBody } from '../../protocol/log/events.js';
import { SYSTEM_ACTOR } from '../../protocol/values/actors.js';
import { noCapacityResult } from '../calls/capacity.js';
import { detachResult } from '../calls/detached.js';
import type { InternalEffect } from '../decide/effects.js';
import type { ConversationState } from '../state/state.js';
import { ruledEvents } from './resolutions.js';
import { resultEvent, turnEndedEvent } from './results.js';
import { suspensionEvent } from './suspension.js';
import { cancelledResults, limitEvents, toolFailedEvent } from './turns.js';

/** Carries out an internal decision: returns the events that record it. */
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
      // The machine makes these events: a turn's id needs a token.
      return [];
    case 'open_suspension': {
      const call = state.calls[effect.toolCallId];
      if (call === undefined) return [];
      const event = suspensionEvent(call, effect.kind, nowMs);
      const noCapacity = noCapacityResult(state, call, event.suspension);
      return [noCapacity === undefined ? event : resultEvent(call, noCapacity)];
    }
    case 'apply_rule': {
      const call = state.calls[effect.toolCallId];
      return call === undefined ? [] : ruledEvents(call, effect.rule);
    }
    case 'record_result': {
      const call = state.calls[effect.toolCallId];
      if (call === undefined) return [];
      // Judged again: calls of the same step may have used the capacity in the meantime.
      const { result } = effect;
      const now = result.status === 'detached' ? detachResult(state, call) : result;
      return [resultEvent(call, now)];
    }
    case 'move_to_background': {
      const call = state.calls[effect.toolCallId];
      return call === undefined ? [] : [resultEvent(call, detachResult(state, call))];
    }
    case 'stop_at_limit':
      return state.turn === undefined
        ? []
        : [
            ...cancelledResults(state, SYSTEM_ACTOR),
            ...limitEvents(state, state.turn, effect.limit),
          ];
    case 'fail_turn':
      return state.turn?.failure === undefined
        ? []
        : [
            ...cancelledResults(state, SYSTEM_ACTOR),
            toolFailedEvent(state.turn, state.turn.failure),
          ];
    case 'end_turn':
      return state.turn === undefined ? [] : [turnEndedEvent(state.turn, { status: 'completed' })];
  }
}

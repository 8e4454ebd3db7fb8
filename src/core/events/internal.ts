/** Events of internal effects, which need no activity. Pure. */
import type { EventBody } from '../../protocol/log/events.js';
import { SYSTEM_ACTOR } from '../../protocol/values/actors.js';
import { noCapacityResult } from '../calls/capacity.js';
import { detachResult } from '../calls/detached.js';
import type { Effect, InternalEffect } from '../decide/effects.js';
import { patchEvents } from '../plugins/states.js';
import type { ConversationState } from '../state/state.js';
import { childBegunEvents } from './children.js';
import { handoffEvents } from './handoffs.js';
import { ruledEvents } from './resolutions.js';
import { resultEvent, turnEndedEvent } from './results.js';
import { suspensionEvent } from './suspension.js';
import {
  cancelledResults,
  closeEvents,
  inboxTurnEvent,
  limitEvents,
  toolFailedEvent,
} from './turns.js';

/** The time, and the token of the next turn's id (`MachineOptions.turnToken`). */
interface Given {
  readonly nowMs: number;
  readonly turnToken?: (() => string) | undefined;
}

type InternalType = InternalEffect['type'];
type InternalOf<Type extends InternalType> = InternalEffect & { readonly type: Type };

type EventsOf<Type extends InternalType> = (
  state: ConversationState,
  effect: InternalOf<Type>,
  given: Given,
) => readonly EventBody[];

const EVENTS: { readonly [Type in InternalType]: EventsOf<Type> } = {
  start_turn: (state, { turnId }) => {
    const message = state.queue.find((entry) => entry.turnId === turnId);
    return message === undefined
      ? []
      : [{ type: 'turn_started', turnId, messageId: message.messageId }];
  },
  start_inbox_turn: (state, _, { turnToken }) => inboxTurnEvent(state, turnToken),
  pause_inbox: ({ settings }, { until }) => {
    const rate = settings.inbox?.rate;
    return rate === undefined ? [] : [{ type: 'inbox_paused', until, rate }];
  },
  open_suspension: (state, { toolCallId, kind }, { nowMs }) => {
    const call = state.calls[toolCallId];
    if (call === undefined) return [];
    const event = suspensionEvent(call, kind, nowMs);
    const noCapacity = noCapacityResult(state, call, event.suspension);
    if (noCapacity !== undefined) return [resultEvent(call, noCapacity)];
    const isChild = kind === 'external_execution' && call.plan.subAgent !== undefined;
    return isChild ? childBegunEvents(state, call, nowMs) : [event];
  },
  apply_rule: (state, { toolCallId, rule }) => {
    const call = state.calls[toolCallId];
    return call === undefined ? [] : ruledEvents(call, rule);
  },
  record_result: (state, { toolCallId, result }) => {
    const call = state.calls[toolCallId];
    if (call === undefined) return [];
    // Judged again: calls of the same step may have used the capacity in the meantime.
    const now = result.status === 'detached' ? detachResult(state, call) : result;
    return call.plan.handoff === undefined
      ? [resultEvent(call, now)]
      : handoffEvents(state, call, now);
  },
  move_to_background: (state, { toolCallId }) => {
    const call = state.calls[toolCallId];
    return call === undefined ? [] : [resultEvent(call, detachResult(state, call))];
  },
  apply_patches: ({ plugins, duePatches = [] }) => patchEvents(plugins, duePatches),
  stop_at_limit: (state, { limit }) =>
    state.turn === undefined
      ? []
      : [...cancelledResults(state, SYSTEM_ACTOR), ...limitEvents(state, state.turn, limit)],
  fail_turn: (state) =>
    state.turn?.failure === undefined
      ? []
      : [...cancelledResults(state, SYSTEM_ACTOR), toolFailedEvent(state.turn, state.turn.failure)],
  end_turn: ({ turn }) =>
    turn === undefined ? [] : [turnEndedEvent(turn, { status: 'completed' })],
  close_child: (state) => closeEvents(state, { reason: 'child_done', actor: SYSTEM_ACTOR }),
};

export function isInternal(effect: Effect): effect is InternalEffect {
  return Object.hasOwn(EVENTS, effect.type);
}

/** Carries out an internal decision: returns the events that record it. */
export function internalEvents<Type extends InternalType>(
  state: ConversationState,
  effect: InternalOf<Type>,
  given: Given,
): readonly EventBody[] {
  const { type } = effect;
  return EVENTS[type](state, effect, given);
}

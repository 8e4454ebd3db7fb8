/** Handles a fired timer. Safe to repeat, and when the subject of the timer has ended. */
import type { TimerEffect } from '../decide/effects.js';
import { expiryEvents } from '../events/resolutions.js';
import { callOf } from '../state/state.js';
import type { ConversationMachine } from './machine.js';

export function timerFired(machine: ConversationMachine, timer: TimerEffect): void {
  switch (timer.type) {
    case 'await_deadline':
      machine.deadlinePassed(timer.toolCallId, timer.deadline);
      return;
    case 'await_claim':
      claimTimedOut(machine, timer);
      return;
    case 'await_turn_limit':
      machine.turnTimePassed(timer.turnId);
      return;
    case 'await_warning':
      warningDue(machine, timer);
  }
}

type Timer<Type extends TimerEffect['type']> = Extract<TimerEffect, { type: Type }>;

/** Ends the wait of a call that no client has claimed. */
function claimTimedOut(
  machine: ConversationMachine,
  { toolCallId, deadline }: Timer<'await_claim'>,
): void {
  const call = callOf(machine.state, toolCallId);
  if (call?.suspension !== undefined && call.suspension.claimBy === deadline)
    machine.record(expiryEvents(call));
}

/** Announces the end of a wait; none is announced twice for the same end. */
function warningDue(
  machine: ConversationMachine,
  { toolCallId, ends }: Timer<'await_warning'>,
): void {
  const call = callOf(machine.state, toolCallId);
  if (call?.suspension === undefined) return;
  const { turnId, warned } = call;
  const { kind, deadline } = call.suspension;
  if (deadline !== ends || warned === deadline) return;
  // No worker ran when the warning was due, and the deadline has passed since.
  if (machine.nowMs >= Date.parse(deadline)) {
    machine.deadlinePassed(toolCallId, deadline);
    return;
  }
  machine.record([{ type: 'suspension_expiring', turnId, toolCallId, kind, deadline }]);
}

/** Handles a fired timer. Safe to repeat, and when the subject of the timer has ended. */

import type { TimerEffect } from '../decide/effects.js';
import { claimTimedOut } from './claims.js';
import { warningDue } from './extensions.js';
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

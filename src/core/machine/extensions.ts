/** Lets the machine move deadlines, and announce them before they pass. Pure. */
import type { ExtendVerdict } from '../../protocol/calls/extensions.js';
import type { EventBody } from '../../protocol/log/events.js';
import { claimDeadlineAfter } from '../calls/claim.js';
import type { ExtendRefusal } from '../judge/extensions.js';
import { judgeExtension } from '../judge/extensions.js';
import type { ConversationMachine } from './machine.js';

/** Records an extension, or returns the refusal. Synchronous and total. */
export function extendToolCall(machine: ConversationMachine, input: unknown): ExtendVerdict {
  const judged = judgeExtension(machine.state, input, machine.nowMs);
  if (judged.verdict !== 'acceptable') return judged;
  const { call, end, requestId, actor } = judged;
  const { toolCallId } = call.plan;
  const event: EventBody = {
    type: 'extended',
    turnId: call.turnId,
    toolCallId,
    ...end,
    ...claimDeadlineAfter(call, end.deadline),
    previousDeadline: call.suspension?.deadline ?? end.deadline,
    requestId,
    actor,
  };
  const seq = machine.record([event]);
  return { verdict: 'accepted', toolCallId, deadline: end.deadline, seq };
}

/** Why an extension cannot be accepted now, or undefined. */
export function refuseExtension(
  machine: ConversationMachine,
  input: unknown,
): ExtendRefusal | undefined {
  const judged = judgeExtension(machine.state, input, machine.nowMs);
  return judged.verdict === 'acceptable' ? undefined : judged;
}

/**
 * Handles the fired timer of a warning. Safe to repeat, and when the call has been resolved or its deadline moved in
 * the meantime.
 */
export function warningDue(
  machine: ConversationMachine,
  warning: { readonly toolCallId: string; readonly ends: string },
): void {
  const { calls } = machine.state;
  const call = Object.hasOwn(calls, warning.toolCallId) ? calls[warning.toolCallId] : undefined;
  const { suspension, turnId, warned } = call ?? {};
  if (suspension === undefined || turnId === undefined) return;
  const { toolCallId, kind, deadline } = suspension;
  if (deadline !== warning.ends || warned === deadline) return;
  // No worker ran when the warning was due, and the deadline has passed since.
  if (machine.nowMs >= Date.parse(deadline)) {
    machine.deadlinePassed(toolCallId, deadline);
    return;
  }
  machine.record([{ type: 'suspension_expiring', turnId, toolCallId, kind, deadline }]);
}

/** Lets the machine accept claims of calls, lost leases, and the end of claim timeouts. Pure. */
import type { ClaimVerdict, LeaseLostReply } from '../../protocol/calls/claims.js';
import { claimedReply } from '../apply/waits.js';
import { expiryEvents } from '../events/resolutions.js';
import type { ClaimRefusal, LeaseLossRefusal } from '../judge/claims.js';
import { callOf, judgeClaim, lossOf } from '../judge/claims.js';
import { isoOf } from '../state/time.js';
import type { ConversationMachine } from './machine.js';

/** Records a claim or its renewal, or returns the refusal. Synchronous and total. */
export function claimToolCall(machine: ConversationMachine, input: unknown): ClaimVerdict {
  const judged = judgeClaim(machine.state, input, machine.nowMs);
  if (judged.verdict !== 'acceptable') return judged;
  const { nowMs } = machine;
  const seq = machine.record([judged.event]);
  return claimedReply({ ...judged.event, at: isoOf(nowMs), seq });
}

/** Why a claim cannot be accepted now, or undefined. */
export function refuseClaim(
  machine: ConversationMachine,
  input: unknown,
): ClaimRefusal | undefined {
  const judged = judgeClaim(machine.state, input, machine.nowMs);
  return judged.verdict === 'acceptable' ? undefined : judged;
}

/** Why the loss cannot be recorded, or undefined. Safe to repeat: a loss that is recorded already is refused. */
export function refuseLeaseLoss(
  machine: ConversationMachine,
  input: unknown,
): LeaseLossRefusal | undefined {
  const loss = lossOf(machine.state, input);
  return 'verdict' in loss ? loss : undefined;
}

export function leaseLost(
  machine: ConversationMachine,
  input: unknown,
): LeaseLostReply | LeaseLossRefusal {
  const loss = lossOf(machine.state, input);
  return 'verdict' in loss ? loss : { lost: true, seq: machine.record([loss]) };
}

/**
 * Handles the fired timer of a claim timeout. Safe to repeat, and when the call was claimed or has ended in the
 * meantime.
 */
export function claimTimedOut(
  machine: ConversationMachine,
  grace: { readonly toolCallId: string; readonly deadline: string },
): void {
  const call = callOf(machine.state, grace.toolCallId);
  if (call?.suspension?.claimBy !== grace.deadline) return;
  machine.record(expiryEvents(call));
}

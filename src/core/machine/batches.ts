/** Lets the machine accept several resolutions as one request. Pure. */
import type { BatchVerdict } from '../../protocol/calls/batches.js';
import type { AcceptedVerdict } from '../../protocol/calls/resolutions.js';
import { isUnchecked } from '../decide/decide.js';
import { resolutionEvents } from '../events/resolutions.js';
import type { BatchRefusal } from '../judge/batches.js';
import { acceptedBatch, judgeBatch } from '../judge/batches.js';
import type { ConversationMachine } from './machine.js';

/** Why a batch cannot be accepted now, or undefined. */
export function refuseBatch(
  machine: ConversationMachine,
  input: unknown,
): BatchRefusal | undefined {
  const judged = judgeBatch(machine.state, input, machine.nowMs);
  return judged.verdict === 'acceptable' ? undefined : judged;
}

/**
 * Records a batch, or returns the refusal. Synchronous and total: all results are recorded before any decision that
 * follows from one of them.
 */
export function resolveBatch(machine: ConversationMachine, input: unknown): BatchVerdict {
  const judged = judgeBatch(machine.state, input, machine.nowMs);
  if (judged.verdict !== 'acceptable') return judged;
  const { stepId, results } = judged;
  const replies: AcceptedVerdict[] = [];
  let { lastSeq } = machine.state;
  const bodies = results.flatMap((result) => {
    const { verdict: _ok, call, suspension, ...accepted } = result;
    const { kind } = suspension;
    const events = resolutionEvents(machine.state, call, { kind, ...accepted });
    const { toolCallId } = call.plan;
    const unchecked = isUnchecked(call, accepted.resolution) ? { checked: false as const } : {};
    replies.push({ verdict: 'accepted', toolCallId, seq: lastSeq + 1, ...unchecked });
    lastSeq += events.length;
    return events;
  });
  machine.record(bodies);
  return acceptedBatch(stepId, replies);
}

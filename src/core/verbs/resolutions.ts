/** Records accepted resolutions: single ones, and the results of a step as one batch. Pure. */
import type { AcceptedBatch } from '../../protocol/calls/batches.js';
import type { AcceptedVerdict } from '../../protocol/calls/resolutions.js';
import type { EventBody } from '../../protocol/log/events.js';
import { isUnchecked } from '../decide/decide.js';
import { resolutionEvents } from '../events/resolutions.js';
import { type AcceptableBatch, acceptedBatch } from '../judge/batches.js';
import type { AcceptableResolution } from '../judge/resolutions.js';
import type { CallState } from '../state/calls.js';
import type { ConversationState } from '../state/state.js';
import { callOf } from '../state/state.js';
import type { Recorded } from './verb.js';

export function recordResolution(
  state: ConversationState,
  accepted: AcceptableResolution,
): Recorded<AcceptedVerdict> {
  const { events, reply } = recordOf(state, accepted);
  return { events, reply: (_, seq) => reply(seq) };
}

/** All results are recorded before any decision that follows from one of them. */
export function recordBatch(
  state: ConversationState,
  { stepId, results }: AcceptableBatch,
): Recorded<AcceptedBatch> {
  const records = results.map((result) => recordOf(state, result));
  return {
    events: records.flatMap(({ events }) => events),
    reply: (_, first) => {
      let seq = first;
      const replies = records.map(({ events, reply }) => {
        const verdict = reply(seq);
        seq += events.length;
        return verdict;
      });
      return acceptedBatch(stepId, replies);
    },
  };
}

interface CallRecord {
  readonly events: readonly EventBody[];
  readonly reply: (seq: number) => AcceptedVerdict;
}

function recordOf(
  state: ConversationState,
  { call: judged, suspension, ...accepted }: AcceptableResolution,
): CallRecord {
  const { toolCallId } = judged.plan;
  // A late result is recorded after the end of its wait, which has changed the call.
  const call: CallState = callOf(state, toolCallId) ?? judged;
  const { kind } = suspension;
  const unchecked = isUnchecked(call, accepted.resolution) ? { checked: false as const } : {};
  const verdict = accepted.late === true ? 'accepted_late' : 'accepted';
  return {
    events: resolutionEvents(state, call, { kind, ...accepted }),
    reply: (seq) => ({ verdict, toolCallId, seq, ...unchecked }),
  };
}

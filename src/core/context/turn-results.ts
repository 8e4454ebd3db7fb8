/** The earlier results of a turn that policies of its later calls may read. Pure. */

import type { EarlierResult } from '../../protocol/calls/results.js';
import { earlierResult, resultsIn } from '../../protocol/conversation/messages.js';
import { MAX_EARLIER_RESULTS } from '../../protocol/limits/limits.js';
import type { ConversationState } from '../state/state.js';
import { stepCalls } from '../state/state.js';
import { isOffloaded } from '../state/transcript.js';

/** The results that a turn has now: of its earlier steps, then of the ended calls of its present step. */
export function turnResults(state: ConversationState, turnId: string): readonly EarlierResult[] {
  const before = state.transcript.flatMap((item) => {
    if (item.turnId !== turnId) return [];
    return isOffloaded(item) ? (item.results ?? []) : resultsIn(item);
  });
  const inStep = stepCalls(state).flatMap(({ plan, result, ack, turnId: own }) => {
    const given = ack ?? result;
    if (given === undefined || own !== turnId) return [];
    const { toolCallId, name } = plan;
    const { envelope, provenance } = given;
    return [earlierResult({ toolCallId, name, envelope, provenance })];
  });
  return [...before, ...inStep].slice(-MAX_EARLIER_RESULTS);
}

/** The same as a field of an activity's input; empty where there are none. */
export function earlierResultsOf(
  state: ConversationState,
  turnId: string,
): { readonly results?: readonly EarlierResult[] } {
  const results = turnResults(state, turnId);
  return results.length === 0 ? {} : { results };
}

/** Results of reads that came with the answer which asked for them: each is taken where the call still wants it. Pure. */
import type { CallModelResult, InlineRead } from '../../protocol/activities.js';
import type { EventBody } from '../../protocol/events.js';
import { isRecord } from '../../protocol/json.js';
import { toolFinishedEvents } from '../outcomes.js';
import type { ConversationState } from '../state.js';
import { mayHaveReads, wantedReads } from './due.js';

/**
 * The results that came with an answer, in call order, those that ran under another id than their call has now left out.
 * `recorded`: the events of the answer.
 */
export function offeredReads(
  outcome: CallModelResult,
  recorded: readonly EventBody[],
): readonly InlineRead[] {
  if (!mayHaveReads(outcome)) return [];
  const asked = recorded.flatMap((event) =>
    event.type === 'tool_call' && event.executed !== true ? [event.call.toolCallId] : [],
  );
  return outcome.calls.flatMap(({ read }, index) =>
    read !== undefined && read.toolCallId === asked[index] ? [read] : [],
  );
}

/** None where the call does not want its first run now: then the result is dropped, and what is due is done as ever. */
export function readEvents(state: ConversationState, read: InlineRead): readonly EventBody[] {
  const { toolCallId, ended } = read;
  const call = wantedReads(state).find(({ plan }) => plan.toolCallId === toolCallId);
  // Questions and refused answers are left to an activity.
  if (call === undefined || !isRecord(ended) || !('envelope' in ended)) return [];
  return toolFinishedEvents(state, call, ended);
}

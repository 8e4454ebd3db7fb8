/** Events of summaries. Pure. */
import type { EventBody } from '../../protocol/log/events.js';
import type { SummarizeResult } from '../../protocol/workflow/activities.js';
import { nextSummary, summarizable } from '../context/summaries.js';
import { headLength } from '../context/turn-spans.js';
import type { ConversationState } from '../state/state.js';
import { countMessages } from '../state/transcript.js';

/** Empty when the summary covers messages that are no longer there or not old enough: it was made for another state. */
export function summarizedEvents(
  state: ConversationState,
  ordinal: number,
  made: SummarizeResult,
): readonly EventBody[] {
  const { transcript } = state;
  const { throughMessageId, text, tokensBefore, tokensAfter, version, model, usage } = made;
  const { failedAttempts } = made;
  const end = transcript.findIndex(({ id }) => id === throughMessageId) + 1;
  const throughTurnId = transcript[end - 1]?.turnId;
  const isWhole = throughTurnId !== transcript[end]?.turnId;
  if (throughTurnId === undefined || !isWhole || ordinal !== nextSummary(state)) return [];
  if (end <= headLength(transcript) || end > summarizable(state)) return [];
  const messages = countMessages(transcript.slice(0, end));
  const covers = { throughTurnId, throughMessageId, messages, text, tokensBefore, tokensAfter };
  const failed = failedAttempts === undefined ? {} : { failedAttempts };
  return [{ type: 'summary', ordinal, version, ...covers, model, usage, ...failed }];
}

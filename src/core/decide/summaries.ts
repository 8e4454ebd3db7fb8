/** Decides when old turns are summarised. Pure. */
import { nextSummary, turnsKept } from '../context/summaries.js';
import { headLength } from '../context/turn-spans.js';
import type { ConversationState } from '../state/state.js';
import type { ExternalEffect } from './effects.js';

/**
 * Wanted from the model call that has passed its share of the budget until a summary has come of it, whatever the turns do
 * meanwhile. What is due was decided by the worker that put that call's context together, and stands in the log.
 */
export function decideSummary(state: ConversationState): readonly ExternalEffect[] {
  const { settings, context } = state;
  if (settings.summaries !== true || context?.summaryDue !== true) return [];
  const ordinal = nextSummary(state);
  // The last call was not given the newest summary yet: whether there is too much, the next one tells.
  if ((context.summary ?? 0) !== ordinal - 1) return [];
  return hasOldTurn(state) ? [{ type: 'summarize', ordinal }] : [];
}

/** The same as asking whether `summarizable` is above 0, but of the newest turns alone: it is asked at every step. */
function hasOldTurn(state: ConversationState): boolean {
  const { transcript } = state;
  const head = headLength(transcript);
  let left = turnsKept(state);
  let index = transcript.length;
  while (index > head && left > 0) {
    const turnId = transcript[index - 1]?.turnId;
    while (index > head && transcript[index - 1]?.turnId === turnId) index -= 1;
    left -= 1;
  }
  return index > head;
}

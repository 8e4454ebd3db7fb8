/** Decides when old turns are summarised. Pure. */
import { nextSummary, turnsKept } from '../context/summaries.js';
import { headLength } from '../context/turn-spans.js';
import { type ConversationState, isSince } from '../state/state.js';
import type { ExternalEffect } from './effects.js';

/**
 * Wants a summary from the model call on whose worker found one due, until the summary is recorded; turns in between do
 * not change that. A fork makes none before its first message (since revision 3).
 */
export function decideSummary(state: ConversationState): readonly ExternalEffect[] {
  const { settings, context, origin, turnCount } = state;
  if (settings.summaries !== true || context?.summaryDue !== true) return [];
  if (origin !== undefined && turnCount === 0 && isSince(state, 3)) return [];
  const ordinal = nextSummary(state);
  // The last call was made without the newest summary: the next call decides whether the context is still too large.
  if ((context.summary ?? 0) !== ordinal - 1) return [];
  return hasOldTurn(state) ? [{ type: 'summarize', ordinal }] : [];
}

/** As `summarizable` being above 0, by the newest turns alone: this is evaluated at every step. */
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

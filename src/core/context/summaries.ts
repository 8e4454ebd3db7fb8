/** The turns that a summary may cover. Pure. */

import { MAX_TRANSCRIPT_BYTES } from '../../protocol/limits/limits.js';
import type { ConversationState } from '../state/state.js';
import { bytesOf } from './transcript.js';
import { summaryOf, turnSpans } from './turn-spans.js';

/**
 * Number of the newest ended turns that stay whole. Histories depend on it: another number needs a setting of its own.
 */
const WHOLE_TURNS = 2;

/** Ordinal of the next summary of the conversation. */
export function nextSummary({ transcript }: Pick<ConversationState, 'transcript'>): number {
  return (summaryOf(transcript)?.summary ?? 0) + 1;
}

/**
 * Number of items, from the first on, that a summary may cover now: an earlier summary and whole turns, never the
 * newest two, and at most as many as can be sent to a worker at once. 0 when there is nothing to summarise.
 */
export function summarizable(state: ConversationState): number {
  const { transcript } = state;
  const spans = turnSpans(transcript);
  const old = spans.slice(0, Math.max(0, spans.length - turnsKept(state)));
  let bytes = 0;
  let covered = 0;
  for (const { from, to } of old) {
    const first = covered === 0 ? 0 : from;
    bytes += bytesOf(transcript.slice(first, to));
    if (covered > 0 && bytes > MAX_TRANSCRIPT_BYTES) break;
    covered = to;
  }
  return covered;
}

export function turnsKept({ turn, transcript }: ConversationState): number {
  return WHOLE_TURNS + (turn !== undefined && turn.turnId === transcript.at(-1)?.turnId ? 1 : 0);
}

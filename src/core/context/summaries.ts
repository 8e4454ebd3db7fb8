/** When the oldest turns are to be summarised, which ones, and what comes of it. Pure. */
import type { SummarizeResult } from '../../protocol/activities.js';
import type { EventBody } from '../../protocol/events.js';
import { MAX_TRANSCRIPT_BYTES } from '../../protocol/limits.js';
import type { ExternalEffect } from '../effects.js';
import type { ConversationState } from '../state.js';
import { messageBytes } from '../transcript.js';
import { headLength, summaryOf, turnSpans } from './turns.js';

/** The newest turns that have ended stay whole. Histories depend on it: another number needs a setting of its own. */
const WHOLE_TURNS = 2;

/** Which summary of the conversation the next one is. */
export function nextSummary({ transcript }: Pick<ConversationState, 'transcript'>): number {
  return (summaryOf(transcript)?.summary ?? 0) + 1;
}

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

/**
 * How many messages, from the first on, a summary may cover now: an earlier summary and whole turns, never the newest two, and
 * no more than can be sent to a worker at once. 0 when there is nothing to summarise.
 */
export function summarizable(state: ConversationState): number {
  const { transcript } = state;
  const spans = turnSpans(transcript);
  const old = spans.slice(0, Math.max(0, spans.length - turnsKept(state)));
  let bytes = 0;
  let covered = 0;
  for (const { from, to } of old) {
    const first = covered === 0 ? 0 : from;
    for (const message of transcript.slice(first, to)) bytes += messageBytes(message);
    if (covered > 0 && bytes > MAX_TRANSCRIPT_BYTES) break;
    covered = to;
  }
  return covered;
}

function turnsKept({ turn, transcript }: ConversationState): number {
  return WHOLE_TURNS + (turn !== undefined && turn.turnId === transcript.at(-1)?.turnId ? 1 : 0);
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

/** Nothing, when the summary is of messages that are no longer there, or not old: it was made for another state. */
export function summarizedEvents(
  state: ConversationState,
  ordinal: number,
  made: SummarizeResult,
): readonly EventBody[] {
  const { transcript } = state;
  const { throughMessageId, text, tokensBefore, tokensAfter, version, model, usage } = made;
  const { failedAttempts } = made;
  const last = transcript.findIndex(({ id }) => id === throughMessageId);
  const messages = last + 1;
  const throughTurnId = transcript[last]?.turnId;
  const isWhole = throughTurnId !== transcript[messages]?.turnId;
  if (throughTurnId === undefined || !isWhole || ordinal !== nextSummary(state)) return [];
  if (messages <= headLength(transcript) || messages > summarizable(state)) return [];
  const covers = { throughTurnId, throughMessageId, messages, text, tokensBefore, tokensAfter };
  const failed = failedAttempts === undefined ? {} : { failedAttempts };
  return [{ type: 'summary', ordinal, version, ...covers, model, usage, ...failed }];
}

/**
 * Whoever has summaries made waits after one that failed: for 1, 2, 4 and at last 64 further turns. Turns go on meanwhile;
 * where the budget is full they leave the oldest out.
 */
export class SummaryPause {
  #failures = 0;
  #untilTurn = 0;

  isOver({ turnCount }: Pick<ConversationState, 'turnCount'>): boolean {
    return turnCount >= this.#untilTurn;
  }

  failed({ turnCount }: Pick<ConversationState, 'turnCount'>): void {
    this.#untilTurn = turnCount + 2 ** Math.min(this.#failures, 6);
    this.#failures += 1;
  }

  succeeded(): void {
    this.#failures = 0;
  }
}

/** Summaries for machines under test, as a worker might have made them of the oldest turns. */
import { nextSummary, summarizable } from '../../../src/core/context/summaries.js';
import type { ConversationState } from '../../../src/core/state/state.js';
import type { ModelContext } from '../../../src/protocol/conversation/context.js';
import type {
  CallModelResult,
  SummarizeResult,
} from '../../../src/protocol/workflow/activities.js';
import { USAGE } from './core-builders.js';

/** The size of a model call that has passed its share of the budget. */
export function fullContext(over: Partial<ModelContext> = {}): ModelContext {
  return { tokens: 800, budget: 1_000, messages: 9, summaryDue: true, ...over };
}

/** Covers every turn that may be summarised now. */
export function summaryOfAll(state: ConversationState, text = 'They met.'): SummarizeResult {
  const last = state.transcript[summarizable(state) - 1];
  return {
    version: 1,
    throughMessageId: last?.id ?? 'none',
    text,
    tokensBefore: 500,
    tokensAfter: 20,
    model: 'scripted',
    usage: USAGE,
  };
}

/** Often valid; else the end is inside a turn, in a turn that is too recent, or in no turn. */
export function someSummary(state: ConversationState, variant: number): SummarizeResult {
  const made = summaryOfAll(state, `summary ${variant}`);
  if (variant % 3 !== 0) return made;
  const { transcript } = state;
  const some = transcript[variant % (transcript.length + 1)];
  return { ...made, throughMessageId: some?.id ?? 'nobody' };
}

/** The same outcome of a model call that had read the newest summary and was nearly full all the same. */
export function inFullContext(outcome: CallModelResult, state: ConversationState): CallModelResult {
  const summary = nextSummary(state) - 1;
  return { ...outcome, context: fullContext(summary === 0 ? {} : { summary }) };
}

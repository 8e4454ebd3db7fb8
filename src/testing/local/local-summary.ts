/** Summaries of a test conversation: the summary activity, without Temporal. */
import { summarizable } from '../../core/context/summaries.js';
import type { ConversationState } from '../../core/state/state.js';
import { wholeMessages } from '../../core/state/transcript.js';
import type { AnyAgent } from '../../define/define-agent.js';
import { withCost } from '../../model/shared/cost.js';
import { tokenCounting } from '../../model/shared/count-tokens.js';
import { isContextTooLong, isModelFailure } from '../../model/shared/failure.js';
import type { Model } from '../../protocol/model/model.js';
import type { SummarizeResult } from '../../protocol/workflow/activities.js';
import { makeSummary, SUMMARY_VERSION, summarizerOf } from '../../tools/model-input/summarize.js';

/** Makes one attempt. Undefined when it failed; a bug is thrown. `model` plays the agent's own. */
export async function summarizeHere(of: {
  readonly agent: AnyAgent;
  readonly model: Model;
  readonly state: ConversationState;
  readonly signal: AbortSignal;
}): Promise<SummarizeResult | undefined> {
  const { agent, state, signal } = of;
  const summarizer = summarizerOf(agent);
  if (summarizer === undefined) return undefined;
  const model = summarizer.model === agent.model ? of.model : summarizer.model;
  try {
    const made = await makeSummary({
      ...summarizer,
      messages: wholeMessages(state.transcript.slice(0, summarizable(state))),
      counting: tokenCounting,
      ask: (request) => model.generate(request, { signal, onEvent: () => undefined }),
      isTooLong: isContextTooLong,
    });
    if (made === undefined) return undefined;
    const { response, ...summary } = made;
    const usage = withCost(response.usage, model.prices);
    return { ...summary, version: SUMMARY_VERSION, model: response.model, usage };
  } catch (error) {
    if (signal.aborted || isModelFailure(error)) return undefined;
    throw error;
  }
}

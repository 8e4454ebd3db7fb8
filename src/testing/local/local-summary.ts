/** Summaries of a test conversation: the summary activity, without Temporal. */
import type { AnyAgent } from '../../define/define-agent.js';
import { withCost } from '../../model/shared/cost.js';
import { tokenCounting } from '../../model/shared/count-tokens.js';
import { isContextTooLong, isModelFailure } from '../../model/shared/failure.js';
import type { Message } from '../../protocol/conversation/messages.js';
import type { Model } from '../../protocol/model/model.js';
import type { SummarizeResult } from '../../protocol/workflow/activities.js';
import { makeSummary, SUMMARY_VERSION, summarizerOf } from '../../tools/model-input/summarize.js';
import { ModelCallLost } from './local-activities.js';

/**
 * Makes one attempt. `model` plays the agent's own.
 * @throws {ModelCallLost} when no summary was made
 */
export async function summarizeHere(of: {
  readonly agent: AnyAgent;
  readonly model: Model;
  readonly messages: readonly Message[];
  readonly signal: AbortSignal;
}): Promise<SummarizeResult> {
  const { agent, messages, signal } = of;
  const summarizer = summarizerOf(agent);
  if (summarizer === undefined)
    throw new ModelCallLost({
      code: 'invalid_request',
      message: `Agent "${agent.name}" wants no summaries`,
    });
  const model = summarizer.model === agent.model ? of.model : summarizer.model;
  try {
    const made = await makeSummary({
      ...summarizer,
      messages,
      counting: tokenCounting,
      ask: (request) => model.generate(request, { signal, onEvent: () => undefined }),
      isTooLong: isContextTooLong,
    });
    if (made === undefined)
      throw new ModelCallLost({
        code: 'model_empty_answer',
        message: `Model "${model.name}" wrote no summary`,
      });
    const { response, ...summary } = made;
    const usage = withCost(response.usage, model.prices);
    return { ...summary, version: SUMMARY_VERSION, model: response.model, usage };
  } catch (error) {
    if (!isModelFailure(error)) throw error;
    throw new ModelCallLost({ code: error.code, message: error.message });
  }
}

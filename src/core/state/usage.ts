/** Sums of tokens and cost. Pure. */
import type { ModelCallDetails, ModelSpend } from '../../protocol/conversation/attempts.js';
import type { Usage } from '../../protocol/conversation/turns.js';
import type { ModelCallEvent } from '../../protocol/log/events.js';

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0 };

export function addUsage(left: Usage, right: Usage): Usage {
  const cached = (left.cachedInputTokens ?? 0) + (right.cachedInputTokens ?? 0);
  const isPriced = left.costMicros !== undefined || right.costMicros !== undefined;
  const reasoning = (left.reasoningTokens ?? 0) + (right.reasoningTokens ?? 0);
  return {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    ...(cached > 0 ? { cachedInputTokens: cached } : {}),
    ...(reasoning > 0 ? { reasoningTokens: reasoning } : {}),
    ...(isPriced ? { costMicros: (left.costMicros ?? 0) + (right.costMicros ?? 0) } : {}),
    ...(left.estimated === true || right.estimated === true ? { estimated: true } : {}),
  };
}

/**
 * The total reported for a model call whose open attempt is not going to be continued; undefined when nothing was
 * reported.
 */
export function spentIn({ spent, open }: ModelCallDetails): ModelSpend | undefined {
  if (open === undefined) return spent;
  const { model, attempt, usage } = open;
  return { model, attempt, usage: spent === undefined ? usage : addUsage(spent.usage, usage) };
}

/** Usage of one model call, including its attempts without a result. */
export function takenBy({
  usage,
  earlierUsage,
}: Pick<ModelCallEvent, 'usage' | 'earlierUsage'>): Usage {
  return earlierUsage === undefined ? usage : addUsage(usage, earlierUsage);
}

/** What a model call costs. Pure. */
import type { Usage } from '../../protocol/conversation/turns.js';
import type { ModelPrices } from '../../protocol/model/model.js';

/**
 * The usage with its cost, to the nearest millionth of the currency's unit: a token at a price for a million tokens costs that many
 * millionths. Without prices the usage as it is.
 */
export function withCost(usage: Usage, prices: ModelPrices | undefined): Usage {
  if (prices === undefined) return usage;
  const { inputPerMTok, cachedInputPerMTok = inputPerMTok, outputPerMTok } = prices;
  const { inputTokens, outputTokens, cachedInputTokens = 0 } = usage;
  const cached = Math.min(cachedInputTokens, inputTokens);
  const micros =
    (inputTokens - cached) * inputPerMTok +
    cached * cachedInputPerMTok +
    outputTokens * outputPerMTok;
  return { ...usage, costMicros: Math.round(micros) };
}

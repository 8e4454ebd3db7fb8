/** Computes the cost of a model call. Pure. */
import type { Usage } from '../../protocol/conversation/turns.js';
import type { ModelPrices } from '../../protocol/model/model.js';

/**
 * Adds the cost to the usage, to the nearest millionth of the currency's unit: a token at a price for a million tokens
 * costs that many millionths. Returns the usage unchanged without prices.
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

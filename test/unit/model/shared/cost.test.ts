/** Costs of a model call. */
import { describe, expect, it } from 'vitest';
import { withCost } from '../../../../src/model/shared/cost.js';

const USAGE = {
  inputTokens: 1_000,
  outputTokens: 200,
  cachedInputTokens: 400,
  reasoningTokens: 50,
};

describe('the cost of a model call', () => {
  it.each([
    [{ inputPerMTok: 1.25, outputPerMTok: 10 }, 3_250],
    [{ inputPerMTok: 1.25, cachedInputPerMTok: 0.125, outputPerMTok: 10 }, 2_800],
    [{ inputPerMTok: 0, outputPerMTok: 0 }, 0],
    [{ inputPerMTok: 0.0004, outputPerMTok: 0 }, 0],
    [{ inputPerMTok: 0.0006, outputPerMTok: 0 }, 1],
  ])('at %j is %i millionths', (prices, costMicros) => {
    expect(withCost(USAGE, prices)).toEqual({ ...USAGE, costMicros });
  });

  it('is unknown without prices', () => {
    expect(withCost(USAGE, undefined)).toEqual(USAGE);
  });

  it('counts no token twice where a server reports more cached tokens than input tokens', () => {
    const usage = { inputTokens: 10, outputTokens: 0, cachedInputTokens: 1_000 };
    const prices = { inputPerMTok: 2, cachedInputPerMTok: 1, outputPerMTok: 1 };
    expect(withCost(usage, prices).costMicros).toBe(10);
  });
});

/** The cost of a model call, as the worker reports it. */
import { describe, expect, it } from 'vitest';
import { answer, environment, modelInput, modelOf, setUp } from '../tools/fixtures.js';

describe('a model call', () => {
  it('is reported with its cost if the model has prices', async () => {
    const model = modelOf(() => Promise.resolve(answer()));
    const free = await environment().run(setUp({ model }).activities.callModel, modelInput());
    expect(free.usage).toEqual({ inputTokens: 3, outputTokens: 2 });
    const prices = { inputPerMTok: 10, outputPerMTok: 100 };
    const { activities } = setUp({ model: { ...model, prices } });
    const priced = await environment().run(activities.callModel, modelInput());
    expect(priced.usage).toEqual({ inputTokens: 3, outputTokens: 2, costMicros: 230 });
  });
});

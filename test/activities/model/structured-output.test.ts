/** A model call whose answer has to have a form, as the workflow schedules it. */
import { describe, expect, it } from 'vitest';
import type { ModelResponse } from '../../../src/protocol/model/model.js';
import { answer, environment, modelInput, modelOf, setUp } from '../tools/fixtures.js';

const output = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } as const;
const said = (text: string): ModelResponse => answer({ parts: [{ type: 'text', text }] });

describe('a model call whose answer has to have a form', () => {
  it('is asked again within one activity; watchers see the first answer only, and both are priced', async () => {
    const answers = [said('One.'), said('{"n":1}')];
    const model = modelOf((_request, { onEvent }) => {
      const response = answers.shift() ?? said('unexpected');
      onEvent({ type: 'text', text: JSON.stringify(response.parts) });
      return Promise.resolve(response);
    });
    const prices = { inputPerMTok: 10, outputPerMTok: 100 };
    const { activities, live } = setUp({ model: { ...model, prices } });
    const result = await environment().run(activities.callModel, modelInput({ output }));
    expect(result).toMatchObject({
      parts: [{ type: 'text', text: '{"n":1}' }],
      output: { n: 1 },
      usage: { inputTokens: 6, outputTokens: 4, costMicros: 460 },
    });
    expect(live.filter(({ type }) => type === 'text_delta')).toHaveLength(1);
    expect(JSON.stringify(live)).toContain('One.');
  });

  it('says what is wrong with an answer that was asked for twice, with what both took', async () => {
    const model = modelOf(() => Promise.resolve(said('{"n":1.5}')));
    const { activities } = setUp({ model });
    const result = await environment().run(activities.callModel, modelInput({ output }));
    expect(result.outputProblem).toContain('/n: ');
    expect(result.usage).toEqual({ inputTokens: 6, outputTokens: 4 });
    expect(result).not.toHaveProperty('output');
  });

  it('is the same as ever where no form is asked for', async () => {
    const { activities } = setUp({ model: modelOf(() => Promise.resolve(said('{"n":1}'))) });
    const result = await environment().run(activities.callModel, modelInput());
    expect(result).not.toHaveProperty('output');
  });
});

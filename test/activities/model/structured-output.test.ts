/** A model call with an output schema, as the workflow schedules it. */
import { describe, expect, it } from 'vitest';
import type { ModelResponse } from '../../../src/protocol/model/model.js';
import { answer, environment, modelInput, modelOf, setUp } from '../tools/fixtures.js';

const output = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } as const;
const said = (text: string): ModelResponse => answer({ parts: [{ type: 'text', text }] });

describe('a model call with an output schema', () => {
  it('repeats its request within one activity; watchers see only the first answer, and both are priced', async () => {
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

  it('reports the problems of an answer that failed twice, with the usage of both requests', async () => {
    const model = modelOf(() => Promise.resolve(said('{"n":1.5}')));
    const { activities } = setUp({ model });
    const result = await environment().run(activities.callModel, modelInput({ output }));
    expect(result.outputProblem).toContain('/n: ');
    expect(result.usage).toEqual({ inputTokens: 6, outputTokens: 4 });
    expect(result).not.toHaveProperty('output');
  });

  it('is unchanged without an output schema', async () => {
    const { activities } = setUp({ model: modelOf(() => Promise.resolve(said('{"n":1}'))) });
    const result = await environment().run(activities.callModel, modelInput());
    expect(result).not.toHaveProperty('output');
  });
});

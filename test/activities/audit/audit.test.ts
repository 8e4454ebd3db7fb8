/** The audit of model calls: the recorded parts of each request, and the parts that are never recorded. */
import { describe, expect, it } from 'vitest';
import { createActivities } from '../../../src/activities/index.js';
import { defineAgent } from '../../../src/define/define-agent.js';
import { ModelFailure } from '../../../src/model/shared/failure.js';
import type { ModelResponse } from '../../../src/protocol/model/model.js';
import type { Json } from '../../../src/protocol/values/json.js';
import { promise } from '../../support/promise.js';
import { answer, environment, key, modelInput, modelOf } from '../tools/fixtures.js';

type Generate = Parameters<typeof modelOf>[0];

function setUp(generate: Generate, audit?: 'records' | 'full', store = true) {
  const measured: unknown[][] = [];
  const lines: Record<string, unknown>[] = [];
  const stored: Json[] = [];
  const quiet = () => undefined;
  const model = {
    ...modelOf(generate),
    prices: { inputPerMTok: 10, outputPerMTok: 100 },
    providerToolProblem: () => undefined,
  };
  const agent = defineAgent({
    ...{ name: 'support', feature: 'checkout', model, instructions: 'Help.' },
  });
  const activities = createActivities({
    agents: [agent],
    services: undefined,
    restoreState: () => Promise.reject(new Error('no store')),
    flush: () => Promise.reject(new Error('no store')),
    publish: quiet,
    blobs: {
      put: (_key, { content }) => {
        if (!store) return Promise.reject(new Error('the store is away'));
        stored.push(JSON.parse(Buffer.from(content).toString()) as Json);
        return Promise.resolve({ id: `b${stored.length}`, bytes: 1, type: 'application/json' });
      },
      get: () => Promise.resolve(undefined),
    },
    ...(audit === undefined ? {} : { audit }),
    measure: (...each) => measured.push(each),
    logger: {
      debug: quiet,
      warn: quiet,
      error: quiet,
      info: (message, fields) => {
        if (message === 'model call') lines.push({ ...fields });
      },
    },
  });
  return { activities, lines, stored, measured };
}

const said = (text: string): ModelResponse => answer({ parts: [{ type: 'text', text }] });
const form = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } as const;

describe('an audited model call', () => {
  it('is not recorded unless the worker is configured to', async () => {
    const { activities, lines, stored } = setUp(() => Promise.resolve(said('Hi.')));
    await environment().run(activities.callModel, modelInput());
    expect([lines, stored]).toEqual([[], []]);
  });

  it('is one line for each request: caller, model, usage, duration and outcome', {
    ...promise('G167'),
  }, async () => {
    const answers = [said('One.'), said('{"n":1}')];
    const { activities, lines, stored } = setUp(
      () => Promise.resolve(answers.shift() ?? said('')),
      'records',
    );
    await environment({ attempt: 2 }).run(activities.callModel, modelInput({ output: form }));
    const line = {
      ...{
        audit: 'model_call',
        ...key,
        agent: 'support',
        feature: 'checkout',
        turnId: 'turn_1',
        step: 2,
        attempt: 2,
      },
      ...{ model: 'gpt-test', answeredBy: 'gpt-test-2026', outcome: 'answered' },
      ...{ finishReason: 'stop', latencyMs: expect.any(Number) as unknown },
      usage: { inputTokens: 3, outputTokens: 2, costMicros: 230 },
    };
    expect(lines).toEqual([
      { ...line, purpose: 'answer' },
      { ...line, purpose: 'correction' },
    ]);
    expect(stored).toEqual([]);
  });

  it('has a line with the usage of a failed attempt, as in the log', {
    ...promise('G169'),
  }, async () => {
    const { activities, lines } = setUp((_request, { onEvent }) => {
      onEvent({ type: 'text', text: 'forty bytes of an answer that is cut off' });
      return Promise.reject(new ModelFailure('model_stream_broken', 'cut', { retryable: true }));
    }, 'records');
    const failure: unknown = await environment()
      .run(activities.callModel, modelInput())
      .catch((reason: unknown) => reason);
    const usage = { inputTokens: 8, outputTokens: 13, estimated: true, costMicros: 1_380 };
    expect(lines).toMatchObject([{ outcome: 'model_stream_broken', usage }]);
    expect(failure).toMatchObject({ details: [{ spent: { usage } }] });
  });

  it('records the usage of a response that is resumed later with the attempt that has its answer', async () => {
    const { activities, lines } = setUp((_request, { onReport }) => {
      onReport?.({ type: 'open', id: 'resp_1' });
      return Promise.reject(new ModelFailure('model_stream_broken', 'cut', { retryable: true }));
    }, 'records');
    await expect(environment().run(activities.callModel, modelInput())).rejects.toThrow('cut');
    expect(lines).toMatchObject([{ outcome: 'model_stream_broken', continues: true }]);
    expect(lines[0]).not.toHaveProperty('usage');
  });

  it('has a line for a failure with its code only, because texts may quote secrets', {
    ...promise('G167'),
  }, async () => {
    const failure = new ModelFailure('model_rate_limited', 'key sk-secret', { retryable: true });
    const { activities, lines, stored } = setUp(() => Promise.reject(failure), 'full');
    await expect(environment().run(activities.callModel, modelInput())).rejects.toThrow();
    expect(lines).toMatchObject([{ outcome: 'model_rate_limited', blob: 'b1' }]);
    expect(lines[0]).not.toHaveProperty('usage');
    expect(JSON.stringify([lines, stored])).not.toContain('sk-secret');
  });

  it('stores request and answer in full mode, in a blob that its line names', {
    ...promise('2.A.7'),
  }, async () => {
    const { activities, lines, stored } = setUp(() => Promise.resolve(said('Hi.')), 'full');
    await environment().run(activities.callModel, modelInput());
    expect(lines).toMatchObject([{ blob: 'b1' }]);
    expect(stored).toMatchObject([
      {
        request: { system: 'Help.', messages: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
        response: { parts: [{ type: 'text', text: 'Hi.' }], finishReason: 'stop' },
      },
    ]);
  });

  it('is answered even if the store is down', promise('G167'), async () => {
    const { activities, lines } = setUp(() => Promise.resolve(said('Hi.')), 'full', false);
    const result = await environment().run(activities.callModel, modelInput());
    expect(result.parts).toEqual([{ type: 'text', text: 'Hi.' }]);
    expect(lines).toMatchObject([{ notStored: 'the store did not take it' }]);
  });
});

describe('the time of each request to a model', () => {
  it('is measured without an audit, also of a request that fails', async () => {
    const answers = [said('One.'), said('{"n":1}')];
    const { activities, measured } = setUp(() => {
      const next = answers.shift();
      return next === undefined ? Promise.reject(new Error('no answer')) : Promise.resolve(next);
    });
    await environment().run(activities.callModel, modelInput({ output: form }));
    await environment()
      .run(activities.callModel, modelInput())
      .catch(() => undefined);
    const seconds = expect.closeTo(0, 0) as number;
    expect(measured).toEqual([
      ['gpt-test', 'answered', seconds],
      ['gpt-test', 'answered', seconds],
      ['gpt-test', 'failed', seconds],
    ]);
  });
});

describe('a model call that is cancelled during its corrected request', () => {
  it('counts the usage of the first answer, and records the second as aborted', {
    ...promise('G168'),
  }, async () => {
    const env = environment();
    const answers = [Promise.resolve(said('One.'))];
    const { activities, lines, measured } = setUp(() => {
      const next = answers.shift();
      if (next !== undefined) return next;
      setTimeout(() => env.cancel(), 5);
      return new Promise(() => undefined);
    }, 'full');
    const result = await env.run(activities.callModel, modelInput({ output: form }));
    expect(result).toMatchObject({
      aborted: true,
      usage: { inputTokens: 3, outputTokens: 2, costMicros: 230 },
    });
    expect(lines).toMatchObject([{ outcome: 'answered' }, { outcome: 'aborted' }]);
    expect(measured).toMatchObject([
      [expect.anything(), 'answered', expect.anything()],
      [expect.anything(), 'aborted', expect.anything()],
    ]);
    expect(lines[1]).not.toHaveProperty('blob');
  });
});

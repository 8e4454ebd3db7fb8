/** The audit of model calls: what is kept of each request, and what never is. */
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
  const lines: Record<string, unknown>[] = [];
  const stored: Json[] = [];
  const quiet = () => undefined;
  const model = {
    ...modelOf(generate),
    prices: { inputPerMTok: 10, outputPerMTok: 100 },
    providerToolProblem: () => undefined,
  };
  const agent = defineAgent({ name: 'support', model, instructions: 'Help.' });
  const activities = createActivities({
    agents: [agent],
    services: undefined,
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
    logger: {
      debug: quiet,
      warn: quiet,
      error: quiet,
      info: (message, fields) => {
        if (message === 'model call') lines.push({ ...fields });
      },
    },
  });
  return { activities, lines, stored };
}

const said = (text: string): ModelResponse => answer({ parts: [{ type: 'text', text }] });
const form = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } as const;

describe('an audited model call', () => {
  it('leaves nothing unless the worker is told to', async () => {
    const { activities, lines, stored } = setUp(() => Promise.resolve(said('Hi.')));
    await environment().run(activities.callModel, modelInput());
    expect([lines, stored]).toEqual([[], []]);
  });

  it('leaves one line a request: who asked which model, what it took, how long and how it ended', {
    ...promise('G167'),
  }, async () => {
    const answers = [said('One.'), said('{"n":1}')];
    const { activities, lines, stored } = setUp(
      () => Promise.resolve(answers.shift() ?? said('')),
      'records',
    );
    await environment({ attempt: 2 }).run(activities.callModel, modelInput({ output: form }));
    const line = {
      ...{ audit: 'model_call', ...key, agent: 'support', turnId: 'turn_1', step: 2, attempt: 2 },
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

  it('leaves a line of what an attempt took that came to nothing, as the log counts it', {
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

  it('leaves what a response took that goes on to the line of the attempt that has its answer', async () => {
    const { activities, lines } = setUp((_request, { onReport }) => {
      onReport?.({ type: 'open', id: 'resp_1' });
      return Promise.reject(new ModelFailure('model_stream_broken', 'cut', { retryable: true }));
    }, 'records');
    await expect(environment().run(activities.callModel, modelInput())).rejects.toThrow('cut');
    expect(lines).toMatchObject([{ outcome: 'model_stream_broken', goesOn: true }]);
    expect(lines[0]).not.toHaveProperty('usage');
  });

  it('leaves a line of what failed, by its code: texts may quote what is secret', {
    ...promise('G167'),
  }, async () => {
    const failure = new ModelFailure('model_rate_limited', 'key sk-secret', { retryable: true });
    const { activities, lines, stored } = setUp(() => Promise.reject(failure), 'full');
    await expect(environment().run(activities.callModel, modelInput())).rejects.toThrow();
    expect(lines).toMatchObject([{ outcome: 'model_rate_limited', blob: 'b1' }]);
    expect(lines[0]).not.toHaveProperty('usage');
    expect(JSON.stringify([lines, stored])).not.toContain('sk-secret');
  });

  it('stores request and answer where all is to be kept, in a blob that its line names', {
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

  it('is answered all the same where the store is away', promise('G167'), async () => {
    const { activities, lines } = setUp(() => Promise.resolve(said('Hi.')), 'full', false);
    const result = await environment().run(activities.callModel, modelInput());
    expect(result.parts).toEqual([{ type: 'text', text: 'Hi.' }]);
    expect(lines).toMatchObject([{ notStored: 'the store did not take it' }]);
  });
});

describe('a model call that is stopped while it is asked once more', () => {
  it('counts what the first answer took, and its line says that the second was stopped', {
    ...promise('G168'),
  }, async () => {
    const env = environment();
    const answers = [Promise.resolve(said('One.'))];
    const { activities, lines } = setUp(() => {
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
    expect(lines[1]).not.toHaveProperty('blob');
  });
});

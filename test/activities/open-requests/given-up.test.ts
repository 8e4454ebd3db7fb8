/** Provider responses that keep running and that no attempt resumes: requested anew, cancelled there, counted once. */
import { describe, expect, it } from 'vitest';
import { ModelFailure } from '../../../src/model/shared/failure.js';
import type { ModelCallDetails } from '../../../src/protocol/conversation/attempts.js';
import type { ModelCallOptions } from '../../../src/protocol/model/model.js';
import { promise } from '../../support/promise.js';
import { environment, key, modelInput, setUp } from '../tools/fixtures.js';
import { begins, cut, failed, OPEN, patient, second } from './setup.js';

describe('a request other than the running one', () => {
  const OTHER = { ...OPEN, request: 'another' };

  it('is sent anew; the response that was not resumed is cancelled at the provider, and counts', async () => {
    const beats: ModelCallDetails[] = [];
    const model = patient((options) => {
      options.onReport?.({ type: 'open', id: 'resp_2' });
      options.onReport?.({ type: 'closed' });
      return Promise.resolve();
    });
    const env = environment(second({ open: OTHER }));
    env.onHeartbeat((details) => beats.push(details as ModelCallDetails));
    const result = await env.run(setUp({ model }).activities.callModel, modelInput());
    expect(model.resumed).toEqual([undefined]);
    expect(model.cancelled).toEqual(['resp_1']);
    expect(result).toMatchObject({
      usage: { inputTokens: 3, outputTokens: 2 },
      earlierUsage: OPEN.usage,
    });
    expect(beats).toMatchObject([{ spent: { usage: OPEN.usage }, open: { id: 'resp_2' } }]);
  });

  it('that fails leaves the running response to the next attempt', async () => {
    const model = patient(() => Promise.reject(new Error('refused')));
    expect(await failed(model, second({ open: OTHER }))).toEqual({ open: OTHER });
    expect(model.cancelled).toEqual([]);
  });

  it('that keeps running itself takes the place of the other', async () => {
    const model = patient(({ onReport }) => {
      onReport?.({ type: 'open', id: 'resp_2' });
      return cut();
    });
    const details = await failed(model, second({ open: OTHER }));
    expect(details).toMatchObject({ spent: { usage: OPEN.usage }, open: { id: 'resp_2' } });
    expect(model.cancelled).toEqual(['resp_1']);
    const next = patient(() => Promise.resolve());
    const env = environment({ attempt: 3, heartbeatDetails: details });
    await env.run(setUp({ model: next }).activities.callModel, modelInput());
    expect(next.resumed).toEqual(['resp_2']);
  });
});

describe('a summary whose partial request keeps running at the provider', () => {
  const append = [1, 2, 3, 4].map((turn) => ({
    ...{ role: 'user' as const, id: `m${turn}`, turnId: `turn_${turn}` },
    parts: [{ type: 'text' as const, text: `${turn} is a number. `.repeat(120) }],
  }));
  const input = {
    ...{ ...key, agent: 'support', ordinal: 1 },
    transcript: { epoch: 0, base: 0, append },
  };
  const context = { maxTokens: 4_000 };
  const tooLong = (): Promise<never> =>
    Promise.reject(new ModelFailure('model_context_too_long', 'no', { retryable: false }));

  /** The details that the next attempt gets. */
  async function halfLeft(): Promise<ModelCallDetails> {
    let asks = 0;
    const model = patient((options) => {
      asks += 1;
      if (asks === 1) return tooLong();
      begins(options);
      return cut();
    });
    const { activities } = setUp({ model, context });
    const env = environment();
    let beat: ModelCallDetails = {};
    env.onHeartbeat((details) => {
      beat = details as ModelCallDetails;
    });
    await expect(env.run(activities.summarize, input)).rejects.toThrow('cut');
    expect(beat.open?.id).toBe('resp_1');
    return beat;
  }

  it('is resumed by the same partial request, not by the whole', promise('G12'), async () => {
    const details = await halfLeft();
    const model = patient(({ resume }) => (resume === undefined ? tooLong() : Promise.resolve()));
    const env = environment(second(details));
    const made = await env.run(setUp({ model, context }).activities.summarize, input);
    expect(model.resumed).toEqual([undefined, 'resp_1']);
    expect(made.throughMessageId).not.toBe('m4');
    expect(model.cancelled).toEqual([]);
  });

  it('is cancelled if the messages are missing: the activity that gets all of them does not know of it', async () => {
    const details = await halfLeft();
    const model = patient(() => Promise.resolve());
    const env = environment(second(details));
    const lacking = { ...input, transcript: { epoch: 3, base: 4, prefixHash: 'x', append: [] } };
    await expect(
      env.run(setUp({ model, context }).activities.summarize, lacking),
    ).rejects.toMatchObject({ type: 'transcript_miss' });
    expect(model.resumed).toEqual([]);
    expect(model.cancelled).toEqual(['resp_1']);
  });

  it('is cancelled if the whole request succeeds this time', async () => {
    const details = await halfLeft();
    const model = patient(() => Promise.resolve());
    const env = environment(second(details));
    const made = await env.run(setUp({ model, context }).activities.summarize, input);
    expect(model.resumed).toEqual([undefined]);
    expect(made.throughMessageId).toBe('m4');
    expect(model.cancelled).toEqual(['resp_1']);
    expect(made.usage.outputTokens).toBe(2 + 13);
  });
});

describe('a running response without a further attempt', () => {
  const refused = (options: ModelCallOptions): Promise<never> => {
    begins(options);
    const failure = new ModelFailure('model_unauthorized', 'no', { retryable: false });
    return Promise.reject(failure);
  };
  const broken = (options: ModelCallOptions): Promise<never> => {
    begins(options);
    return cut();
  };

  it.each([
    ['after a failure that is not retried', refused, {}],
    ['after the last attempt', broken, { attempt: 3, retryPolicy: { maximumAttempts: 3 } }],
  ] as const)('is cancelled at the provider %s', async (_when, asking, info) => {
    const model = patient(asking);
    const details = await failed(model, info);
    expect(model.cancelled).toEqual(['resp_1']);
    expect(details).toMatchObject({ spent: { usage: { outputTokens: 13, estimated: true } } });
    expect(details).not.toHaveProperty('open');
  });

  it('keeps running if another attempt follows, or another activity with the messages', async () => {
    const model = patient(broken);
    const retryPolicy = { maximumAttempts: 3 };
    expect(await failed(model, { attempt: 2, retryPolicy })).toHaveProperty('open');
    const { activities } = setUp({ model });
    const lacking = modelInput({ transcript: { epoch: 3, base: 5, append: [] }, open: OPEN });
    await expect(
      environment({ attempt: 3, retryPolicy }).run(activities.callModel, lacking),
    ).rejects.toMatchObject({ type: 'transcript_miss', details: [{ open: OPEN }] });
    expect(model.cancelled).toEqual([]);
  });
});

/** Provider responses that outlive their attempt: the next attempt gets their answer, and they count once. */
import { ActivityCancellationDetails } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import type { ModelCallDetails } from '../../../src/protocol/conversation/attempts.js';
import type { ModelCallOptions } from '../../../src/protocol/model/model.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';
import { environment, modelInput, setUp } from '../tools/fixtures.js';
import { begins, cut, failed, OPEN, patient, SPENT, second } from './setup.js';

describe('a response that keeps running at the provider', () => {
  it('is left to the next attempt when its stream breaks, apart from the spent usage', async () => {
    const model = patient((options) => {
      begins(options);
      return cut();
    });
    const details = await failed(model, second({ spent: SPENT }));
    expect(details).toMatchObject({
      spent: SPENT,
      open: { id: 'resp_1', attempt: 2, usage: { outputTokens: 13, estimated: true } },
    });
  });

  it("is resumed, and counts once, with the provider's final usage", promise('G12'), async () => {
    const model = patient((options) => {
      begins(options);
      options.onReport?.({ type: 'closed' });
      return Promise.resolve();
    });
    const env = environment(second({ spent: SPENT, open: OPEN }));
    const result = await env.run(setUp({ model }).activities.callModel, modelInput());
    expect(model.resumed).toEqual(['resp_1']);
    expect(result).toMatchObject({
      usage: { inputTokens: 3, outputTokens: 2 },
      earlierUsage: SPENT.usage,
    });
    expect(result.usage).not.toHaveProperty('estimated');
  });

  it.each([
    ['cannot be reached', () => Promise.reject(new Error('refused')), 20],
    [
      'is cut before the position of the last attempt',
      (options: ModelCallOptions) => {
        begins(options);
        return cut();
      },
      20,
    ],
    [
      'is cut after it',
      (options: ModelCallOptions) => {
        begins(options);
        begins(options);
        return cut();
      },
      25,
    ],
  ] as const)('and %s is left to the next attempt', async (_what, asking, outputTokens) => {
    const details = await failed(patient(asking), second({ open: OPEN }));
    expect(details).toMatchObject({ open: { id: 'resp_1', usage: { outputTokens } } });
    expect(details).not.toHaveProperty('spent');
  });

  it('that is gone counts as spent, and the next attempt makes a new request', async () => {
    const gone = patient(({ onReport }) => {
      onReport?.({ type: 'closed' });
      return cut();
    });
    const details = await failed(gone, second({ open: OPEN }));
    expect(details).toEqual({ spent: { model: 'gpt-test', attempt: 2, usage: OPEN.usage } });
    const model = patient(() => Promise.resolve());
    const env = environment({ attempt: 3, heartbeatDetails: details });
    const result = await env.run(setUp({ model }).activities.callModel, modelInput());
    expect(model.resumed).toEqual([undefined]);
    expect(result.earlierUsage).toEqual(OPEN.usage);
  });

  it('under another id counts beside the one to be resumed', async () => {
    const model = patient(({ onReport }) => {
      onReport?.({ type: 'closed' });
      onReport?.({ type: 'open', id: 'resp_2' });
      return cut();
    });
    const { open } = await failed(model, second({ open: OPEN }));
    expect(open?.id).toBe('resp_2');
    expect(open?.usage.inputTokens).toBeGreaterThan(OPEN.usage.inputTokens);
  });

  it('is known to another activity of the same call', async () => {
    const model = patient(() => Promise.resolve());
    const { activities } = setUp({ model });
    await environment().run(activities.callModel, modelInput({ open: OPEN }));
    expect(model.resumed).toEqual(['resp_1']);
  });

  it('is in the heartbeats of a running attempt', async () => {
    const env = environment({ heartbeatTimeoutMs: 30 });
    const beats: ModelCallDetails[] = [];
    env.onHeartbeat((details) => beats.push(details as ModelCallDetails));
    const model = patient(async (options) => {
      begins(options);
      await until('a heartbeat', () => beats.at(-1)?.open?.usage.outputTokens === 13);
    });
    await env.run(setUp({ model }).activities.callModel, modelInput());
    expect(beats.at(-1)).not.toHaveProperty('spent');
  });

  it('is reported at once, at any heartbeat interval', async () => {
    const env = environment();
    const beats: unknown[] = [];
    env.onHeartbeat((details) => beats.push(details));
    const model = patient((options) => {
      expect(beats).toEqual([]);
      options.onReport?.({ type: 'open', id: 'resp_1' });
      expect(beats).toMatchObject([{ open: { id: 'resp_1' } }]);
      options.onReport?.({ type: 'open', id: 'resp_1' });
      return Promise.resolve();
    });
    await env.run(setUp({ model }).activities.callModel, modelInput());
    expect(beats).toHaveLength(1);
  });

  it('is cancelled at the provider with its turn, and counts', async () => {
    const env = environment();
    const model = patient((options) => {
      begins(options);
      setTimeout(() => env.cancel(), 5);
      return new Promise(() => undefined);
    });
    const result = await env.run(setUp({ model }).activities.callModel, modelInput());
    expect(result).toMatchObject({ aborted: true, usage: { outputTokens: 13, estimated: true } });
    expect(model.cancelled).toEqual(['resp_1']);
  });

  it('keeps running when its worker stops: the next one gets its answer', async () => {
    const env = environment();
    const model = patient((options) => {
      begins(options);
      const details = new ActivityCancellationDetails({ workerShutdown: true });
      setTimeout(() => env.cancel('WORKER_SHUTDOWN', details), 5);
      return new Promise(() => undefined);
    });
    const { activities } = setUp({ model });
    await expect(env.run(activities.callModel, modelInput())).rejects.toMatchObject({
      details: [{ open: { id: 'resp_1' } }],
    });
    expect(model.cancelled).toEqual([]);
  });
});

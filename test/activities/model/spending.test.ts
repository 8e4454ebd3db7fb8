/**
 * Usage of the attempts of a model call: known to the next attempt, the workflow and the audit, for every kind of end.
 */
import { ActivityCancellationDetails, ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import {
  ModelFailure,
  type ModelFailureCode,
  toModelFailure,
} from '../../../src/model/shared/failure.js';
import type { ModelCallDetails } from '../../../src/protocol/conversation/attempts.js';
import type { Model, ModelCallOptions } from '../../../src/protocol/model/model.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';
import { answer, environment, key, modelInput, modelOf, setUp } from '../tools/fixtures.js';

const PRICES = { inputPerMTok: 10, outputPerMTok: 100 };
const EARLIER = { inputTokens: 40, outputTokens: 4, costMicros: 800, estimated: true } as const;
const LOST: ModelCallDetails = { spent: { model: 'gpt-test', attempt: 1, usage: EARLIER } };
/** 40 bytes: 13 tokens by the size estimate. */
const STREAMED = 'These are forty bytes of a long answer. ';

type Asking = (options: ModelCallOptions, ask: number) => Promise<unknown>;

/** Streams according to `asking`, then answers, fails, or never ends. */
function modelThat(asking: Asking): Model {
  let asks = 0;
  const model = modelOf(async (_request, options) => {
    asks += 1;
    await asking(options, asks);
    return answer();
  });
  return { ...model, prices: PRICES };
}

function fails(code: ModelFailureCode, before: (options: ModelCallOptions) => void): Model {
  return modelThat((options) => {
    before(options);
    return Promise.reject(new ModelFailure(code, 'no', { retryable: true }));
  });
}

interface Attempt {
  readonly failure: ApplicationFailure;
  /** Details of the last heartbeat. */
  readonly beat: ModelCallDetails | undefined;
}

async function attempt(
  model: Model,
  info: Parameters<typeof environment>[0] = {},
): Promise<Attempt> {
  const env = environment(info);
  let beat: ModelCallDetails | undefined;
  env.onHeartbeat((details) => {
    beat = details as ModelCallDetails;
  });
  const error: unknown = await env.run(setUp({ model }).activities.callModel, modelInput()).then(
    () => new Error('it was answered'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApplicationFailure)) throw error;
  return { failure: error, beat };
}

const spentOf = ({ failure }: Attempt) =>
  (failure.details?.[0] as ModelCallDetails | undefined)?.spent;

const streams = ({ onEvent }: ModelCallOptions): void => {
  onEvent({ type: 'text', text: STREAMED });
};
const accepted = ({ onReport }: ModelCallOptions): void => onReport?.({ type: 'accepted' });
const nothing = (): void => undefined;
const said = { inputTokens: 31, outputTokens: 17, cachedInputTokens: 8 };
const says = ({ onEvent, onReport }: ModelCallOptions): void => {
  onEvent({ type: 'text', text: STREAMED });
  onReport?.({ type: 'usage', usage: said });
};

describe('an attempt that fails', () => {
  it.each([
    ['is cut off', 'model_stream_broken', streams, 13],
    ['is cut off before any output', 'model_stream_broken', accepted, 0],
    ['is stopped by the filter', 'model_content_filtered', streams, 13],
    ['is broken off by the provider', 'model_unavailable', streams, 13],
    ['is limited half-way', 'model_rate_limited', streams, 13],
  ] as const)(
    'and %s (%s) counts its prompt and the streamed text, as an estimate',
    async (...row) => {
      const [, code, before, outputTokens] = row;
      const failed = await attempt(fails(code, before));
      const spent = spentOf(failed);
      expect(failed.failure).toMatchObject({ type: code, message: 'no', nonRetryable: false });
      expect(spent).toMatchObject({ model: 'gpt-test', attempt: 1 });
      expect(spent?.usage).toMatchObject({ outputTokens, estimated: true });
      const inputTokens = spent?.usage.inputTokens ?? 0;
      expect(inputTokens).toBeGreaterThan(0);
      expect(spent?.usage.costMicros).toBe(inputTokens * 10 + outputTokens * 100);
      // The next attempt gets the same.
      expect(failed.beat).toEqual({
        spent,
        failed: [expect.objectContaining({ attempt: 1, code })],
      });
    },
  );

  it.each([
    ['model_unavailable', nothing],
    ['model_unauthorized', nothing],
    ['model_rate_limited', nothing],
    ['model_bad_request', nothing],
    ['model_not_found', nothing],
    ['model_stream_broken', nothing],
    // Refused in the first event of a stream.
    ['model_rate_limited', accepted],
    ['model_unavailable', accepted],
    ['model_bad_request', accepted],
  ] as const)('with %s and without output counts nothing', promise('G11'), async (code, before) => {
    const failed = await attempt(fails(code, before));
    expect(spentOf(failed)).toBeUndefined();
    expect(failed.beat).not.toHaveProperty('spent');
  });

  it('counts the usage that the provider reported, and nothing else', async () => {
    const failed = await attempt(fails('model_stream_broken', says));
    expect(spentOf(failed)?.usage).toEqual({ ...said, costMicros: 2_010 });
  });

  it('counts all its requests: an answer with the wrong form, and the corrected request', async () => {
    const model = modelThat((options, ask) => {
      if (ask === 1) return Promise.resolve();
      streams(options);
      return Promise.reject(new ModelFailure('model_stream_broken', 'no', { retryable: true }));
    });
    const form = { type: 'object', properties: { n: { type: 'integer' } } };
    const env = environment();
    const { activities } = setUp({ model });
    const failure: unknown = await env
      .run(activities.callModel, modelInput({ output: form }))
      .catch((reason: unknown) => reason);
    const { spent } = (failure as ApplicationFailure).details?.[0] as ModelCallDetails;
    expect(spent?.usage).toMatchObject({ outputTokens: 2 + 13, estimated: true });
    // The second prompt contains the first answer and its problems.
    expect(spent?.usage.inputTokens).toBeGreaterThan(3 + 20);
  });

  it.each([
    ['says nothing', { parts: [] }, 'model_empty_answer'],
    [
      'says too much',
      { parts: [{ type: 'text', text: 'x'.repeat(3_000_000) }] },
      'model_answer_too_large',
    ],
  ] as const)('because its answer %s counts that answer', async (_what, response, code) => {
    const model = { ...modelOf(() => Promise.resolve(answer(response))), prices: PRICES };
    const failed = await attempt(model);
    expect(failed.failure.type).toBe(code);
    expect(spentOf(failed)?.usage).toEqual({ inputTokens: 3, outputTokens: 2, costMicros: 230 });
  });

  it('counts together with earlier attempts', async () => {
    const failed = await attempt(fails('model_stream_broken', says), {
      attempt: 2,
      heartbeatDetails: LOST,
    });
    const usage = {
      ...{ inputTokens: 71, outputTokens: 21, cachedInputTokens: 8 },
      ...{ costMicros: 2_810, estimated: true },
    };
    expect(failed.beat?.spent).toEqual({ model: 'gpt-test', attempt: 2, usage });
    expect(spentOf(failed)).toEqual(failed.beat?.spent);
  });

  it('without output passes on the usage of earlier attempts', async () => {
    const failed = await attempt(fails('model_unavailable', nothing), {
      attempt: 2,
      heartbeatDetails: LOST,
    });
    expect(failed.beat?.spent).toEqual(LOST.spent);
    expect(spentOf(failed)).toEqual(LOST.spent);
  });

  it('because its worker stops counts the streamed text', async () => {
    const env = environment();
    const model = modelThat((options) => {
      streams(options);
      setTimeout(() => {
        env.cancel('WORKER_SHUTDOWN', new ActivityCancellationDetails({ workerShutdown: true }));
      }, 5);
      return new Promise(() => undefined);
    });
    const failure: unknown = await env
      .run(setUp({ model }).activities.callModel, modelInput())
      .catch((reason: unknown) => reason);
    expect((failure as ApplicationFailure).details?.[0]).toMatchObject({
      spent: { usage: { outputTokens: 13, estimated: true } },
    });
  });
});

describe('an attempt that is answered', () => {
  it('separates its own usage from that of earlier attempts', async () => {
    const model = modelThat(() => Promise.resolve());
    const env = environment({ attempt: 2, heartbeatDetails: LOST });
    const result = await env.run(setUp({ model }).activities.callModel, modelInput());
    expect(result).toMatchObject({
      attempt: 2,
      usage: { inputTokens: 3, outputTokens: 2, costMicros: 230 },
      earlierUsage: EARLIER,
    });
    expect(result.usage).not.toHaveProperty('estimated');
  });

  it('includes the usage of an earlier activity that lacked messages', async () => {
    const { activities } = setUp({ model: modelThat(() => Promise.resolve()) });
    const input = modelInput(LOST.spent === undefined ? {} : { spent: LOST.spent });
    expect((await environment().run(activities.callModel, input)).earlierUsage).toEqual(EARLIER);
  });

  it('has no earlier usage if there was no earlier attempt, or none with usage', async () => {
    const { activities } = setUp({ model: modelThat(() => Promise.resolve()) });
    const result = await environment({ attempt: 3 }).run(activities.callModel, modelInput());
    expect(result).not.toHaveProperty('earlierUsage');
  });
});

const SUMMARIZED = ['first', 'second', 'third'].map((text, index) => ({
  role: 'user' as const,
  id: `m${index}`,
  turnId: `turn_${index}`,
  parts: [{ type: 'text' as const, text }],
}));
const SUMMARY = {
  ...{ ...key, agent: 'support', ordinal: 1 },
  transcript: { epoch: 0, base: 0, append: SUMMARIZED },
};

describe('a summary', () => {
  it('counts all its attempts', async () => {
    const { activities } = setUp({ model: modelThat(() => Promise.resolve()) });
    const env = environment({ attempt: 2, heartbeatDetails: LOST });
    expect((await env.run(activities.summarize, SUMMARY)).usage).toEqual({
      ...{ inputTokens: 43, outputTokens: 6 },
      ...{ costMicros: 1_030, estimated: true },
    });
  });

  it('that breaks off passes its usage to the next attempt', async () => {
    const { activities } = setUp({ model: fails('model_stream_broken', streams) });
    const env = environment();
    const beats: unknown[] = [];
    env.onHeartbeat((details) => beats.push(details));
    await expect(env.run(activities.summarize, SUMMARY)).rejects.toThrow('no');
    expect(beats).toMatchObject([{ spent: { usage: { outputTokens: 13, estimated: true } } }]);
  });
});

describe('failed attempts of a summary', () => {
  const LIMITED = {
    ...{ attempt: 1, model: 'gpt-test', code: 'model_rate_limited', message: 'slow down' },
    ...{ httpStatus: 429, nextInMs: 2_000 },
  };

  it('are listed by the successful attempt, including those of lost workers', {
    ...promise('G176'),
  }, async () => {
    const { activities } = setUp({ model: modelThat(() => Promise.resolve()) });
    const env = environment({ attempt: 3, heartbeatDetails: { failed: [LIMITED] } });
    const { failedAttempts } = await env.run(activities.summarize, SUMMARY);
    expect(failedAttempts).toMatchObject([LIMITED, { attempt: 2, code: 'no_worker' }]);
    const first = await environment().run(activities.summarize, SUMMARY);
    expect(first).not.toHaveProperty('failedAttempts');
  });

  it("are passed to the next attempt, with the reason and the provider's answer", {
    ...promise('G176'),
  }, async () => {
    const error = { status: 429, headers: { 'retry-after': '2' }, error: { message: 'slow down' } };
    const { activities } = setUp({ model: modelThat(() => Promise.reject(toModelFailure(error))) });
    const env = environment();
    const beats: unknown[] = [];
    env.onHeartbeat((details) => beats.push(details));
    await expect(env.run(activities.summarize, SUMMARY)).rejects.toThrow('slow down');
    const message = 'The provider limits the rate of requests (429): slow down';
    expect(beats).toMatchObject([{ failed: [{ ...LIMITED, message }] }]);
  });
});

describe('a running attempt', () => {
  it('heartbeats its usage, from the moment when the provider starts to work', async () => {
    const env = environment({ attempt: 2, heartbeatTimeoutMs: 30, heartbeatDetails: LOST });
    const beats: ModelCallDetails[] = [];
    env.onHeartbeat((details) => beats.push(details as ModelCallDetails));
    const seen = async (what: string, holds: (last: ModelCallDetails) => boolean) => {
      await until(what, () => beats.at(-1), {
        holds: (last) => last !== undefined && holds(last),
      });
    };
    const model = modelThat(async (options) => {
      await seen('a heartbeat before all', ({ spent }) => spent?.attempt === 1);
      accepted(options);
      await seen('the prompt', ({ spent }) => (spent?.usage.inputTokens ?? 0) > 40);
      streams(options);
      await seen('the text', ({ spent }) => spent?.usage.outputTokens === 4 + 13);
    });
    await env.run(setUp({ model }).activities.callModel, modelInput());
    expect(beats[0]?.spent).toEqual(LOST.spent);
  });
});

describe('an attempt that is cancelled', () => {
  it.each([
    ['had streamed counts the text', streams, { outputTokens: 13, estimated: true }],
    ['had not started counts nothing', nothing, { inputTokens: 0, outputTokens: 0, costMicros: 0 }],
    ['had a reported usage counts that', says, { ...said, costMicros: 2_010 }],
  ] as const)('and %s', async (_what, before, usage) => {
    const env = environment({ attempt: 2, heartbeatDetails: LOST });
    const model = modelThat((options) => {
      before(options);
      setTimeout(() => env.cancel(), 5);
      return new Promise(() => undefined);
    });
    const result = await env.run(setUp({ model }).activities.callModel, modelInput());
    expect(result).toMatchObject({ aborted: true, usage, earlierUsage: EARLIER });
  });
});

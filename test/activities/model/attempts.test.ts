/** Failed attempts of a model call: shown live, and passed to the next attempt and the workflow. */
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { ModelFailure, toModelFailure } from '../../../src/model/shared/failure.js';
import {
  detailsIn,
  type FailedAttempt,
  type ModelCallDetails,
} from '../../../src/protocol/conversation/attempts.js';
import {
  MAX_ATTEMPT_TEXT_CHARS,
  MAX_FAILED_ATTEMPTS,
} from '../../../src/protocol/limits/limits.js';
import type { Model } from '../../../src/protocol/model/model.js';
import { TRANSCRIPT_MISS } from '../../../src/protocol/workflow/transcript-delta.js';
import { promise } from '../../support/promise.js';
import { answer, environment, modelInput, modelOf, setUp } from '../tools/fixtures.js';

const POLICY = {
  ...{ initialInterval: 500, backoffCoefficient: 2 },
  ...{ maximumInterval: 8_000, maximumAttempts: 10 },
};
const LIMITED = toModelFailure({
  status: 429,
  headers: { 'retry-after': '2' },
  error: { message: 'slow down' },
});
const FIRST: FailedAttempt = {
  ...{ attempt: 1, model: 'gpt-test', code: 'model_unavailable' },
  ...{ message: 'The provider could not answer (503)', httpStatus: 503, nextInMs: 500 },
};

async function failing(
  error: Error,
  info: Parameters<typeof environment>[0] = {},
  input: Parameters<typeof modelInput>[0] = {},
) {
  const env = environment({ retryPolicy: POLICY, ...info });
  const beats: ModelCallDetails[] = [];
  env.onHeartbeat((details) => beats.push(detailsIn(details)));
  const { activities, live } = setUp({ model: modelOf(() => Promise.reject(error)) });
  const failure: unknown = await env
    .run(activities.callModel, modelInput(input))
    .catch((reason: unknown) => reason);
  if (!(failure instanceof ApplicationFailure)) throw failure;
  return { failure, details: detailsIn(failure.details?.[0]), beat: beats.at(-1), live };
}

describe('an attempt that fails', () => {
  it("shows watchers the reason, the provider's answer, and the time of the next attempt", {
    ...promise('G102'),
  }, async () => {
    const { live, failure } = await failing(LIMITED);
    expect(live.at(-1)).toEqual({
      ...{ type: 'model_call_failed', turnId: 'turn_1', step: 2, attempt: 1 },
      ...{ messageId: 'turn_1.2', code: 'model_rate_limited' },
      message: 'The provider limits the rate of requests (429): slow down',
      ...{ httpStatus: 429, nextInMs: 2_000 },
    });
    expect(failure.nextRetryDelay).toBe(2_000);
  });

  it('is passed to the next attempt and to the workflow', async () => {
    const { details, beat } = await failing(LIMITED, {
      attempt: 2,
      heartbeatDetails: { failed: [FIRST] },
    });
    expect(details.failed).toMatchObject([
      FIRST,
      { attempt: 2, code: 'model_rate_limited', httpStatus: 429, nextInMs: 2_000 },
    ]);
    expect(beat?.failed).toEqual(details.failed);
  });

  it.each([
    [1, 500],
    [3, 2_000],
    [9, 8_000],
    // The last attempt; none follows.
    [10, undefined],
  ])("in attempt %i is followed by Temporal's pause: %s ms", async (attempt, nextInMs) => {
    const { live } = await failing(
      new ModelFailure('model_unavailable', 'down', { retryable: true }),
      {
        attempt,
      },
    );
    expect(live.at(-1)).toMatchObject({ type: 'model_call_failed', attempt });
    const { nextInMs: shown } = live.at(-1) as { readonly nextInMs?: number };
    expect(shown).toBe(nextInMs);
    expect(live.at(-1)).not.toHaveProperty('httpStatus');
  });

  it('permanently is followed by none', async () => {
    const { details, live } = await failing(
      toModelFailure({ status: 401, error: { message: 'no' } }),
    );
    expect(details.failed).toEqual([
      {
        ...{ attempt: 1, model: 'gpt-test', code: 'model_unauthorized', httpStatus: 401 },
        message: 'The provider refused the API key (401)',
      },
    ]);
    expect(live.at(-1)).not.toHaveProperty('nextInMs');
  });

  it('keeps a bounded number of earlier attempts, each with a bounded text', async () => {
    const failed = Array.from({ length: 50 }, (_, index) => ({ ...FIRST, attempt: index + 1 }));
    const long = new ModelFailure('model_unavailable', 'x'.repeat(5_000), { retryable: true });
    const { details } = await failing(long, { attempt: 51, heartbeatDetails: { failed } });
    expect(details.failed).toHaveLength(MAX_FAILED_ATTEMPTS);
    expect(details.failed?.at(-1)).toMatchObject({ attempt: 51 });
    expect(details.failed?.at(-1)?.message).toHaveLength(MAX_ATTEMPT_TEXT_CHARS);
  });

  it('for lack of messages is not shown live; the activity after it continues the count', {
    ...promise('G103'),
  }, async () => {
    const miss = ApplicationFailure.create({ type: TRANSCRIPT_MISS, nonRetryable: true });
    const { details, live } = await failing(miss, {
      attempt: 2,
      heartbeatDetails: { failed: [FIRST] },
    });
    expect(live.map(({ type }) => type)).toEqual(['model_call_started']);
    expect(details).toEqual({ failed: [FIRST], attempts: 2 });
    const next = await failing(LIMITED, {}, details);
    expect(next.details.failed?.map(({ attempt }) => attempt)).toEqual([1, 3]);
    expect(next.live.map((event) => 'attempt' in event && event.attempt)).toEqual([3, 3]);
  });
});

describe('an attempt that is answered', () => {
  const model: Model = modelOf(() => Promise.resolve(answer()));

  it('lists the failed attempts before it, including those of lost workers', {
    ...promise('G102'),
  }, async () => {
    const env = environment({ attempt: 3, heartbeatDetails: { failed: [FIRST] } });
    const result = await env.run(setUp({ model }).activities.callModel, modelInput());
    expect(result.failedAttempts).toEqual([
      FIRST,
      {
        ...{ attempt: 2, model: 'gpt-test', code: 'no_worker' },
        message: 'Nothing is known of it: its worker was lost',
      },
    ]);
  });

  it('lists nothing without failed attempts', async () => {
    const result = await environment().run(setUp({ model }).activities.callModel, modelInput());
    expect(result).not.toHaveProperty('failedAttempts');
  });
});

describe('details of heartbeats and failures', () => {
  it.each([
    ['nothing', undefined],
    ['a text', { failed: 'x' }],
    ['part of an attempt', { failed: [{ attempt: 1 }, null, 3] }],
    ['invalid numbers', { failed: [{ ...FIRST, attempt: -1 }], attempts: Number.NaN }],
  ])('of another version, with %s as attempts, count as none', (_what, details) => {
    expect(detailsIn(details)).toEqual({});
  });
});

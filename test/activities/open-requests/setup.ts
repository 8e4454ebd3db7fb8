/** Models whose responses keep running at the provider. */
import { ApplicationFailure } from '@temporalio/common';
import { expect } from 'vitest';
import { ModelFailure } from '../../../src/model/shared/failure.js';
import type { ModelCallDetails } from '../../../src/protocol/conversation/attempts.js';
import type { Model, ModelCallOptions } from '../../../src/protocol/model/model.js';
import { answer, environment, modelInput, modelOf, setUp } from '../tools/fixtures.js';

export const OPEN = {
  ...{ id: 'resp_1', model: 'gpt-test', attempt: 1 },
  usage: { inputTokens: 40, outputTokens: 20, estimated: true },
} as const;
export const SPENT = {
  ...{ model: 'gpt-test', attempt: 1 },
  usage: { inputTokens: 7, outputTokens: 1 },
} as const;
/** 13 tokens by the size estimate. */
export const STREAMED = 'These are forty bytes of a long answer. ';

export type Asking = (options: ModelCallOptions) => Promise<unknown>;

export interface Patient extends Model {
  readonly resumed: (string | undefined)[];
  readonly cancelled: string[];
}

export function patient(asking: Asking): Patient {
  const resumed: (string | undefined)[] = [];
  const cancelled: string[] = [];
  const model = modelOf(async (_request, options) => {
    resumed.push(options.resume);
    await asking(options);
    return answer();
  });
  const cancel = (id: string): Promise<void> => {
    cancelled.push(id);
    return Promise.resolve();
  };
  return { ...model, resumed, cancelled, cancel };
}

export const begins = ({ onEvent, onReport }: ModelCallOptions): void => {
  onReport?.({ type: 'accepted' });
  onReport?.({ type: 'open', id: 'resp_1' });
  onEvent({ type: 'text', text: STREAMED });
};

export const cut = (): Promise<never> =>
  Promise.reject(new ModelFailure('model_stream_broken', 'cut', { retryable: true }));

export type Info = Parameters<typeof environment>[0];

/** The running response and the usage that a failed attempt leaves. */
export async function failed(model: Model, info: Info = {}): Promise<ModelCallDetails> {
  const env = environment(info);
  let beat: unknown;
  env.onHeartbeat((details) => {
    beat = details;
  });
  const error: unknown = await env.run(setUp({ model }).activities.callModel, modelInput()).then(
    () => new Error('it was answered'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApplicationFailure)) throw error;
  const { attempts: _, ...details } = (error.details?.[0] ?? {}) as ModelCallDetails;
  // The next attempt gets the same details as the workflow.
  expect(beat ?? {}).toEqual(details);
  const { failed: _attempts, ...left } = details;
  return left;
}

export const second = (details: ModelCallDetails): Info => ({
  attempt: 2,
  heartbeatDetails: details,
});

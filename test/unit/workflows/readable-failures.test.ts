/** Failures of activities as foreign workers may report them: none of them may make the SDK throw at the activation. */
import {
  ActivityFailure,
  defaultFailureConverter,
  defaultPayloadConverter,
  type ProtoFailure,
} from '@temporalio/common';
import type { ActivateInput } from '@temporalio/workflow';
import { describe, expect, it, vi } from 'vitest';
import { lossOf, turnErrorOf } from '../../../src/workflows/activities/activity-losses.js';
import { ReadableFailures } from '../../../src/workflows/sandbox/readable-failures.js';
import { promise } from '../../support/promise.js';

vi.mock(import('@temporalio/workflow'), async (original) => {
  const { log, ...rest } = await original();
  return { ...rest, log: { ...log, warn: () => undefined } };
});

/** As the server wraps the failure that a worker has reported. */
function wrapped(cause: ProtoFailure | undefined): ProtoFailure {
  const activityFailureInfo = { activityType: { name: 'runTool' }, activityId: 'tool:x' };
  return { message: 'Activity task failed', activityFailureInfo, ...(cause && { cause }) };
}

/** The error that the workflow gets for the failure. */
function received(failure: ProtoFailure | undefined, as: 'failed' | 'cancelled'): Error {
  const result = { [as]: failure === undefined ? {} : { failure } };
  const activation = { jobs: [{ resolveActivity: { seq: 1, result } }] };
  let seen: unknown;
  const input = { activation, batchIndex: 0 } as unknown as ActivateInput;
  new ReadableFailures().activate(input, ({ activation: { jobs } }) => {
    const { failed, cancelled } = jobs?.[0]?.resolveActivity?.result ?? {};
    seen = (failed ?? cancelled)?.failure;
  });
  return defaultFailureConverter.failureToError(seen as ProtoFailure, defaultPayloadConverter);
}

/** A value that a newer server may send. */
const UNKNOWN = 99 as never;

const UNREADABLE: readonly (readonly [string, ProtoFailure])[] = [
  ['a child workflow without its type', { childWorkflowExecutionFailureInfo: {} }],
  ['an activity without its type', { activityFailureInfo: {} }],
  [
    'a reason that no version knows',
    { activityFailureInfo: { activityType: { name: 'x' }, retryState: UNKNOWN } },
  ],
  ['a timeout that no version knows', { timeoutFailureInfo: { timeoutType: UNKNOWN } }],
  ['a category that no version knows', { applicationFailureInfo: { category: UNKNOWN } }],
  ['a child workflow below another failure', { cause: { childWorkflowExecutionFailureInfo: {} } }],
];

describe('a failure that a foreign worker reports', promise('G300'), () => {
  it.each(UNREADABLE)('is a failure of its activity, also when it is of %s', (_of, failure) => {
    for (const as of ['failed', 'cancelled'] as const) {
      const error = received(wrapped(failure), as);
      expect(typeof turnErrorOf(error).code).toBe('string');
      expect(lossOf(error)).toMatchObject({ timedOut: expect.any(Boolean) as boolean });
    }
  });

  it('is a failure with the reason where the SDK cannot read it, or it is missing', () => {
    const [[, failure]] = UNREADABLE as [(typeof UNREADABLE)[number]];
    expect(lossOf(received(wrapped(failure), 'failed'))).toEqual({
      timedOut: false,
      code: 'unreadable_failure',
      message:
        'The failure cannot be read: Missing attributes on childWorkflowExecutionFailureInfo',
    });
    expect(lossOf(received(undefined, 'failed')).message).toBe(
      'The failure cannot be read: it is missing',
    );
  });

  it('stays as it is where the SDK can read it', () => {
    const readable = wrapped({ message: 'no', applicationFailureInfo: { type: 'x' } });
    const error = received(readable, 'failed');
    expect(error).toBeInstanceOf(ActivityFailure);
    expect(lossOf(error)).toEqual({ timedOut: false, message: 'no', code: 'x' });
  });
});

/**
 * Replaces failures of activities that the SDK cannot read. Any worker on a task queue may report one, such as a failure
 * of a child workflow without its type, and the SDK throws at it in each attempt: the workflow task would fail for ever.
 */
import {
  defaultFailureConverter,
  defaultPayloadConverter,
  type PayloadConverter,
} from '@temporalio/common';
import {
  type ActivateInput,
  log,
  type Next,
  type WorkflowInternalsInterceptor,
} from '@temporalio/workflow';

type Job = NonNullable<ActivateInput['activation']['jobs']>[number];
type Resolved = NonNullable<NonNullable<Job['resolveActivity']>['result']>;
/** The end of an activity that failed or was cancelled. */
type Ended = NonNullable<Resolved['failed'] | Resolved['cancelled']>;
type Failure = NonNullable<Ended['failure']>;

export class ReadableFailures implements WorkflowInternalsInterceptor {
  activate(input: ActivateInput, next: Next<WorkflowInternalsInterceptor, 'activate'>): void {
    for (const { resolveActivity } of input.activation.jobs ?? []) {
      const { failed, cancelled } = resolveActivity?.result ?? {};
      for (const ended of [failed, cancelled]) if (ended != null) replaceUnreadable(ended);
    }
    next(input);
  }
}

function replaceUnreadable(ended: Ended): void {
  const { failure } = ended;
  const problem = failure == null ? 'it is missing' : problemOf(failure);
  if (problem === undefined) return;
  log.warn('failure of an activity cannot be read', { problem });
  ended.failure = {
    message: `The failure cannot be read: ${problem}`,
    applicationFailureInfo: { type: 'unreadable_failure', nonRetryable: true },
  };
}

/** The failure converter of the worker is the SDK's own: a worker's options cannot bring another into the sandbox. */
function problemOf(failure: Failure): string | undefined {
  try {
    defaultFailureConverter.failureToError(failure, payloads);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Payloads are decoded by the engine's own converter, which throws at none; here they are of no interest. */
const payloads: PayloadConverter = {
  toPayload: (value) => defaultPayloadConverter.toPayload(value),
  fromPayload: <T>(): T => undefined as T,
};

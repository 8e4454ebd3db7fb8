/** Delivers the event of a trigger to its conversation, once, however often it is tried. */
import { ApplicationFailure } from '@temporalio/common';
import type { FailureCode } from '../../protocol/failures/failures.js';
import type { DeliverTriggerInput, TriggerDelivery } from '../../protocol/triggers/triggers.js';
import type { ActivityTools } from '../shared/deps.js';
import { toFailure } from '../shared/failure.js';

/** @throws ApplicationFailure that is retried, until the event is delivered or its conversation has ended */
export async function deliverTrigger(
  tools: ActivityTools,
  input: DeliverTriggerInput,
): Promise<TriggerDelivery> {
  const { triggers } = tools;
  if (triggers === undefined)
    throw ApplicationFailure.retryable(
      'This worker has no client of Temporal',
      'no_worker' satisfies FailureCode,
    );
  try {
    return await triggers.deliver(input);
  } catch (error) {
    throw toFailure(error, 'temporal_unreachable');
  }
}

/**
 * The workflow that a schedule of Temporal starts each time that a trigger falls due: schedules can start workflows
 * only. Has one activity deliver the event.
 */
import {
  ApplicationFailure,
  defineSearchAttributeKey,
  SearchAttributeType,
} from '@temporalio/common';
import { type ActivityOptions, workflowInfo } from '@temporalio/workflow';
import type { TriggerDelivery, TriggerInput } from '../protocol/triggers/triggers.js';
import { idProblem } from '../protocol/values/ids.js';
import { isRecord } from '../protocol/values/json.js';
import { activities, summaryOf } from './activities/schedule.js';

/**
 * Repeated until it is delivered: the conversation may be stuck, or its inbox full. Meanwhile the schedule skips the
 * events of the same trigger.
 */
const DELIVER_TRIGGER: ActivityOptions = {
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '2 minutes' },
};

/** Set by the server on each run that a schedule starts. */
const SCHEDULED_START = defineSearchAttributeKey(
  'TemporalScheduledStartTime',
  SearchAttributeType.DATETIME,
);

export async function trigger(input: TriggerInput): Promise<TriggerDelivery> {
  const problem = inputProblem(input);
  if (problem !== undefined)
    throw ApplicationFailure.nonRetryable(`trigger cannot run: ${problem}`, 'invalid_request');
  const { typedSearchAttributes, startTime } = workflowInfo();
  const scheduledAt = (typedSearchAttributes.get(SCHEDULED_START) ?? startTime).toISOString();
  const summary = summaryOf(`trigger ${input.triggerId} of ${scheduledAt}`);
  return await activities.deliverTrigger.executeWithOptions({ ...DELIVER_TRIGGER, summary }, [
    { ...input, scheduledAt },
  ]);
}

/** Why the argument is none of the engine's clients. */
function inputProblem(input: unknown): string | undefined {
  if (!isRecord(input)) return 'the argument must be an object';
  const named = ['tenant', 'conversationId', 'triggerId'].map((field) =>
    idProblem(field, input[field]),
  );
  return named.find((problem) => problem !== undefined);
}

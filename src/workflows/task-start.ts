/**
 * When the present workflow task was started, by the event with which it was. The clock of a workflow is not that: it moves on within the task when an
 * inline tool ends.
 */
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import type { ActivateInput, Next, WorkflowInternalsInterceptor } from '@temporalio/workflow';
import { isWithinTask } from '../protocol/activations.js';

let startedAt: number | undefined;

/** Milliseconds since 1970. Undefined before the first task. */
export function taskStartedAt(): number | undefined {
  return startedAt;
}

export class TaskStart implements WorkflowInternalsInterceptor {
  activate(input: ActivateInput, next: Next<WorkflowInternalsInterceptor, 'activate'>): void {
    const { jobs, timestamp } = input.activation;
    if (!isWithinTask(jobs) || startedAt === undefined) startedAt = optionalTsToMs(timestamp);
    next(input);
  }
}

/**
 * Refuses queries that would spoil a run in the memory of the worker.
 *
 * A worker that does not have a run in memory is sent its whole history with a query. While an update is on its way, that
 * history ends with a workflow task which exists in the memory of the server only (a "speculative" one). When the update is
 * refused, or its task is lost, the server gives the numbers of its events to others, but the SDK (core of 1.24) takes those
 * for events that it has seen: a signal, or the end of an activity, passes the workflow by, and what it decides from then on
 * can never be replayed (decision 17).
 *
 * Nothing tells such a history from another but its length: it is longer than what the tasks of the run have left in it. A
 * query that is refused here makes the worker forget the run; whoever asked asks again.
 */
import { ApplicationFailure } from '@temporalio/common';
import type {
  ActivateInput,
  ConcludeActivationInput,
  Next,
  WorkflowInternalsInterceptor,
} from '@temporalio/workflow';
import { QUERY_REFUSED } from '../protocol/messaging.js';

type Job = NonNullable<ActivateInput['activation']['jobs']>[number];
type Command = ConcludeActivationInput['commands'][number];

/** As the SDK calls it. */
const QUERY_BY_ITSELF = 'legacy_query';
const COMPLETION = 1;
/** Scheduling, start and end: of tasks that held nothing for the workflow, which is not told of them. */
const EVENTS_OF_A_TASK = 3;
/** Scheduling and start. */
const EVENTS_OF_A_TASK_UNDER_WAY = 2;

interface Task {
  /** Id of the event with which it was started. */
  readonly startedId: number;
  /** How many events its commands leave. */
  readonly left: number;
}

export class QueryGuard implements WorkflowInternalsInterceptor {
  /** The last task that stands in the history for certain: one that only refused updates may be dropped. */
  #task: Task = { startedId: 0, left: 0 };
  #startedId = 0;
  #isQuery = false;
  #isUpdate = false;

  activate(input: ActivateInput, next: Next<WorkflowInternalsInterceptor, 'activate'>): void {
    const { historyLength } = input.activation;
    const jobs = input.activation.jobs ?? [];
    const length = historyLength ?? 0;
    this.#isQuery = jobs.every(({ queryWorkflow }) => queryWorkflow != null);
    this.#isUpdate = jobs.every(({ doUpdate }) => doUpdate != null);
    if (!this.#isQuery) this.#startedId = length;
    else if (isAlone(jobs) && this.#endsInTask(length))
      throw ApplicationFailure.retryable(QUERY_REFUSED, 'query_refused');
    next(input);
  }

  concludeActivation(
    input: ConcludeActivationInput,
    next: Next<WorkflowInternalsInterceptor, 'concludeActivation'>,
  ): ConcludeActivationInput {
    const output = next(input);
    if (this.#isQuery) return output;
    let left = 0;
    for (const command of output.commands) left += eventsOf(command);
    if (this.#startedId === this.#task.startedId) left += this.#task.left;
    else if (this.#isUpdate && left === 0) return output;
    this.#task = { startedId: this.#startedId, left };
    return output;
  }

  #endsInTask(length: number): boolean {
    const { startedId, left } = this.#task;
    const unknown = length - startedId - COMPLETION - left;
    return unknown > 0 && unknown % EVENTS_OF_A_TASK === EVENTS_OF_A_TASK_UNDER_WAY;
  }
}

/** It did not come with a workflow task, but by itself. Refusing one that did would fail its task. */
function isAlone(jobs: readonly Job[]): boolean {
  return jobs.every(({ queryWorkflow }) => queryWorkflow?.queryId === QUERY_BY_ITSELF);
}

function eventsOf({ updateResponse, respondToQuery }: Command): number {
  return respondToQuery != null || updateResponse?.rejected != null ? 0 : 1;
}

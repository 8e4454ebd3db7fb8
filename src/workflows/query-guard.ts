/**
 * Refuses queries that would spoil a run in the memory of the worker (decision 19).
 *
 * A worker that is thought not to have a run in memory is sent its whole history with a query, up to the newest event. Two
 * things can be at its end that the SDK (core of 1.24) takes for more than they are:
 *
 * G1  A workflow task that exists in the memory of the server only (a "speculative" one), because it carries an update. When the
 *     update is refused, or its task is lost, the server gives the numbers of its events to others. The SDK takes those for
 *     events that it has seen: a signal, or the end of an activity, passes the workflow by.
 * G2  Signals and ends of activities whose task has not been started. The SDK lets the workflow decide about them on account of the
 *     query, and again about what comes until the task: a replay has all of it at once, and decides otherwise.
 *
 * After either, what the workflow decides can never be replayed. A query that is refused makes the worker forget the run;
 * whoever asked asks again.
 */
import { ApplicationFailure } from '@temporalio/common';
import type {
  ActivateInput,
  ConcludeActivationInput,
  Next,
  WorkflowInterceptors,
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

type Activation = ActivateInput['activation'];

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
  #isWithoutTask = false;
  #stamp = '';

  activate(input: ActivateInput, next: Next<WorkflowInternalsInterceptor, 'activate'>): void {
    const { activation } = input;
    const jobs = activation.jobs ?? [];
    const length = activation.historyLength ?? 0;
    this.#isQuery = jobs.every(({ queryWorkflow }) => queryWorkflow != null);
    this.#isUpdate = jobs.every(({ doUpdate }) => doUpdate != null);
    if (!this.#isQuery) this.#look(activation);
    else if (isAlone(jobs) && (this.#endsInTask(activation) || this.#isDecidedAlone(length)))
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

  #look(activation: Activation): void {
    const length = activation.historyLength ?? 0;
    const stamp = stampOf(activation);
    const isSame = stamp === this.#stamp;
    // The start of a task brings another time, and another size. Servers of tests may stand still; there it means nothing.
    // What is decided in several parts is so in all of them.
    if (length !== this.#startedId || !isSame)
      this.#isWithoutTask = length > this.#startedId && isSame;
    this.#startedId = length;
    this.#stamp = stamp;
  }

  /** G2. What the workflow has decided last was decided for this query. */
  #isDecidedAlone(length: number): boolean {
    return this.#isWithoutTask && length === this.#startedId;
  }

  /**
   * G1. The history is longer than what the tasks of the run have left in it, by the beginning of a task: one whose start the
   * workflow has not seen, or one that only refused updates, and may since have been dropped.
   */
  #endsInTask(activation: Activation): boolean {
    const length = activation.historyLength ?? 0;
    if (stampOf(activation) === this.#stamp && length !== this.#startedId) return false;
    const { startedId, left } = this.#task;
    const unknown = length - startedId - COMPLETION - left;
    return unknown > 0 && unknown % EVENTS_OF_A_TASK === EVENTS_OF_A_TASK_UNDER_WAY;
  }
}

/** Of the task that was started last: its time, and how large the history was then. */
function stampOf({ timestamp, historySizeBytes }: Activation): string {
  const { seconds, nanos } = timestamp ?? {};
  return `${String(seconds)}.${String(nanos)} ${String(historySizeBytes)}`;
}

/** It did not come with a workflow task, but by itself. Refusing one that did would fail its task. */
function isAlone(jobs: readonly Job[]): boolean {
  return jobs.every(({ queryWorkflow }) => queryWorkflow?.queryId === QUERY_BY_ITSELF);
}

function eventsOf({ updateResponse, respondToQuery }: Command): number {
  return respondToQuery != null || updateResponse?.rejected != null ? 0 : 1;
}

/** Bundled by itself: the time-skipping server of tests ends every history that it sends with a query in such a task. */
export const interceptors = (): WorkflowInterceptors => ({ internals: [new QueryGuard()] });

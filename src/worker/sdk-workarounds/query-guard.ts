/**
 * Refuses queries whose answer the history does not support (decision 19).
 *
 * When the server assumes that a worker does not have a run in memory, it sends the whole history with a query, up to
 * the newest event. The end of that history is not always what the SDK assumes (core of 1.24):
 *
 * - a workflow task that exists only in the memory of the server, because it carries an update or is a retry. When the
 *   update is refused, or the task is lost, the server assigns the ids of its events to other events. The SDK takes
 *   those for events that it has already seen, so the workflow misses a signal, or the end of an activity;
 * - signals and ends of activities whose task has not been started, or was started and has not been completed. The SDK
 *   lets the workflow decide on them because of the query. The task, or the next one when it is lost, adds later
 *   decisions, and both are recorded as one decision; a replay decides once;
 * - the start of a task that carries an update. The update is no event, so the workflow does not receive it, and the
 *   SDK has passed the place where it would be. Once another worker has accepted it, the SDK fails the next task of the
 *   run: "No command scheduled for event WorkflowExecutionUpdateAccepted".
 *
 * After the first two, the decisions of the workflow can never be replayed, and the run is stuck forever. So before a
 * standalone query is answered, the guard reads the history, unless nothing has arrived since its last read. A refused
 * query makes the worker forget the run; the client retries it.
 */
import { ApplicationFailure } from '@temporalio/common';
import type { Workflow, WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import { msOf } from '../../client/history/times.js';
import type { Run, TaskAttempt } from '../../projection/source/history-tail.js';
import { QUERY_REFUSED } from '../../protocol/workflow/query-refusal.js';
import type { HeldRun, IsSettled } from './settled.js';

type Activation = Parameters<Workflow['activate']>[0];
type Completion = Awaited<ReturnType<Workflow['activate']>>;

/**
 * The SDK's id of a query that came without a workflow task. Refusing one that came with its task would fail the task.
 */
const QUERY_BY_ITSELF = 'legacy_query';

/** Wraps a creator: queries of its workflows are answered only when the run is settled. */
export function withQueryGuard(creator: WorkflowCreator, isSettled: IsSettled): WorkflowCreator {
  return {
    createWorkflow: async (options) => {
      const { workflowId, runId } = options.info;
      return guarded(await creator.createWorkflow(options), (held) =>
        isSettled({ workflowId, runId } satisfies Run, held),
      );
    },
    destroy: () => creator.destroy(),
  };
}

function guarded(workflow: Workflow, isSettled: (held: HeldRun) => Promise<boolean>): Workflow {
  let decidedIn: TaskAttempt | undefined;
  let accepted = new Set<string>();
  let settledAt: number | undefined;
  return {
    activate: async (activation) => {
      const lastId = activation.historyLength ?? 0;
      if (isQuery(activation)) {
        if (isAlone(activation) && lastId !== settledAt) {
          const isDecided = decidedIn?.id === lastId;
          if (!(await isSettled({ lastId, decidedIn, ...(isDecided ? { accepted } : {}) })))
            throw ApplicationFailure.retryable(QUERY_REFUSED, 'query_refused');
          settledAt = lastId;
        }
        return await workflow.activate(activation);
      }
      settledAt = undefined;
      const completion = await workflow.activate(activation);
      if (activation.isReplaying === true) decidedIn = undefined;
      else if (!isRefusal(activation, completion)) {
        if (decidedIn?.id !== lastId) accepted = new Set();
        for (const id of acceptedBy(completion)) accepted.add(id);
        decidedIn = { id: lastId, startedAt: msOf(activation.timestamp) ?? 0 };
      }
      return completion;
    },
    getAndResetSinkCalls: () => workflow.getAndResetSinkCalls(),
    dispose: () => workflow.dispose(),
  };
}

function isQuery({ jobs }: Activation): boolean {
  return jobs?.every(({ queryWorkflow }) => queryWorkflow != null) === true;
}

function isAlone({ jobs }: Activation): boolean {
  return jobs?.every(({ queryWorkflow }) => queryWorkflow?.queryId === QUERY_BY_ITSELF) === true;
}

/** Protocol ids of the accepted updates. */
function acceptedBy({ successful }: Completion): readonly string[] {
  return (successful?.commands ?? []).flatMap(({ updateResponse }) =>
    updateResponse?.accepted == null ? [] : [updateResponse.protocolInstanceId ?? ''],
  );
}

/** True when a task only refused updates: the server may drop it as if it had never existed. */
function isRefusal({ jobs }: Activation, { successful }: Completion): boolean {
  return (
    jobs?.every(({ doUpdate }) => doUpdate != null) === true &&
    successful?.commands?.every(({ updateResponse }) => updateResponse?.rejected != null) === true
  );
}

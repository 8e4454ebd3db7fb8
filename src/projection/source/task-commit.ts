/**
 * Reads from the history on the server whether a workflow task of this worker was completed, or one that it replayed:
 * for a fraction of the cost of a query, and without a worker's answer.
 *
 * The event after a task's start decides. It counts if it is the completion of the task, by this very process, and the
 * start is that of this very attempt: attempts after the first share one place in the history, so that place may hold
 * another attempt, also of another worker.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { workflowIdFor } from '../../protocol/values/ids.js';
import type { HistoryProbe } from './history-probe.js';
import { type HistoryEvent, idOf, isCompletedBy, type TaskAttempt } from './history-tail.js';

export interface TaskOfRun {
  readonly runId: string;
  readonly task: TaskAttempt;
  /** By `performance.now()`: since then its completion is on its way. */
  readonly pushedAt: number;
  /** The task was replayed here, and completed by any worker. @defaultValue by this one */
  readonly byAnyWorker?: boolean;
}

export interface TaskCompletion {
  /**
   * Number of the run's history events; absent when later tasks were completed. While the history has no more, the run
   * has decided nothing since.
   */
  readonly historyLength?: number;
}

/** Undefined also when the history does not show the completion. Never throws. */
export type FindCompletion = (
  key: ConversationKey,
  target: TaskOfRun,
) => Promise<TaskCompletion | undefined>;

export interface CommittedOptions {
  /** The identity in this worker's completions; must be unique to it. */
  readonly identity: string;
}

const MAX_READS = 6;
const MIN_WAIT_MS = 1;
const MAX_WAIT_MS = 60;

type Finding = TaskCompletion | 'no' | 'not_yet';

/**
 * A hint is given just before its task is sent to the server, so the first read waits about as long as the completion
 * took lately: longer after a read that came too early, a little shorter after one that did not. A read that meets the
 * server while it processes the completion is not too early: the server answers it after that.
 */
export function createFindCompletion(
  probe: HistoryProbe,
  options: CommittedOptions,
): FindCompletion {
  const { identity } = options;
  let waitMs = MIN_WAIT_MS;
  const find = async (
    key: ConversationKey,
    { runId, task, byAnyWorker }: TaskOfRun,
  ): Promise<Finding> => {
    for await (const events of probe.tail({ workflowId: workflowIdFor(key), runId })) {
      const [newest] = events;
      if (newest === undefined || idOf(newest) <= task.id) return 'not_yet';
      const isCompleted = isCompletedBy(byAnyWorker === true ? undefined : identity, task, events);
      if (isCompleted !== undefined) return isCompleted ? completionOf(task, events) : 'no';
    }
    return 'no';
  };
  return async (key, target) => {
    if (probe.isUseless) return undefined;
    try {
      for (let tried = 1; tried <= MAX_READS; tried += 1) {
        const leftMs = tried === 1 ? target.pushedAt + waitMs - performance.now() : waitMs;
        if (leftMs > 0) await sleep(leftMs);
        const found = await find(key, target);
        if (found === 'not_yet') waitMs = Math.min(waitMs * 1.5, MAX_WAIT_MS);
        else {
          if (tried === 1) waitMs = Math.max(waitMs * 0.95, MIN_WAIT_MS);
          return found === 'no' ? undefined : found;
        }
      }
    } catch {
      // The probe logs its failures.
    }
    return undefined;
  };
}

/** `events`: from the newest event of the history, newest first, to the start of the task. */
function completionOf({ id }: TaskAttempt, events: readonly HistoryEvent[]): TaskCompletion {
  const isLast = !events.some(
    (event) => idOf(event) > id + 1 && event.workflowTaskCompletedEventAttributes != null,
  );
  const [newest] = events;
  return isLast && newest !== undefined ? { historyLength: idOf(newest) } : {};
}

/** Whether what a worker holds of a run is what the history has, and will have for ever (decision 19). */
import type { HistoryLooks } from '../../projection/source/history-probe.js';
import {
  type HistoryEvent,
  idOf,
  isCompletedBy,
  type Run,
  type TaskAttempt,
} from '../../projection/source/history-tail.js';

export interface HeldRun {
  /** Id of the last event that the worker knows. */
  readonly lastId: number;
  /** In which it has decided something last that was not a replay. Absent when it only replayed. */
  readonly decidedIn?: TaskAttempt | undefined;
  /** Protocol ids of the updates that it accepted in the task whose start is the last event that it knows. */
  readonly accepted?: ReadonlySet<string> | undefined;
}

/**
 * False when it cannot be said, too. True on a server that cannot be asked in this way (the one that skips time). Never throws.
 */
export type IsSettled = (run: Run, held: HeldRun) => Promise<boolean>;

export interface SettledOptions {
  /** What this worker's completions are signed with; must be its alone. */
  readonly identity: string;
}

/**
 * What a whole history ends with: a task and what it left, or what says nothing to the workflow. After anything else, a task is scheduled or under
 * way. An event with which a worker knows another one under the same number is never of these: what takes the places of a task that
 * vanished is the next task, or what the next task is for.
 */
const LAST: readonly (keyof HistoryEvent)[] = [
  'workflowTaskStartedEventAttributes',
  'workflowTaskCompletedEventAttributes',
  'activityTaskScheduledEventAttributes',
  'activityTaskCancelRequestedEventAttributes',
  'timerStartedEventAttributes',
  'timerCanceledEventAttributes',
  'markerRecordedEventAttributes',
  'upsertWorkflowSearchAttributesEventAttributes',
  'workflowPropertiesModifiedEventAttributes',
  'workflowExecutionUpdateAcceptedEventAttributes',
  'workflowExecutionUpdateCompletedEventAttributes',
  'workflowExecutionOptionsUpdatedEventAttributes',
  'workflowExecutionPausedEventAttributes',
  'workflowExecutionUnpausedEventAttributes',
];
/** No task comes after them, so nothing can be decided on what a query was answered from. */
const END_OF_RUN: readonly (keyof HistoryEvent)[] = [
  'workflowExecutionCompletedEventAttributes',
  'workflowExecutionContinuedAsNewEventAttributes',
  'workflowExecutionCanceledEventAttributes',
  'workflowExecutionFailedEventAttributes',
  'workflowExecutionTerminatedEventAttributes',
  'workflowExecutionTimedOutEventAttributes',
];

/** Looks at the history once for each question. */
export function createIsSettled(looks: HistoryLooks, { identity }: SettledOptions): IsSettled {
  return async (run, held) => {
    const { lastId, decidedIn } = held;
    if (looks.isUseless) return true;
    try {
      for await (const events of looks.tail(run)) {
        const [newest] = events;
        if (newest === undefined) return false;
        if (isOneOf(END_OF_RUN, newest)) return true;
        const last = events.find((event) => idOf(event) === lastId);
        const isEnd =
          last === undefined ? undefined : isOneOf(LAST, last) && isWhole(last, held, events);
        const isDecided = decidedIn === undefined || isCompletedBy(identity, decidedIn, events);
        if (idOf(newest) < lastId || isEnd === false || isDecided === false) return false;
        if (isEnd === true && isDecided === true) return true;
      }
    } catch {
      return looks.isUseless;
    }
    return false;
  };
}

/**
 * Whether a task that is the end of what the worker knows is over, and gave it all that it gave to whoever completed it: updates are no
 * events, so a worker that reads the history up to the start of a task misses those that the task carries.
 */
function isWhole(
  last: HistoryEvent,
  { lastId, accepted }: HeldRun,
  events: readonly HistoryEvent[],
): boolean {
  if (last.workflowTaskStartedEventAttributes == null) return true;
  const later = events.filter((event) => idOf(event) > lastId);
  const completions = later.filter((event) => event.workflowTaskCompletedEventAttributes != null);
  const ids = completions.map(idOf).toSorted((one, other) => one - other);
  const [completedId, nextId = Number.POSITIVE_INFINITY] = ids;
  if (completedId !== lastId + 1) return false;
  return later.every((event) => {
    const update = event.workflowExecutionUpdateAcceptedEventAttributes;
    if (update == null || idOf(event) > nextId) return true;
    return accepted?.has(update.protocolInstanceId ?? '') === true;
  });
}

function isOneOf(kinds: readonly (keyof HistoryEvent)[], event: HistoryEvent): boolean {
  return kinds.some((kind) => event[kind] != null);
}

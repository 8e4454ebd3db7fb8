/** Checks whether the events that a worker holds of a run are in the history for good (decision 19). */
import type { HistoryProbe } from '../../projection/source/history-probe.js';
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
  /** The task of its last decision that was not a replay. Absent when it only replayed. */
  readonly decidedIn?: TaskAttempt | undefined;
  /** Protocol ids of the updates that it accepted in the task whose start is the last event that it knows. */
  readonly accepted?: ReadonlySet<string> | undefined;
}

/**
 * Also false when the history does not answer the question. True on a server that cannot be read in this way (the
 * time-skipping one). Never throws.
 */
export type IsSettled = (run: Run, held: HeldRun) => Promise<boolean>;

export interface SettledOptions {
  /** The identity that signs this worker's completions; must be unique to it. */
  readonly identity: string;
}

/**
 * Last events of a complete history: a task and its commands, or events that are not passed to the workflow. After any
 * other event, a task is scheduled or in progress. An event whose id a worker knows for another event is never one of
 * these: the ids of a vanished task go to the next task, or to the events that cause it.
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
/** No task follows these events, so nothing can be decided on the basis of a query. */
const END_OF_RUN: readonly (keyof HistoryEvent)[] = [
  'workflowExecutionCompletedEventAttributes',
  'workflowExecutionContinuedAsNewEventAttributes',
  'workflowExecutionCanceledEventAttributes',
  'workflowExecutionFailedEventAttributes',
  'workflowExecutionTerminatedEventAttributes',
  'workflowExecutionTimedOutEventAttributes',
];

/** Reads the history once for each question. */
export function createIsSettled(probe: HistoryProbe, { identity }: SettledOptions): IsSettled {
  return async (run, held) => {
    const { lastId, decidedIn } = held;
    if (probe.isUseless) return true;
    try {
      for await (const events of probe.tail(run)) {
        const [newest] = events;
        if (newest === undefined) return false;
        if (isOneOf(END_OF_RUN, newest) && idOf(newest) === lastId) return true;
        const last = events.find((event) => idOf(event) === lastId);
        const isEnd =
          last === undefined ? undefined : isOneOf(LAST, last) && isWhole(last, held, events);
        const isDecided = decidedIn === undefined || isCompletedBy(identity, decidedIn, events);
        if (idOf(newest) < lastId || isEnd === false || isDecided === false) return false;
        if (isEnd === true && isDecided === true) return true;
      }
    } catch {
      return probe.isUseless;
    }
    return false;
  };
}

/**
 * True when a task at the end of the known events is completed, and the worker received everything that the completing
 * worker received. Updates are no events, so a worker that reads the history up to the start of a task misses the
 * updates that the task carries.
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

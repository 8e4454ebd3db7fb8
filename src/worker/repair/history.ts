/** Reads a history for a repair: completed tasks, activities and inputs, in their order. Pure. */
import type { Payload } from '@temporalio/common';
import { msOf } from '../../client/history/times.js';
import type { HistoryEvent } from '../../projection/source/history-tail.js';

/** A completed workflow task. */
export interface DoneTask {
  /** Ids of the events of its start and of its completion. */
  readonly startedId: number;
  readonly completedId: number;
  /** Start of the task in milliseconds since 1970: the time that its decisions have in the log. */
  readonly startedAtMs: number;
}

export interface ActivityRun {
  readonly activityId: string;
  readonly type: string;
  readonly scheduled: HistoryEvent;
  readonly scheduledId: number;
  /** Id of the completed task that scheduled it. */
  readonly byTask: number;
  /** Absent when no end is recorded: the activity may be running, or waiting. */
  readonly end?: HistoryEvent;
}

/** A signal in a history. */
export interface SignalEvent {
  readonly id: number;
  readonly name: string;
  readonly payloads: readonly Payload[] | null | undefined;
}

export function signalIn(event: HistoryEvent): SignalEvent | undefined {
  const signal = event.workflowExecutionSignaledEventAttributes;
  if (signal == null) return undefined;
  return { id: idOf(event), name: signal.signalName ?? '', payloads: signal.input?.payloads };
}

export function idOf({ eventId }: HistoryEvent): number {
  return Number(eventId);
}

export function timeOf({ eventTime }: HistoryEvent): number {
  return msOf(eventTime) ?? 0;
}

export function doneTasks(events: readonly HistoryEvent[]): readonly DoneTask[] {
  const byId = new Map(events.map((event) => [idOf(event), event]));
  return events.flatMap((event) => {
    const completed = event.workflowTaskCompletedEventAttributes;
    if (completed == null) return [];
    const startedId = Number(completed.startedEventId);
    const started = byId.get(startedId);
    if (started === undefined) return [];
    return [{ startedId, completedId: idOf(event), startedAtMs: timeOf(started) }];
  });
}

export function activityRuns(events: readonly HistoryEvent[]): readonly ActivityRun[] {
  const ends = new Map<number, HistoryEvent>();
  for (const event of events) {
    const scheduledId = endedActivity(event);
    if (scheduledId !== undefined) ends.set(scheduledId, event);
  }
  return events.flatMap((event) => {
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled == null) return [];
    const end = ends.get(idOf(event));
    return [
      {
        activityId: scheduled.activityId ?? '',
        type: scheduled.activityType?.name ?? '',
        scheduled: event,
        scheduledId: idOf(event),
        byTask: Number(scheduled.workflowTaskCompletedEventId),
        ...(end === undefined ? {} : { end }),
      },
    ];
  });
}

/** Id of the event that scheduled the activity which this event ended. */
export function endedActivity(event: HistoryEvent): number | undefined {
  const end =
    event.activityTaskCompletedEventAttributes ??
    event.activityTaskFailedEventAttributes ??
    event.activityTaskTimedOutEventAttributes ??
    event.activityTaskCanceledEventAttributes;
  return end == null ? undefined : Number(end.scheduledEventId);
}

/**
 * The events up to and including the decisions of a task, without later ones: only a whole number of decisions can be
 * replayed.
 */
export function through(events: readonly HistoryEvent[], task: DoneTask): readonly HistoryEvent[] {
  const from = events.findIndex((event) => idOf(event) === task.completedId);
  let to = from + 1;
  while (to < events.length && isDecision(events[to])) to += 1;
  return events.slice(0, to);
}

function isDecision(event: HistoryEvent | undefined): boolean {
  return (
    event !== undefined &&
    (event.activityTaskScheduledEventAttributes ??
      event.activityTaskCancelRequestedEventAttributes ??
      event.timerStartedEventAttributes ??
      event.timerCanceledEventAttributes ??
      event.markerRecordedEventAttributes ??
      event.upsertWorkflowSearchAttributesEventAttributes ??
      event.workflowPropertiesModifiedEventAttributes ??
      event.workflowExecutionUpdateAcceptedEventAttributes ??
      event.workflowExecutionUpdateCompletedEventAttributes ??
      event.workflowExecutionContinuedAsNewEventAttributes) != null
  );
}

/** Drops a trailing task that is scheduled or in progress: it may vanish. */
export function withoutPassing(events: readonly HistoryEvent[]): readonly HistoryEvent[] {
  let length = events.length;
  while (length > 0 && isPassing(events[length - 1])) length -= 1;
  return events.slice(0, length);
}

function isPassing(event: HistoryEvent | undefined): boolean {
  return (
    event?.workflowTaskScheduledEventAttributes != null ||
    event?.workflowTaskStartedEventAttributes != null
  );
}

/**
 * Finds how much of a run's history replays with the present workflow code, and what would become of the rest.
 *
 * P1  The history is kept up to the start of the first task that does not replay; that task is decided again.
 * P2  No tool with effects `once` is running at that point: the server would deliver it again before the workflow could
 *     prevent it. If one is, the history is cut before the task that scheduled it.
 */
import type { Client } from '@temporalio/client';
import { isOpenRun } from '../../client/temporal/executions.js';
import type { HistoryEvent } from '../../projection/source/history-tail.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import { type ConversationKey, workflowIdFor } from '../../protocol/values/ids.js';
import { SIGNALS } from '../../protocol/workflow/messaging.js';
import type { RecoveredEntry } from '../../protocol/workflow/recovery.js';
import type { EventLog } from '../../store/ports/log.js';
import {
  type ActivityRun,
  activityRuns,
  type DoneTask,
  doneTasks,
  idOf,
  signalIn,
  withoutPassing,
} from './history.js';
import { isLost, mustNotRepeat, recoveredEntries } from './recovered.js';
import { firstRefused, type ReplayOptions } from './replay.js';

export interface RepairDeps {
  readonly temporal: Client;
  readonly log: EventLog;
  readonly replay: ReplayOptions;
}

/** An activity of the discarded part. */
export interface ThrownActivity {
  readonly activityId: string;
  /** Absent for one that an earlier repair discarded. */
  readonly type?: string;
  /**
   * `recorded`: its end enters the new run. `unknown`: it may have happened, has effects `once`, and is not run again:
   * its tool is asked (`reconcile`), or the outcome is unknown. `again`: it runs again if the state still wants it.
   */
  readonly becomes: 'recorded' | 'unknown' | 'again';
}

export type RepairPlan =
  | { readonly status: 'not_running' }
  /** Every decision of the run replays: a reset would change nothing. */
  | { readonly status: 'replays'; readonly runId: string; readonly historyLength: number }
  | {
      readonly status: 'reset';
      readonly runId: string;
      readonly historyLength: number;
      /** Why the first task that does not replay was refused. */
      readonly error: string;
      /** Id of the completion event of the task that is decided again. */
      readonly resetTo: number;
      /** The same id in the server's own type. */
      readonly resetToId: NonNullable<HistoryEvent['eventId']> | null;
      readonly keptEvents: number;
      readonly thrownEvents: number;
      readonly activities: readonly ThrownActivity[];
      /** Inputs that enter the new run, besides those that the log already shows. */
      readonly inputs: readonly { readonly by: 'update' | 'signal'; readonly name: string }[];
      /** Number of events of the log that the new run adopts. */
      readonly loggedEvents: number;
      /** Contents of the discarded part that the new run does not get. */
      readonly warnings: readonly string[];
      readonly entries: readonly RecoveredEntry[];
    };

/** Plans a repair; changes nothing. @throws errors of the server or the store */
export async function planRepair(deps: RepairDeps, key: ConversationKey): Promise<RepairPlan> {
  const { temporal, log, replay } = deps;
  const handle = temporal.workflow.getHandle(workflowIdFor(key));
  const run = await handle.describe();
  if (!isOpenRun(run)) return { status: 'not_running' };
  const { runId } = run;
  const history = await temporal.workflow.getHandle(workflowIdFor(key), runId).fetchHistory();
  const events = withoutPassing(history.events ?? []);
  const historyLength = idOf(events.at(-1) ?? {});
  const tasks = doneTasks(events);
  const refused = await firstRefused(events, tasks, replay);
  if (refused === undefined) return { status: 'replays', runId, historyLength };
  const { error } = refused;
  const converter = temporal.options.loadedDataConverter;
  const runs = activityRuns(events);
  const task = await safePlace({ tasks, runs }, refused.place, (one) =>
    mustNotRepeat(one, converter),
  );
  const before = tasks.findLast(({ completedId }) => completedId < task.startedId);
  const logged = await loggedSince(log, key, before?.startedAtMs ?? 0);
  const { entries, warnings } = await recoveredEntries({ events, task, logged }, converter);
  const keptEvents = events.filter((event) => idOf(event) <= task.startedId).length;
  return {
    status: 'reset',
    ...{ runId, historyLength, error, keptEvents },
    resetTo: task.completedId,
    resetToId: events.find((event) => idOf(event) === task.completedId)?.eventId ?? null,
    thrownEvents: events.length - keptEvents,
    activities: thrownActivities(runs, task, entries),
    inputs: entries.flatMap((entry) =>
      entry.type === 'input' ? [{ by: entry.by, name: entry.name }] : [],
    ),
    loggedEvents: logged.length,
    warnings,
    entries,
  };
}

/** Finds the task to cut at, by P2. */
async function safePlace(
  { tasks, runs }: { readonly tasks: readonly DoneTask[]; readonly runs: readonly ActivityRun[] },
  refused: number,
  isOnce: (run: ActivityRun) => Promise<boolean>,
): Promise<DoneTask> {
  let place = refused;
  for (;;) {
    const task = tasks[place];
    if (task === undefined) throw new RangeError('the history has no completed task');
    const open = runs.filter(
      ({ scheduledId, end }) =>
        scheduledId < task.startedId && (end === undefined || idOf(end) > task.startedId),
    );
    const once = await Promise.all(open.map(isOnce));
    const earliest = open.find((_, nth) => once[nth] === true);
    if (earliest === undefined) return task;
    place = tasks.findIndex(({ completedId }) => completedId === earliest.byTask);
  }
}

/** Events of the newest generation whose time is not before `sinceMs`. */
async function loggedSince(
  log: EventLog,
  key: ConversationKey,
  sinceMs: number,
): Promise<readonly CanonicalEvent[]> {
  const events: CanonicalEvent[] = [];
  let after = 0;
  for (let more = true; more; ) {
    const page = await log.read(key, { afterSeq: after });
    if (page === undefined) return [];
    after = page.events.at(-1)?.seq ?? after;
    events.push(...page.events.filter(({ at }) => Date.parse(at) >= sinceMs));
    more = page.more;
  }
  return events;
}

function thrownActivities(
  runs: readonly ActivityRun[],
  task: DoneTask,
  entries: readonly RecoveredEntry[],
): readonly ThrownActivity[] {
  const ends = new Map(
    entries.flatMap((entry) => (entry.type === 'ended' ? [[entry.activityId, entry.end]] : [])),
  );
  const own = runs.filter(
    ({ end, scheduledId }) =>
      scheduledId > task.startedId || end === undefined || idOf(end) > task.startedId,
  );
  const ids = new Set(own.map(({ activityId }) => activityId));
  const earlier = [...ends].filter(([activityId]) => !ids.has(activityId));
  return [
    ...earlier.map(([activityId, end]): ThrownActivity => {
      return { activityId, becomes: isLost(end) ? 'unknown' : 'recorded' };
    }),
    ...own.map(({ activityId, type, end }): ThrownActivity => {
      if (end !== undefined && end.activityTaskCanceledEventAttributes == null)
        return { activityId, type, becomes: 'recorded' };
      return { activityId, type, becomes: ends.has(activityId) ? 'unknown' : 'again' };
    }),
  ];
}

/**
 * True when input of which a recovery must know has followed the planned history, or when the recovery of another
 * sender has followed that of the plan: the new run would take the newest.
 * @param own Ids of the signals that carry the recovery of the plan
 */
export function isOutdated(
  { historyLength }: Pick<Extract<RepairPlan, { status: 'reset' }>, 'historyLength'>,
  events: readonly HistoryEvent[],
  own: ReadonlySet<number>,
): boolean {
  const later = events.filter((event) => idOf(event) > historyLength);
  const sent = later.findIndex((event) => own.has(idOf(event)));
  const isForeign = (event: HistoryEvent): boolean =>
    signalIn(event)?.name === SIGNALS.recover && !own.has(idOf(event));
  return later.some((event, nth) => (nth < sent ? isDelivered(event) : isForeign(event)));
}

function isDelivered(event: HistoryEvent): boolean {
  return (
    (event.workflowExecutionSignaledEventAttributes ??
      event.workflowExecutionUpdateAcceptedEventAttributes ??
      event.activityTaskCompletedEventAttributes ??
      event.activityTaskFailedEventAttributes ??
      event.activityTaskTimedOutEventAttributes ??
      event.activityTaskCanceledEventAttributes ??
      event.workflowTaskCompletedEventAttributes) != null
  );
}

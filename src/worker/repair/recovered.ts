/** Turns the discarded part of a history into the entries of a recovery: see `protocol/workflow/recovery.ts`. */
import { type LoadedDataConverter, type Payload, TimeoutFailure } from '@temporalio/common';
import { decodedError, decodedValues } from '../../client/history/values.js';
import type { HistoryEvent } from '../../projection/source/history-tail.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import { isRecord, type Json } from '../../protocol/values/json.js';
import { SIGNALS } from '../../protocol/workflow/messaging.js';
import type { RecoveredEnd, RecoveredEntry } from '../../protocol/workflow/recovery.js';
import {
  type ActivityRun,
  activityRuns,
  type DoneTask,
  doneTasks,
  endedActivity,
  idOf,
} from './history.js';

export interface Thrown {
  readonly events: readonly HistoryEvent[];
  /** The history is kept up to the start of this task; the task and everything after it are discarded. */
  readonly task: DoneTask;
  /** Events of the log since about then; the entries adopt them. */
  readonly logged: readonly CanonicalEvent[];
}

type Converter = LoadedDataConverter;

/**
 * Returns the events of the log first, then what they do not show: inputs and ends of activities in the order of the
 * history.
 */
export async function recoveredEntries(
  thrown: Thrown,
  converter: Converter,
): Promise<readonly RecoveredEntry[]> {
  const { events, task, logged } = thrown;
  const shownUntil = Date.parse(logged.at(-1)?.at ?? new Date(0).toISOString());
  const tasks = doneTasks(events);
  const runs = activityRuns(events);
  const later = events.filter((event) => idOf(event) > task.startedId);
  const isShown = (event: HistoryEvent): boolean => {
    const by = takenBy(tasks, event);
    return by !== undefined && by.startedAtMs <= shownUntil;
  };
  const rest: RecoveredEntry[] = [];
  for (const event of later) {
    if (isShown(event)) continue;
    const entry = await recoveryEntryOf(event, runs, converter);
    if (entry !== undefined) rest.push(entry);
  }
  for (const run of runs)
    if (run.end === undefined && (await mustNotRepeat(run, converter)))
      rest.push({ type: 'ended', activityId: run.activityId, end: LOST });
  return [
    ...logged.map((event) => ({ type: 'event' as const, event })),
    ...turnTokens(runs),
    ...rest,
  ];
}

/** The end of an activity whose outcome is unknown. */
const LOST: RecoveredEnd = { as: 'timed_out', timeout: 'HEARTBEAT' };

/**
 * The completed task that has seen an event; undefined for none. An update is accepted by the task before its event.
 */
function takenBy(tasks: readonly DoneTask[], event: HistoryEvent): DoneTask | undefined {
  const id = idOf(event);
  return event.workflowExecutionUpdateAcceptedEventAttributes == null
    ? tasks.find(({ startedId }) => startedId > id)
    : tasks.findLast(({ completedId }) => completedId < id);
}

async function recoveryEntryOf(
  event: HistoryEvent,
  runs: readonly ActivityRun[],
  converter: Converter,
): Promise<RecoveredEntry | undefined> {
  const signal = event.workflowExecutionSignaledEventAttributes;
  if (signal != null) {
    const name = signal.signalName ?? '';
    if (name === SIGNALS.recover) return undefined;
    const input = await decoded(converter, signal.input?.payloads);
    return { type: 'input', by: 'signal', name, input };
  }
  const update = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input;
  if (update != null) {
    const input = await decoded(converter, update.args?.payloads);
    return { type: 'input', by: 'update', name: update.name ?? '', input };
  }
  const scheduledId = endedActivity(event);
  const run = runs.find((one) => one.scheduledId === scheduledId);
  if (run === undefined) return undefined;
  // An activity may run again under the same id, as a model call does whose worker lacked messages: only the last end
  // counts.
  if (runs.findLast(({ activityId }) => activityId === run.activityId) !== run) return undefined;
  const end = await endOf(event, converter);
  return { type: 'ended', activityId: run.activityId, end };
}

export async function endOf(event: HistoryEvent, converter: Converter): Promise<RecoveredEnd> {
  const completed = event.activityTaskCompletedEventAttributes;
  if (completed != null)
    return { as: 'completed', result: await decoded(converter, completed.result?.payloads) };
  if (event.activityTaskCanceledEventAttributes != null) return { as: 'cancelled' };
  const { failure } =
    event.activityTaskFailedEventAttributes ?? event.activityTaskTimedOutEventAttributes ?? {};
  const error = await decodedError(converter, failure);
  const heartbeat = failure?.timeoutFailureInfo?.lastHeartbeatDetails?.payloads;
  if (failure?.timeoutFailureInfo != null || failure?.applicationFailureInfo == null)
    return {
      as: 'timed_out',
      timeout: (error instanceof TimeoutFailure ? error.timeoutType : undefined) ?? 'HEARTBEAT',
      ...(heartbeat == null ? {} : { details: [await decoded(converter, heartbeat)] }),
    };
  const { type, details } = failure.applicationFailureInfo;
  return {
    as: 'failed',
    message: error?.message ?? '',
    ...(type == null || type === '' ? {} : { type }),
    ...(details?.payloads == null ? {} : { details: [await decoded(converter, details.payloads)] }),
  };
}

/** True for a tool with effects `once` that was started and has no end: it is not run again. */
export async function mustNotRepeat(run: ActivityRun, converter: Converter): Promise<boolean> {
  if (run.type !== 'runTool') return false;
  const payloads = run.scheduled.activityTaskScheduledEventAttributes?.input?.payloads;
  const input = await decoded(converter, payloads);
  const call = isRecord(input) ? input['call'] : undefined;
  return isRecord(call) && call['effects'] === 'once';
}

const MODEL_ID = /^model:turn_.+_([1-9]\d*)_([A-Za-z0-9]+):\d+$/;

/** Tokens of turns that the log does not show yet: the ids of their model calls contain them. */
function turnTokens(runs: readonly ActivityRun[]): readonly RecoveredEntry[] {
  const found = new Map<number, string>();
  for (const { activityId } of runs) {
    const [, ordinal, token] = MODEL_ID.exec(activityId) ?? [];
    if (ordinal !== undefined && token !== undefined) found.set(Number(ordinal), token);
  }
  return [...found].map(([ordinal, token]) => ({ type: 'turn_token', ordinal, token }));
}

/** Decodes the single argument or result. */
async function decoded(
  converter: Converter,
  payloads: readonly Payload[] | null | undefined,
): Promise<Json> {
  const [value] = await decodedValues(converter, payloads);
  return (value ?? null) as Json;
}

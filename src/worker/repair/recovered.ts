/** Turns the discarded part of a history into the entries of a recovery: see `protocol/workflow/recovery.ts`. */
import { type LoadedDataConverter, type Payload, TimeoutFailure } from '@temporalio/common';
import { decodedError, decodedValues } from '../../client/history/values.js';
import type { HistoryEvent } from '../../projection/source/history-tail.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import { isRecord, type Json } from '../../protocol/values/json.js';
import { SIGNALS, UNDECODABLE } from '../../protocol/workflow/messaging.js';
import type { RecoveredEnd, RecoveredEntry } from '../../protocol/workflow/recovery.js';
import { type EarlierRecovery, earlierRecoveries } from './earlier.js';
import {
  type ActivityRun,
  activityRuns,
  type DoneTask,
  doneTasks,
  endedActivity,
  idOf,
  signalIn,
} from './history.js';

export interface Thrown {
  readonly events: readonly HistoryEvent[];
  /** The history is kept up to the start of this task; the task and everything after it are discarded. */
  readonly task: DoneTask;
  /** Events of the log since about then; the entries adopt them. */
  readonly logged: readonly CanonicalEvent[];
}

type Converter = LoadedDataConverter;

export interface Recovered {
  readonly entries: readonly RecoveredEntry[];
  /** For the operator: contents that are not recovered. */
  readonly warnings: readonly string[];
}

/**
 * Returns the events of the log first, then what they do not show: inputs and ends of activities in the order of the
 * history.
 */
export async function recoveredEntries(thrown: Thrown, converter: Converter): Promise<Recovered> {
  const { events, logged } = thrown;
  const shownUntil = Date.parse(logged.at(-1)?.at ?? new Date(0).toISOString());
  const tasks = doneTasks(events);
  const runs = activityRuns(events);
  const isShown = (event: HistoryEvent): boolean => {
    const by = takenBy(tasks, event);
    return by !== undefined && by.startedAtMs <= shownUntil;
  };
  const earlier = await earlierRecoveries(events, converter);
  const rest: RecoveredEntry[] = [];
  const warnings: string[] = [];
  for (const event of discarded(thrown, tasks)) {
    const recovery = earlier.find(({ at }) => at === idOf(event));
    if (recovery !== undefined) rest.push(...leftOf(recovery, isShown(event)));
    if (isShown(event) || earlier.some(({ replaced }) => replaced.has(idOf(event)))) continue;
    const entry = await recoveryEntryOf(event, { runs, converter, warnings });
    if (entry !== undefined) rest.push(entry);
  }
  for (const run of runs)
    if (run.end === undefined && (await mustNotRepeat(run, converter)))
      rest.push({ type: 'ended', activityId: run.activityId, end: LOST });
  const entries = [
    ...logged.map((event) => ({ type: 'event' as const, event })),
    ...rest.filter(isTurnToken),
    ...turnTokens(runs),
    ...rest.filter((entry) => !isTurnToken(entry)),
  ];
  return { entries, warnings };
}

/**
 * The events of which a recovery must know: those behind the start of the task, and signals that the task took. The
 * history keeps these signals, but the run drops all signals that come before its recovery.
 */
function discarded({ events, task }: Thrown, tasks: readonly DoneTask[]): readonly HistoryEvent[] {
  const before = tasks.findLast(({ startedId }) => startedId < task.startedId)?.startedId ?? 0;
  return events.filter(
    (event) =>
      idOf(event) > task.startedId || (signalIn(event) !== undefined && idOf(event) > before),
  );
}

/**
 * The entries of an earlier recovery that are not in the log. The end of a tool run stays in any case: the run may not
 * have reached the call that wants it, and no two runs of a tool have the same id.
 */
function leftOf({ entries }: EarlierRecovery, isShown: boolean): readonly RecoveredEntry[] {
  return entries.filter((entry) => {
    if (entry.type === 'event') return false;
    if (entry.type === 'turn_token' || !isShown) return true;
    return entry.type === 'ended' && entry.activityId.startsWith('tool:');
  });
}

function isTurnToken({ type }: RecoveredEntry): boolean {
  return type === 'turn_token';
}

/** The end of an activity whose outcome is unknown. */
const LOST = { as: 'timed_out', timeout: 'HEARTBEAT' } as const satisfies RecoveredEnd;

export function isLost(end: RecoveredEnd): boolean {
  return end.as === 'timed_out' && end.timeout === LOST.timeout;
}

/**
 * The completed task that has seen an event; undefined for none. An update is accepted by the task before its event.
 */
function takenBy(tasks: readonly DoneTask[], event: HistoryEvent): DoneTask | undefined {
  const id = idOf(event);
  return event.workflowExecutionUpdateAcceptedEventAttributes == null
    ? tasks.find(({ startedId }) => startedId > id)
    : tasks.findLast(({ completedId }) => completedId < id);
}

interface Recovering {
  readonly runs: readonly ActivityRun[];
  readonly converter: Converter;
  readonly warnings: string[];
}

async function recoveryEntryOf(
  event: HistoryEvent,
  { runs, converter, warnings }: Recovering,
): Promise<RecoveredEntry | undefined> {
  const signal = signalIn(event);
  if (signal !== undefined) {
    const { id, name, payloads } = signal;
    if (name === SIGNALS.recover) return undefined;
    const input = await decoded(converter, payloads).catch(() => UNDECODABLE);
    if (input === UNDECODABLE)
      warnings.push(
        `signal "${name}" (event ${id}) cannot be decoded; it is applied without its content, as workflows do`,
      );
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
  if (end.as !== 'cancelled') return { type: 'ended', activityId: run.activityId, end };
  // The new run may want the work that this one cancelled, as when a time limit starts anew.
  return (await mustNotRepeat(run, converter))
    ? { type: 'ended', activityId: run.activityId, end: LOST }
    : undefined;
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

/** True for a run of a tool with effects `once`: without a known outcome it is not run again. */
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

/**
 * Reads canonical events from the conversation workflows themselves, by query, so that only committed state is
 * returned.
 */
import type { Client } from '@temporalio/client';
import {
  isGrpcServiceError,
  QueryRejectedError,
  WorkflowClient,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { isoOf } from '../../client/history/times.js';
import { decodedValues } from '../../client/history/values.js';
import { isOpenRun } from '../../client/temporal/executions.js';
import { REPORTED_PROBLEMS, troubleOf } from '../../client/temporal/find-trouble.js';
import type { RunEnded } from '../../protocol/log/events.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { parseWorkflowId, workflowIdFor } from '../../protocol/values/ids.js';
import { isRecord } from '../../protocol/values/json.js';
import type { Trouble } from '../../protocol/values/trouble.js';
import { RESTORE_STATE } from '../../protocol/workflow/activities.js';
import type { CarriedState, EventsPage, Hint } from '../../protocol/workflow/messaging.js';
import { WORKFLOW_TYPE } from '../../protocol/workflow/messaging.js';
import { type EventsWanted, queryEvents } from './events-query.js';
import type { HistoryEvent } from './history-tail.js';

/** How a run was ended from outside its own code. */
export type EndedBy = RunEnded['status'];

export interface WorkflowDescription {
  readonly runId: string;
  /** Number of history events of that run. */
  readonly historyLength: number;
  readonly status: 'running' | 'closed';
  /** Present when the run did not end by itself: it emits no more events, and must not be queried. */
  readonly endedBy?: EndedBy;
  /** ISO 8601; when a run is closed. */
  readonly closedAt?: string;
  /** Attempts at its workflow task that failed since one was completed. Absent if there are none. */
  readonly trouble?: Trouble;
}

/**
 * The run was ended from outside. A query would replay it past its last completed task and could return events that
 * were never committed, so none is sent.
 */
export class RunEndedFromOutside extends Error {
  constructor() {
    super('The run was ended from outside');
    this.name = 'RunEndedFromOutside';
  }
}

/** The server does not have the run (any more). */
export class RunUnknown extends Error {
  constructor() {
    super('The run is not known to Temporal');
    this.name = 'RunUnknown';
  }
}

/** The state at the start of a run. */
export interface RunStart {
  /** ISO 8601 */
  readonly at: string;
  /** Absent when it began without state. */
  readonly carried?: CarriedState;
}

/** A page, with the number of history events at which the run had nothing after it, where that is known. */
export type SourcePage = EventsPage & { readonly historyLength?: number };

export interface WorkflowSource {
  /** The task queue whose conversations it lists. Absent: it lists those of all. */
  readonly taskQueue?: string | undefined;
  /**
   * One page of events after a seq. Rejects when no worker answers in time.
   * @throws {RunEndedFromOutside} when the run was terminated, timed out or failed.
   * @throws {RunUnknown} when the server does not have the run any more.
   */
  events(key: ConversationKey, query: EventsWanted): Promise<SourcePage>;
  /** The current run, or the given one; needs no worker. Undefined when the server does not have it (any more). */
  describe(key: ConversationKey, runId?: string): Promise<WorkflowDescription | undefined>;
  /**
   * The run before one of the same conversation: the one that it was continued from, or the last one before it was
   * opened again. Undefined when the server has none (any more). Absent if the source cannot find it.
   */
  previousRun?(key: ConversationKey, runId: string): Promise<string | undefined>;
  /**
   * The state at the start of a run, also one that the run restored; needs no worker. Undefined when the server does not
   * have the run. Absent if the source cannot find it.
   */
  startOf?(key: ConversationKey, runId: string): Promise<RunStart | undefined>;
  /**
   * Lets any worker answer the next query of a run. Without it the server waits for the worker that has the run in its
   * memory, up to `STICKY_TIMEOUT_MS`, also when that worker was lost. One that is alive replays the run once more.
   * Absent if the source cannot.
   */
  forgetWorker?(key: ConversationKey, runId: string): Promise<void>;
  /** Takes the events of a hint, for later pages. Never throws. Absent if every page is queried. */
  pushed?(hint: Hint): void;
  /** Conversations whose workflows run now. Absent if the source cannot list. */
  running?(): AsyncIterable<ConversationKey>;
  /**
   * Conversations that the server itself reports as failing or slow; none if it reports none. Absent if the source
   * cannot list.
   */
  reported?(): AsyncIterable<ConversationKey>;
  /**
   * Conversations of which a run was closed by its own code; the same one more than once. Absent if the source cannot
   * list.
   */
  closed?(): AsyncIterable<ConversationKey>;
}

/**
 * Milliseconds for requests that need no worker: a connection that drops requests must not hold a lane, a pass or an
 * HTTP read for long.
 */
const CHECK_DEADLINE_MS = 3_000;

const ENDED_BY: Readonly<Record<string, EndedBy>> = {
  TERMINATED: 'terminated',
  FAILED: 'failed',
  TIMED_OUT: 'timed_out',
};
/** `WorkflowExecutionStatus` of Temporal's API, as in the error of a refused query. */
const ENDED_BY_CODES: readonly number[] = [3, 5, 7];

/**
 * Reads through a Temporal client; each query has 1 s (`QUERY_DEADLINE_MS`), because a workflow buffers only one, a
 * patient query 2 s, or 4 s if it can be given up (`PATIENT_QUERY_MS`), every other request `checkDeadlineMs`.
 */
export function createWorkflowSource(
  client: Client,
  options: {
    /**
     * Lists conversations of this task queue only: the namespace may have those of other installations, which must not
     * enter this one's log. @defaultValue all
     */
    readonly taskQueue?: string | undefined;
    readonly checkDeadlineMs?: number;
  } = {},
): WorkflowSource {
  const { taskQueue, checkDeadlineMs = CHECK_DEADLINE_MS } = options;
  const timed = async <Result>(work: () => Promise<Result>): Promise<Result> =>
    await client.withDeadline(Date.now() + checkDeadlineMs, work);
  const careful = withRejection(client);
  const list = (condition: string) => listed(client, timed, { condition, taskQueue });
  return {
    taskQueue,
    events: async (key, wanted) => {
      try {
        return await queryEvents(client, careful, { ...wanted, key });
      } catch (error) {
        if (isNotFound(error)) throw new RunUnknown();
        if (!(error instanceof QueryRejectedError)) throw error;
        if (ENDED_BY_CODES.includes(error.status)) throw new RunEndedFromOutside();
        // Cancelled or rolled over: closed by its own code, so its history is whole.
        return await queryEvents(client, client.workflow, { ...wanted, key });
      }
    },
    describe: async (key, ofRun) => {
      try {
        const handle = client.workflow.getHandle(workflowIdFor(key), ofRun);
        const run = await timed(() => handle.describe());
        const { runId, historyLength, status, closeTime } = run;
        const endedBy = ENDED_BY[status.name];
        const trouble = await timed(() => troubleOf(client, run));
        return {
          runId,
          historyLength,
          status: isOpenRun(run) ? 'running' : 'closed',
          ...(endedBy === undefined ? {} : { endedBy }),
          ...(closeTime === undefined ? {} : { closedAt: closeTime.toISOString() }),
          ...(trouble === undefined ? {} : { trouble }),
        };
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return undefined;
        throw error;
      }
    },
    forgetWorker: async (key, runId) => {
      const execution = { workflowId: workflowIdFor(key), runId };
      const { namespace } = client.options;
      await timed(() => client.workflowService.resetStickyTaskQueue({ namespace, execution }));
    },
    previousRun: async (key, runId) => await previousRun(client, timed, { key, runId }),
    startOf: async (key, runId) => await startOf(client, timed, { key, runId }),
    reported: () => list(`${REPORTED_PROBLEMS} IS NOT NULL AND ExecutionStatus = 'Running'`),
    running: () => list(`ExecutionStatus = 'Running'`),
    closed: () => list(`ExecutionStatus IN ('Completed', 'Canceled')`),
  };
}

/** Name of the lease of those who do a work with what the source lists: one at a time for each task queue. */
export function leaseName(work: string, { taskQueue }: Pick<WorkflowSource, 'taskQueue'>): string {
  return taskQueue === undefined ? work : `${work}:${taskQueue}`;
}

/** Newest first, 1,000 in a call. */
async function* listed(
  client: Client,
  timed: WithDeadline,
  { condition, taskQueue }: { readonly condition: string; readonly taskQueue: string | undefined },
): AsyncGenerator<ConversationKey, void, undefined> {
  // The server finds no name with a double quote or a backslash, however it is quoted.
  const isPlain = taskQueue !== undefined && !/['"\\]/.test(taskQueue);
  const ofQueue = isPlain ? ` AND TaskQueue = '${taskQueue}'` : '';
  const query = `WorkflowType = '${WORKFLOW_TYPE}' AND ${condition}${ofQueue}`;
  const runs = client.workflow.list({ query })[Symbol.asyncIterator]();
  for (;;) {
    const next = await timed(() => runs.next());
    if (next.done === true) return;
    if (taskQueue !== undefined && next.value.taskQueue !== taskQueue) continue;
    const key = parseWorkflowId(next.value.workflowId);
    if (key !== undefined) yield key;
  }
}

type WithDeadline = <Result>(work: () => Promise<Result>) => Promise<Result>;

interface Run {
  readonly key: ConversationKey;
  readonly runId: string;
}

interface HistoryPage {
  readonly maximumPageSize: number;
  readonly nextPageToken?: Uint8Array;
}

const HISTORY_PAGE = 50;

/** One page of the events of a run, from the first on. @throws errors of the server: NOT_FOUND for an unknown run */
async function historyPage(
  client: Client,
  timed: WithDeadline,
  { key, runId, ...page }: Run & HistoryPage,
) {
  return await timed(() =>
    client.workflowService.getWorkflowExecutionHistory({
      namespace: client.options.namespace,
      execution: { workflowId: workflowIdFor(key), runId },
      ...page,
    }),
  );
}

async function firstEvent(
  client: Client,
  timed: WithDeadline,
  run: Run,
): Promise<HistoryEvent | undefined> {
  const { history } = await historyPage(client, timed, { ...run, maximumPageSize: 1 });
  return history?.events?.[0];
}

async function startOf(
  client: Client,
  timed: WithDeadline,
  run: Run,
): Promise<RunStart | undefined> {
  try {
    const event = await firstEvent(client, timed, run);
    const payloads = event?.workflowExecutionStartedEventAttributes?.input?.payloads;
    const [input] = await decodedValues(client.options.loadedDataConverter, payloads);
    const given = isRecord(input) ? input : {};
    const carried =
      given['reopen'] === undefined && given['fork'] === undefined
        ? given['carried']
        : await restored(client, timed, run);
    const at = isoOf(event?.eventTime, 'eventTime');
    return { at, ...(carried === undefined ? {} : { carried: carried as CarriedState }) };
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** The state that a run has restored; undefined when it has none (yet). Tries and inputs may precede it. */
async function restored(client: Client, timed: WithDeadline, run: Run): Promise<unknown> {
  const tries = new Set<string>();
  for (let nextPageToken: Uint8Array = new Uint8Array(); ; ) {
    const page = { ...run, maximumPageSize: HISTORY_PAGE, nextPageToken };
    const found = await historyPage(client, timed, page);
    for (const event of found.history?.events ?? []) {
      if (event.activityTaskScheduledEventAttributes?.activityType?.name === RESTORE_STATE)
        tries.add(String(event.eventId));
      const end = event.activityTaskCompletedEventAttributes;
      if (end == null || !tries.has(String(end.scheduledEventId))) continue;
      const [state] = await decodedValues(client.options.loadedDataConverter, end.result?.payloads);
      return state;
    }
    ({ nextPageToken } = found);
    if (nextPageToken.length === 0) return undefined;
  }
}

async function previousRun(
  client: Client,
  timed: WithDeadline,
  { key, runId }: Run,
): Promise<string | undefined> {
  const workflowId = workflowIdFor(key);
  try {
    const event = await firstEvent(client, timed, { key, runId });
    const started = event?.workflowExecutionStartedEventAttributes;
    const continuedFrom = started?.continuedExecutionRunId ?? '';
    if (continuedFrom !== '') return continuedFrom;
    const { startTime } = await timed(() =>
      client.workflow.getHandle(workflowId, runId).describe(),
    );
    // The first run of its chain; a conversation that was closed and opened again has earlier chains.
    let newest: { readonly runId: string; readonly startTime: Date } | undefined;
    for await (const run of client.workflow.list({ query: `WorkflowId = '${workflowId}'` }))
      if (run.startTime < startTime && (newest === undefined || run.startTime > newest.startTime))
        newest = run;
    return newest?.runId;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** gRPC status NOT_FOUND; the history of a run is read without a handle, whose errors have a class for it. */
const NOT_FOUND = 5;

function isNotFound(error: unknown): boolean {
  if (error instanceof WorkflowNotFoundError) return true;
  const code: number | undefined = isGrpcServiceError(error) ? error.code : undefined;
  return code === NOT_FOUND;
}

/** The same client, but the server refuses its queries of runs that did not complete. */
function withRejection(client: Client): WorkflowClient {
  const { connection, workflow } = client;
  const dataConverter = workflow.options.loadedDataConverter;
  const queryRejectCondition = 'NOT_COMPLETED_CLEANLY';
  return new WorkflowClient({
    ...workflow.options,
    connection,
    dataConverter,
    queryRejectCondition,
  });
}

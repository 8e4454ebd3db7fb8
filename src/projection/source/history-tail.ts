/**
 * The end of a run's history as the server keeps it, newest first: no worker has to answer, and tasks that may vanish
 * are not in it.
 */
import type { Client } from '@temporalio/client';
import { msOf } from '../../client/history/times.js';

export type HistoryEvent = NonNullable<
  NonNullable<
    Awaited<ReturnType<Client['workflowService']['getWorkflowExecutionHistoryReverse']>>['history']
  >['events']
>[number];

export interface Run {
  readonly workflowId: string;
  readonly runId: string;
}

/** One of the attempts at a workflow task; those after the first share one place in the history. */
export interface TaskAttempt {
  /** Id of the event that started it. */
  readonly id: number;
  /** Time of that event, in milliseconds since 1970. */
  readonly startedAt: number;
}

/**
 * Transactions of the history on each page: the server reads and decodes whole ones. The end of a task and the start in
 * the transaction before mostly stand in the newest; those that are deeper than these pages are not found.
 */
const PAGES = [2, 5] as const;
const READ_DEADLINE_MS = 1_000;

/**
 * Events, newest first, first the newest few and then more. @throws errors of the server, or a time-out after a second
 */
export async function* historyTail(
  client: Client,
  run: Run,
): AsyncGenerator<readonly HistoryEvent[], void, undefined> {
  let nextPageToken: Uint8Array | undefined;
  const events: HistoryEvent[] = [];
  for (const maximumPageSize of PAGES) {
    const found = await client.withDeadline(Date.now() + READ_DEADLINE_MS, () =>
      client.workflowService.getWorkflowExecutionHistoryReverse({
        namespace: client.options.namespace,
        execution: run,
        maximumPageSize,
        ...(nextPageToken === undefined ? {} : { nextPageToken }),
      }),
    );
    events.push(...(found.history?.events ?? []));
    yield events;
    nextPageToken = found.nextPageToken;
    // An empty token would request the newest page again.
    if (nextPageToken.length === 0) return;
  }
}

/** The newest transactions of a history, newest event first, in one page. @throws as above */
export async function newestEvents(
  client: Client,
  run: Run,
  transactions: number,
): Promise<readonly HistoryEvent[]> {
  const { history } = await client.withDeadline(Date.now() + READ_DEADLINE_MS, () =>
    client.workflowService.getWorkflowExecutionHistoryReverse({
      namespace: client.options.namespace,
      execution: run,
      maximumPageSize: transactions,
    }),
  );
  return history?.events ?? [];
}

export function idOf({ eventId }: HistoryEvent): number {
  return Number(eventId);
}

/** Whether exactly this attempt was completed, by that worker process, or any. Undefined when the events do not show it. */
export function isCompletedBy(
  identity: string | undefined,
  { id, startedAt }: TaskAttempt,
  events: readonly HistoryEvent[],
): boolean | undefined {
  const end = events.find((event) => idOf(event) === id + 1);
  if (end === undefined) return undefined;
  const completed = end.workflowTaskCompletedEventAttributes;
  if (completed == null || Number(completed.startedEventId) !== id) return false;
  if (identity !== undefined && completed.identity !== identity) return false;
  const start = events.find((event) => idOf(event) === id);
  return start === undefined ? undefined : msOf(start.eventTime) === startedAt;
}

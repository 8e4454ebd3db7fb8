/** The end of a run's history as the server keeps it, newest first: no worker has to answer, and tasks that may vanish are not in it. */
import type { Client } from '@temporalio/client';

export type HistoryEvent = NonNullable<
  NonNullable<
    Awaited<ReturnType<Client['workflowService']['getWorkflowExecutionHistoryReverse']>>['history']
  >['events']
>[number];

export interface Run {
  readonly workflowId: string;
  readonly runId: string;
}

/**
 * Transactions of the history on each page: the server reads and decodes whole ones. What is looked for mostly stands in the newest;
 * what is buried deeper than these is not found.
 */
const PAGES = [1, 5] as const;
const LOOK_DEADLINE_MS = 1_000;
/** gRPC status UNIMPLEMENTED: an old server, or the one that skips time. */
const UNIMPLEMENTED = 12;

/** Pages of events, newest first. @throws what the server answers, or that it did not within a second */
export async function* historyTail(
  client: Client,
  run: Run,
): AsyncGenerator<readonly HistoryEvent[], void, undefined> {
  let nextPageToken: Uint8Array | undefined;
  for (const maximumPageSize of PAGES) {
    const found = await client.withDeadline(Date.now() + LOOK_DEADLINE_MS, () =>
      client.workflowService.getWorkflowExecutionHistoryReverse({
        namespace: client.options.namespace,
        execution: run,
        maximumPageSize,
        ...(nextPageToken === undefined ? {} : { nextPageToken }),
      }),
    );
    yield found.history?.events ?? [];
    nextPageToken = found.nextPageToken;
  }
}

export function idOf({ eventId }: HistoryEvent): number {
  return Number(eventId);
}

/** The completion of the task that was started with event `task`, by that worker process. */
export function isCompletionBy(identity: string, event: HistoryEvent, task: number): boolean {
  const completed = event.workflowTaskCompletedEventAttributes;
  return completed?.identity === identity && Number(completed.startedEventId) === task;
}

/** The server has no such history to read, now or later. */
export function isUnknownToServer(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === UNIMPLEMENTED;
}

/**
 * Whether a workflow task of this worker was completed, read from the history on the server: a fraction of what a query
 * costs, and no worker has to answer.
 *
 * The event after a task's start says what became of it. It counts when it is its completion, by this very process:
 * attempts after the first share one place in the history, so another worker's may stand there.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { ConversationKey } from '../protocol/ids.js';
import { workflowIdFor } from '../protocol/ids.js';

export interface TaskOfRun {
  readonly runId: string;
  /** Id of the history event with which the task was started. */
  readonly task: number;
}

/** False when it cannot be said, too. Never throws. */
export type IsCommitted = (key: ConversationKey, target: TaskOfRun) => Promise<boolean>;

export interface CommittedOptions {
  /** What this worker's completions are signed with; must be its alone. */
  readonly identity: string;
}

/**
 * Transactions of the history on each page, newest first: the server reads and decodes whole ones. The completion mostly stands
 * in the newest; what is buried deeper than these is left to a query.
 */
const PAGES = [1, 5] as const;
const LOOK_DEADLINE_MS = 1_000;
const MAX_LOOKS = 6;
const MIN_WAIT_MS = 1;
const MAX_WAIT_MS = 60;
/** gRPC status UNIMPLEMENTED: an old server, or the one that skips time. */
const UNIMPLEMENTED = 12;

type HistoryEvent = NonNullable<
  NonNullable<
    Awaited<ReturnType<Client['workflowService']['getWorkflowExecutionHistoryReverse']>>['history']
  >['events']
>[number];
type Look = 'yes' | 'no' | 'not_yet';

/**
 * A hint is given just before its task is sent to the server, so the first look waits for about as long as that took
 * lately: longer after a look that came too early, a little shorter after one that did not.
 */
export function createIsCommitted(client: Client, options: CommittedOptions): IsCommitted {
  const { identity } = options;
  let waitMs = MIN_WAIT_MS;
  let isUnknownToServer = false;
  const look = async (key: ConversationKey, { runId, task }: TaskOfRun): Promise<Look> => {
    const execution = { workflowId: workflowIdFor(key), runId };
    let nextPageToken: Uint8Array | undefined;
    for (const [page, maximumPageSize] of PAGES.entries()) {
      const found = await client.withDeadline(Date.now() + LOOK_DEADLINE_MS, () =>
        client.workflowService.getWorkflowExecutionHistoryReverse({
          namespace: client.options.namespace,
          execution,
          maximumPageSize,
          ...(nextPageToken === undefined ? {} : { nextPageToken }),
        }),
      );
      const events = found.history?.events ?? [];
      if (page === 0 && Number(events[0]?.eventId ?? 0) <= task) return 'not_yet';
      const next = events.find(({ eventId }) => Number(eventId) === task + 1);
      if (next !== undefined) return isCompletionBy(identity, next, task) ? 'yes' : 'no';
      nextPageToken = found.nextPageToken;
    }
    return 'no';
  };
  return async (key, target) => {
    if (isUnknownToServer) return false;
    try {
      for (let looks = 1; looks <= MAX_LOOKS; looks += 1) {
        await sleep(waitMs);
        const found = await look(key, target);
        if (found === 'not_yet') waitMs = Math.min(waitMs * 1.5, MAX_WAIT_MS);
        else {
          if (looks === 1) waitMs = Math.max(waitMs * 0.95, MIN_WAIT_MS);
          return found === 'yes';
        }
      }
    } catch (error) {
      isUnknownToServer = codeOf(error) === UNIMPLEMENTED;
    }
    return false;
  };
}

function isCompletionBy(identity: string, event: HistoryEvent, task: number): boolean {
  const completed = event.workflowTaskCompletedEventAttributes;
  return completed?.identity === identity && Number(completed.startedEventId) === task;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

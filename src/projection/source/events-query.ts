/** The query for the events of a run, with its deadline, or until it is given up. */
import type { Client, WorkflowClient } from '@temporalio/client';
import { retryQuery } from '../../client/temporal/query-retry.js';
import {
  PATIENT_QUERY_MS,
  QUERY_DEADLINE_MS,
  STICKY_TIMEOUT_MS,
} from '../../protocol/limits/service-limits.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { workflowIdFor } from '../../protocol/values/ids.js';
import { type EventsPage, type EventsQuery, QUERIES } from '../../protocol/workflow/messaging.js';

export interface EventsWanted {
  readonly after: number;
  /** @defaultValue the current run */
  readonly runId?: string;
  /** A page through this seq is enough, however far the run is: it may come from pushed events. */
  readonly upTo?: number;
  /** The caller has the events through this seq, and compares them only. @defaultValue 0 */
  readonly stored?: number;
  /**
   * The worker that held the run may be gone: unless it was forgotten (`forgetWorker`), the server waits for that one
   * first (`STICKY_TIMEOUT_MS`), then asks any other. A query that is given up before that has no answer.
   */
  readonly patient?: true;
  /** Gives the query up, as a failure: another one would have its answer sooner. */
  readonly signal?: AbortSignal;
}

/** `asked`: the client that sends it, of the same connection as `client`. @throws the reason of the wanted signal */
export async function queryEvents(
  client: Client,
  asked: WorkflowClient,
  { key, after, runId, patient, signal }: EventsWanted & { readonly key: ConversationKey },
): Promise<EventsPage> {
  signal?.throwIfAborted();
  const handle = asked.getHandle(workflowIdFor(key), runId);
  const ask = () => handle.query<EventsPage, [EventsQuery]>(QUERIES.events, { after });
  const deadline = Date.now() + (patient === true ? patienceOf(signal) : QUERY_DEADLINE_MS);
  if (signal === undefined) return await client.withDeadline(deadline, () => retryQuery(ask));
  const answer = client.withDeadline(deadline, () =>
    // Each try adds a listener to its signal that the SDK does not remove, so each has a signal of its own.
    retryQuery(() => client.withAbortSignal(AbortSignal.any([signal]), ask)),
  );
  return await Promise.race([answer, abortOf(signal)]);
}

/** A query that nothing can give up holds up its sweep, its roll-over, or the end of its worker. */
function patienceOf(signal: AbortSignal | undefined): number {
  return signal === undefined ? QUERY_DEADLINE_MS + STICKY_TIMEOUT_MS : PATIENT_QUERY_MS;
}

/** Rejects at once; the SDK does not cancel a call that it repeats. */
async function abortOf(signal: AbortSignal): Promise<never> {
  return await new Promise((_resolve, reject) => {
    const abort = (): void => {
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', abort, { once: true });
  });
}

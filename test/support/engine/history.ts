/** Temporal's records of a conversation, as lists that a test can compare. */
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { CompressionCodec } from '../../../src/client/payloads/payload-codec.js';
import { until } from '../until.js';

type History = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>;
export type HistoryEvent = NonNullable<History['events']>[number];

/**
 * Causes of the server's own: an event came while the task was being completed (1), or more came than the server
 * buffers (17). The server makes a new task at once; no code of the engine has failed.
 */
const SERVERS_OWN: readonly number[] = [1, 17];
const ATTRIBUTES = /^(.+)EventAttributes$/;

/** The name of an event's type, such as `ActivityTaskScheduled`. */
export function typeOf(event: HistoryEvent): string {
  for (const [key, value] of Object.entries(event)) {
    const name = ATTRIBUTES.exec(key)?.[1];
    if (name !== undefined && value !== null && value !== undefined)
      return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  }
  return 'Unknown';
}

/** The type with the name that distinguishes an event of its kind: activity, update or signal. */
export function lineOf(event: HistoryEvent): string {
  const type = typeOf(event);
  const subject =
    event.activityTaskScheduledEventAttributes?.activityType?.name ??
    event.workflowExecutionSignaledEventAttributes?.signalName ??
    event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input?.name;
  return subject === undefined || subject === null ? type : `${type} ${subject}`;
}

/** Every payload in a value of Temporal's API. */
export function payloadsIn(value: unknown): readonly Payload[] {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return [];
  if ('data' in value && 'metadata' in value) return [value as Payload];
  return Object.values(value).flatMap(payloadsIn);
}

async function restore(payload: Payload): Promise<void> {
  const [restored] = await new CompressionCodec().decode([payload]);
  Object.assign(payload, restored);
}

export class EngineHistory {
  readonly #temporal: Client;

  constructor(temporal: Client) {
    this.#temporal = temporal;
  }

  async describe(workflowId: string, runId?: string): Promise<WorkflowExecutionDescription> {
    return await this.#temporal.workflow.getHandle(workflowId, runId).describe();
  }

  /** With payloads as they were before compression. */
  async events(workflowId: string, runId?: string): Promise<readonly HistoryEvent[]> {
    const events = await this.storedEvents(workflowId, runId);
    await Promise.all(payloadsIn(events).map(restore));
    return events;
  }

  /** As the server has them. */
  async storedEvents(workflowId: string, runId?: string): Promise<readonly HistoryEvent[]> {
    const history = await this.#temporal.workflow.getHandle(workflowId, runId).fetchHistory();
    return history.events ?? [];
  }

  async lines(workflowId: string, runId?: string): Promise<readonly string[]> {
    return (await this.events(workflowId, runId)).map(lineOf);
  }

  /**
   * The length of the history once no task and no activity is running: a pending call may be reported before that.
   */
  async count(workflowId: string): Promise<number> {
    const { historyLength } = await until(
      `nothing is under way in ${workflowId}`,
      () => this.describe(workflowId),
      {
        holds: ({ raw }) => !raw.pendingWorkflowTask && (raw.pendingActivities ?? []).length === 0,
      },
    );
    return historyLength;
  }

  /** Run ids of a conversation, the first run first. */
  async runs(workflowId: string): Promise<readonly string[]> {
    const runs: string[] = [];
    let runId: string | undefined = (await this.describe(workflowId)).runId;
    while (runId !== undefined && runId !== '') {
      runs.unshift(runId);
      const [started] = await this.events(workflowId, runId);
      runId =
        started?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? undefined;
    }
    return runs;
  }

  /** Failed tasks of a run: no input may cause one. */
  async failedTasks(workflowId: string, runId?: string): Promise<readonly string[]> {
    const events = await this.events(workflowId, runId);
    return events
      .flatMap(({ workflowTaskFailedEventAttributes: failed }) => (failed ? [failed] : []))
      .filter(({ cause }) => !SERVERS_OWN.includes(Number(cause)))
      .map(
        ({ cause, failure }) =>
          `cause ${String(cause)}: ${failure?.message ?? ''} ${failure?.stackTrace ?? ''}`,
      );
  }
}

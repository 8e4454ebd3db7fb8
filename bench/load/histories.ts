/** The sum of the histories of all runs of one conversation, read as it grows: each run is read once it has ended. */
import type { Client } from '@temporalio/client';
import { CompressionCodec } from 'colloquy/client';

export type History = Awaited<
  ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>
>;

/** The server limits pages by count only; a page of its default length may exceed the client's limit (4 MiB). */
const PAGE_EVENTS = 40;

export interface HistorySum {
  readonly runs: number;
  readonly events: number;
  readonly bytes: number;
  readonly modelCalls: number;
  /** Bytes of the inputs of model calls. */
  readonly modelBytes: number;
}

interface Run {
  readonly runId: string;
  readonly history: History;
  readonly bytes: number;
}

export class Histories {
  readonly #temporal: Client;
  readonly #workflowId: string;
  #ended: HistorySum = { runs: 0, events: 0, bytes: 0, modelCalls: 0, modelBytes: 0 };
  #lastEnded: string | undefined;
  #longest: Run | undefined;

  constructor(temporal: Client, workflowId: string) {
    this.#temporal = temporal;
    this.#workflowId = workflowId;
  }

  /** The sum over all runs until now. */
  async sum(): Promise<HistorySum> {
    const runs = await this.#newRuns();
    let sum = this.#ended;
    for (const [index, run] of runs.entries()) {
      sum = await added(sum, run);
      if (index < runs.length - 1) {
        this.#ended = sum;
        this.#lastEnded = run.runId;
      }
      if (run.bytes >= (this.#longest?.bytes ?? 0)) this.#longest = run;
    }
    return sum;
  }

  /** The largest run by bytes among those that `sum` has read. */
  get longest(): Run | undefined {
    return this.#longest;
  }

  /** Runs that were not seen as ended yet, oldest first. */
  async #newRuns(): Promise<readonly Run[]> {
    const runs: Run[] = [];
    let runId: string | undefined;
    do {
      const handle = this.#temporal.workflow.getHandle(this.#workflowId, runId);
      const described = await handle.describe();
      const history = await this.#read(described.runId);
      runs.unshift({ runId: described.runId, history, bytes: described.historySize ?? 0 });
      const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
      runId = started?.continuedExecutionRunId ?? '';
    } while (runId !== '' && runId !== this.#lastEnded);
    return runs;
  }

  async #read(runId: string): Promise<History> {
    const { workflowService, options } = this.#temporal;
    const execution = { workflowId: this.#workflowId, runId };
    const events: NonNullable<History['events']> = [];
    let nextPageToken: Uint8Array = new Uint8Array();
    do {
      const page = await workflowService.getWorkflowExecutionHistory({
        namespace: options.namespace,
        execution,
        maximumPageSize: PAGE_EVENTS,
        nextPageToken,
      });
      events.push(...(page.history?.events ?? []));
      nextPageToken = page.nextPageToken;
    } while (nextPageToken.length > 0);
    return { events };
  }
}

async function added(sum: HistorySum, { history, bytes }: Run): Promise<HistorySum> {
  const events = history.events ?? [];
  let { modelCalls, modelBytes } = sum;
  for (const { activityTaskScheduledEventAttributes: activity } of events) {
    if (activity?.activityType?.name !== 'callModel') continue;
    modelCalls += 1;
    // Counts the input as the activity receives it, not as history stores it.
    const payloads = await new CompressionCodec().decode(activity.input?.payloads ?? []);
    for (const { data } of payloads) modelBytes += data?.length ?? 0;
  }
  return {
    runs: sum.runs + 1,
    events: sum.events + events.length,
    bytes: sum.bytes + bytes,
    modelCalls,
    modelBytes,
  };
}

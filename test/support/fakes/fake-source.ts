/** Workflows as the projector sees them: runs with events, read in pages, with every failure that may occur. */
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  EndedBy,
  RunStart,
  WorkflowDescription,
  WorkflowSource,
} from '../../../src/projection/source/workflow-source.js';
import { RunEndedFromOutside, RunUnknown } from '../../../src/projection/source/workflow-source.js';
import type { CanonicalEvent } from '../../../src/protocol/log/events.js';
import type { ConversationKey } from '../../../src/protocol/values/ids.js';
import { conversationKey } from '../../../src/protocol/values/ids.js';
import type { CarriedState, EventsPage, Hint } from '../../../src/protocol/workflow/messaging.js';
import { KEY } from '../samples/log-events.js';

export interface FakeRun {
  readonly runId: string;
  events: readonly CanonicalEvent[];
  /** Seq before the first event of the run, as carried over. */
  carriedSeq?: number;
  status?: 'running' | 'closed';
  /** Closed from outside: queries are refused. */
  endedBy?: EndedBy;
  historyLength?: number;
  /** The start state of the run. */
  carried?: CarriedState;
  /** The run before this one. */
  previous?: string;
}

export class FakeSource implements WorkflowSource {
  /** Runs of each conversation, the current one last. */
  readonly runs = new Map<string, FakeRun[]>();
  readonly queries: { readonly after: number; readonly runId: string | undefined }[] = [];
  /** Each run that any worker may answer for, and the number of the query that follows. */
  readonly forgotten: string[] = [];
  refusesToForget = false;
  describes = 0;
  pageSize = 1_000;
  queryMs = 0;
  failing = false;
  /** A run that does not answer. */
  silent: string | undefined;
  most = 0;
  pushed?: (hint: Hint) => void;
  readonly #inFlight = new Map<string, number>();

  set(run: FakeRun, key: ConversationKey = KEY): void {
    this.runs.set(conversationKey(key), [run]);
  }

  addRun(run: FakeRun, key: ConversationKey = KEY): void {
    this.runs.get(conversationKey(key))?.push(run);
  }

  current(key: ConversationKey = KEY): FakeRun | undefined {
    return this.runs.get(conversationKey(key))?.at(-1);
  }

  hint(more: Partial<Hint> = {}): Hint {
    const run = this.current();
    const seq = run?.events.at(-1)?.seq ?? 0;
    return { ...KEY, runId: run?.runId ?? 'run-a', seq, urgency: 'later', ...more };
  }

  async events(
    key: ConversationKey,
    query: { readonly after: number; readonly runId?: string },
  ): Promise<EventsPage> {
    const name = conversationKey(key);
    this.queries.push({ after: query.after, runId: query.runId });
    const inFlight = (this.#inFlight.get(name) ?? 0) + 1;
    this.#inFlight.set(name, inFlight);
    this.most = Math.max(this.most, inFlight);
    try {
      if (this.queryMs > 0) await sleep(this.queryMs);
      if (this.failing || (this.silent !== undefined && query.runId === this.silent))
        throw new Error('no worker answers');
      const runs = this.runs.get(name) ?? [];
      const run =
        query.runId === undefined ? runs.at(-1) : runs.find((one) => one.runId === query.runId);
      if (run === undefined) throw new RunUnknown();
      if (run.endedBy !== undefined) throw new RunEndedFromOutside();
      const rest = run.events.filter((event) => event.seq > query.after);
      const lastSeq = run.events.at(-1)?.seq ?? run.carriedSeq ?? 0;
      const firstSeq = run.events[0]?.seq ?? lastSeq + 1;
      const events = rest.slice(0, this.pageSize);
      return { events, lastSeq, firstSeq, more: rest.length > events.length };
    } finally {
      this.#inFlight.set(name, (this.#inFlight.get(name) ?? 1) - 1);
    }
  }

  async startOf(key: ConversationKey, runId: string): Promise<RunStart | undefined> {
    const run = await this.#run(key, runId);
    if (run === undefined) return undefined;
    const { carried } = run;
    return { at: '2030-01-15T00:00:00.000Z', ...(carried === undefined ? {} : { carried }) };
  }

  async forgetWorker({ conversationId }: ConversationKey, runId: string): Promise<void> {
    await Promise.resolve();
    this.forgotten.push(`${conversationId} ${runId} before query ${this.queries.length + 1}`);
    if (this.refusesToForget) throw new Error('not allowed');
  }

  async previousRun(key: ConversationKey, runId: string): Promise<string | undefined> {
    return (await this.#run(key, runId))?.previous;
  }

  async #run(key: ConversationKey, runId: string): Promise<FakeRun | undefined> {
    await Promise.resolve();
    return this.runs.get(conversationKey(key))?.find((run) => run.runId === runId);
  }

  async describe(key: ConversationKey, ofRun?: string): Promise<WorkflowDescription | undefined> {
    this.describes += 1;
    const run = ofRun === undefined ? this.current(key) : await this.#run(key, ofRun);
    if (run === undefined) return undefined;
    const { runId, events, historyLength = events.length * 3, endedBy } = run;
    const { status = endedBy === undefined ? 'running' : 'closed' } = run;
    const closedAt = '2030-02-01T00:00:00.000Z';
    return {
      runId,
      historyLength,
      status,
      ...(status === 'closed' ? { closedAt } : {}),
      ...(endedBy === undefined ? {} : { endedBy }),
    };
  }

  async *closed(): AsyncGenerator<ConversationKey> {
    await Promise.resolve();
    for (const [name, runs] of this.runs) {
      const [tenant = '', conversationId = ''] = name.split('/');
      if (runs.some(({ status, endedBy }) => status === 'closed' && endedBy === undefined))
        yield { tenant, conversationId };
    }
  }

  async *running(): AsyncGenerator<ConversationKey> {
    await Promise.resolve();
    for (const [name, runs] of this.runs) {
      const [tenant = '', conversationId = ''] = name.split('/');
      const run = runs.at(-1);
      if (run?.endedBy === undefined && run?.status !== 'closed') yield { tenant, conversationId };
    }
  }
}

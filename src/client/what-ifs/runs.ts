/** The workflows of what-ifs on the server, which keeps their results for its retention. Safe to repeat. */
import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionDescription,
  type WorkflowExecutionInfo,
  WorkflowFailedError,
} from '@temporalio/client';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { LRUCache } from 'lru-cache';
import {
  UPDATE_DEADLINE_MS,
  WORKFLOW_TASK_TIMEOUT_MS,
} from '../../protocol/limits/service-limits.js';
import type { ConversationKey, TurnId } from '../../protocol/values/ids.js';
import { isRecord } from '../../protocol/values/json.js';
import { WHAT_IF_WORKFLOW_TYPE } from '../../protocol/workflow/messaging.js';
import {
  type WhatIfInput,
  type WhatIfOutcome,
  type WhatIfResult,
  whatIfPrefixOf,
  whatIfWorkflowId,
} from '../../protocol/workflow/what-if.js';
import { unlessGone } from '../temporal/errors.js';
import { isOpenRun } from '../temporal/executions.js';
import { MAX_FAIRNESS_KEY_BYTES } from '../temporal/start-options.js';

/** Describes a what-if without a worker. */
export interface WhatIfMemo extends Pick<WhatIfInput, 'generation' | 'agent'> {
  /** Start of the conversation that had the id when the what-if was begun. */
  readonly startedAt: string;
  readonly turnId: TurnId;
  readonly model?: string;
  /** Digest of the request: another request under the same id has another one. */
  readonly digest: string;
}

export type WhatIfRun = { readonly memo: WhatIfMemo; readonly runId: string } & (
  | {
      readonly state: 'running';
      /** No worker has taken its next task. */
      readonly isWaiting: boolean;
    }
  | { readonly state: 'over'; readonly result: WhatIfResult }
);

/** A run as the server lists it, which does not include its result. */
export interface ListedRun {
  readonly whatIfId: string;
  readonly runId: string;
  readonly memo: WhatIfMemo;
  readonly begunAt: Date;
  /** Absent while it runs. */
  readonly endedAt?: Date;
}

/** End of a run as a list shows it, without the steps. */
export type WhatIfListedEnd = WhatIfOutcome & {
  readonly usage: WhatIfResult['usage'];
  readonly stepCount: number;
};

/** An end without its steps is a few hundred bytes. */
const MAX_KNOWN_ENDS = 1_000;

const NO_STEPS = { steps: [], usage: { inputTokens: 0, outputTokens: 0 } };

type WhatIfWorkflow = (input: WhatIfInput) => Promise<WhatIfResult>;

export class WhatIfRuns {
  readonly #temporal: Client;
  /** By run id: the end of a run never changes. */
  readonly #ends = new LRUCache<string, WhatIfListedEnd>({ max: MAX_KNOWN_ENDS });

  constructor(temporal: Client) {
    this.#temporal = temporal;
  }

  /**
   * Durable as soon as it returns, with or without a worker. False when there is one of that id. `ofNow`: start of the
   * conversation that has the id now, also where an older generation of its log is read.
   */
  async start(
    input: WhatIfInput,
    about: { readonly taskQueue: string; readonly digest: string; readonly ofNow: string },
  ): Promise<boolean> {
    const { tenant, conversationId, whatIfId, generation, agent, turnId, model } = input;
    const { taskQueue, digest, ofNow: startedAt } = about;
    const memo: WhatIfMemo = {
      ...{ startedAt, generation, agent, turnId, digest },
      ...(model === undefined ? {} : { model }),
    };
    try {
      await this.#within(() =>
        this.#temporal.workflow.start<WhatIfWorkflow>(WHAT_IF_WORKFLOW_TYPE, {
          workflowId: whatIfWorkflowId(input, whatIfId),
          taskQueue,
          args: [input],
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
          workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
          staticSummary: `what if: ${conversationId}`,
          memo: { ...memo },
          priority: { fairnessKey: tenant.slice(0, MAX_FAIRNESS_KEY_BYTES) },
        }),
      );
      return true;
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
      throw error;
    }
  }

  /** Undefined when the server has none of that id (any more). Needs no worker. */
  async find(key: ConversationKey, whatIfId: string): Promise<WhatIfRun | undefined> {
    const workflowId = whatIfWorkflowId(key, whatIfId);
    const run = await this.#ifThere(() => this.#temporal.workflow.getHandle(workflowId).describe());
    const memo = memoOf(run?.memo);
    if (run === undefined || memo === undefined) return undefined;
    const { runId } = run;
    if (isOpenRun(run)) return { memo, runId, state: 'running', isWaiting: isWaiting(run) };
    const result = await this.result(key, { whatIfId, runId });
    return result === undefined ? undefined : { memo, runId, state: 'over', result };
  }

  /** The result of a run that has ended; undefined when the server does not have it any more. */
  async result(
    key: ConversationKey,
    { whatIfId, runId }: Pick<ListedRun, 'whatIfId' | 'runId'>,
  ): Promise<WhatIfResult | undefined> {
    return await this.#ifThere(() => this.#resultOf(whatIfWorkflowId(key, whatIfId), runId));
  }

  /** As `result`, without the steps; asked of the server once. */
  async end(
    key: ConversationKey,
    run: Pick<ListedRun, 'whatIfId' | 'runId'>,
  ): Promise<WhatIfListedEnd | undefined> {
    const known = this.#ends.get(run.runId);
    if (known !== undefined) return known;
    const result = await this.result(key, run);
    if (result === undefined) return undefined;
    const { steps, ...outcome } = result;
    const end = { ...outcome, stepCount: steps.length };
    this.#ends.set(run.runId, end);
    return end;
  }

  /**
   * Those of the conversation that began at `startedAt`, the newest first. By visibility, which may lag behind by
   * moments.
   */
  async list(key: ConversationKey, startedAt: string): Promise<readonly ListedRun[]> {
    const found: ListedRun[] = [];
    await this.#within(async () => {
      for await (const run of this.#listed(key)) {
        const memo = memoOf(run.memo);
        if (memo?.startedAt !== startedAt) continue;
        const { workflowId, runId, startTime: begunAt, closeTime = begunAt } = run;
        const whatIfId = workflowId.slice(whatIfPrefixOf(key).length);
        const ended = isOpenRun(run) ? {} : { endedAt: closeTime };
        found.push({ whatIfId, runId, memo, begunAt, ...ended });
      }
    });
    return found.toSorted(newestFirst);
  }

  /** Asks the run to end, durably; a worker ends it. Without effect where it has ended. Safe to repeat. */
  async cancel(key: ConversationKey, whatIfId: string, runId: string): Promise<void> {
    const { workflow } = this.#temporal;
    const handle = workflow.getHandle(whatIfWorkflowId(key, whatIfId), runId);
    await this.#ifThere(() => handle.cancel());
  }

  /**
   * Removes all of a conversation, or of a tenant, with their histories; those that run are ended. False when the server
   * had none. By visibility, which may lag behind by moments.
   */
  async removeAll(of: Parameters<typeof whatIfPrefixOf>[0]): Promise<boolean> {
    const { namespace } = this.#temporal.options;
    let hadAny = false;
    for await (const { workflowId, runId } of this.#listed(of)) {
      const workflowExecution = { workflowId, runId };
      const asked = await this.#ifThere(() =>
        this.#temporal.workflowService.deleteWorkflowExecution({ namespace, workflowExecution }),
      );
      hadAny ||= asked !== undefined;
    }
    return hadAny;
  }

  async *#listed(of: Parameters<typeof whatIfPrefixOf>[0]): AsyncGenerator<WorkflowExecutionInfo> {
    const prefix = whatIfPrefixOf(of);
    const query = `WorkflowType = '${WHAT_IF_WORKFLOW_TYPE}' AND WorkflowId STARTS_WITH '${prefix}'`;
    for await (const run of this.#temporal.workflow.list({ query }))
      if (run.workflowId.startsWith(prefix)) yield run;
  }

  async #resultOf(workflowId: string, runId: string): Promise<WhatIfResult> {
    try {
      return await this.#temporal.workflow.getHandle<WhatIfWorkflow>(workflowId, runId).result();
    } catch (error) {
      if (!(error instanceof WorkflowFailedError)) throw error;
      // By a worker of an earlier version, or before its first step.
      if (error.cause instanceof CancelledFailure) return { state: 'cancelled', ...NO_STEPS };
      return { state: 'failed', error: errorOf(error), ...NO_STEPS };
    }
  }

  /** Undefined when the server does not have the run (any more). */
  async #ifThere<Value>(call: () => Promise<Value>): Promise<Value | undefined> {
    return await this.#within(call).catch(unlessGone);
  }

  async #within<Value>(call: () => Promise<Value>): Promise<Value> {
    return await this.#temporal.withDeadline(Date.now() + UPDATE_DEADLINE_MS, call);
  }
}

/** A run that failed by itself, or that was ended from outside. */
function errorOf({ cause }: WorkflowFailedError): {
  readonly code: string;
  readonly message: string;
} {
  if (cause instanceof ApplicationFailure)
    return { code: cause.type ?? 'internal', message: cause.message };
  return { code: 'internal', message: 'The run was ended from outside' };
}

/** In an order without ties, so that a page ends at one place. */
function newestFirst(one: ListedRun, other: ListedRun): number {
  const ms = other.begunAt.getTime() - one.begunAt.getTime();
  return ms === 0 ? Number(one.whatIfId < other.whatIfId) * 2 - 1 : ms;
}

/** State of a pending task, of a workflow or an activity, as a number: the client does not export the enums. */
const SCHEDULED = 1;

/** A worker that is up takes a task sooner. */
const OFFERED_SECONDS = 5;

/** Whether a task has been on offer for some seconds, and no worker has taken it: a pause before an attempt is none. */
function isWaiting({ raw }: WorkflowExecutionDescription): boolean {
  const { pendingWorkflowTask, pendingActivities } = raw;
  const tasks = [
    { state: pendingWorkflowTask?.state, at: pendingWorkflowTask?.scheduledTime },
    ...(pendingActivities ?? []).map(({ state, scheduledTime, nextAttemptScheduleTime }) => ({
      ...{ state, at: nextAttemptScheduleTime ?? scheduledTime },
    })),
  ];
  const before = Date.now() / 1_000 - OFFERED_SECONDS;
  return tasks.some(
    ({ state, at }) => Number(state) === SCHEDULED && Number(at?.seconds ?? 0) < before,
  );
}

function memoOf(memo: unknown): WhatIfMemo | undefined {
  if (!isRecord(memo)) return undefined;
  const { startedAt, generation, agent, turnId, digest, model } = memo;
  const isOne =
    typeof startedAt === 'string' &&
    typeof generation === 'number' &&
    typeof agent === 'string' &&
    typeof turnId === 'string' &&
    typeof digest === 'string';
  if (!isOne) return undefined;
  const named = typeof model === 'string' ? { model } : {};
  return { startedAt, generation, agent, turnId, digest, ...named };
}

/**
 * The executions of conversations in Temporal, found by visibility, which may lag behind by moments, and by
 * description, which does not. Every method is safe to repeat.
 */
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { UPDATE_DEADLINE_MS } from '../../protocol/limits/service-limits.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { parseWorkflowId, workflowIdFor, workflowIdPrefixOf } from '../../protocol/values/ids.js';
import { UPDATES, WORKFLOW_TYPE } from '../../protocol/workflow/messaging.js';
import { updateIdFor } from '../../protocol/workflow/update-ids.js';
import { unlessGone } from './errors.js';

export interface Execution {
  readonly runId: string;
  /** Id of the first run of its chain: a roll-over keeps it. */
  readonly firstRunId: string;
  readonly isRunning: boolean;
}

export class Executions {
  readonly #temporal: Client;

  constructor(temporal: Client) {
    this.#temporal = temporal;
  }

  /** The newest run; undefined when the server has none (any more). */
  async newest(key: ConversationKey): Promise<Execution | undefined> {
    return await this.#describe(workflowIdFor(key));
  }

  /** All runs that the server still has, of every chain. */
  async all(key: ConversationKey): Promise<readonly Execution[]> {
    const workflowId = workflowIdFor(key);
    const newest = await this.newest(key);
    const found = new Map<string, Execution>();
    if (newest !== undefined) found.set(newest.runId, newest);
    for (const runId of await this.#listed(`WorkflowId = '${workflowId}'`)) {
      if (found.has(runId)) continue;
      const run = await this.#describe(workflowId, runId);
      if (run !== undefined) found.set(runId, run);
    }
    return [...found.values()];
  }

  /** Conversations of a tenant with executions on the server. The same one may be returned more than once. */
  async *ofTenant(tenant: string): AsyncGenerator<ConversationKey> {
    const query = `WorkflowType = '${WORKFLOW_TYPE}' AND WorkflowId STARTS_WITH '${workflowIdPrefixOf(tenant)}'`;
    for await (const { workflowId } of this.#temporal.workflow.list({ query })) {
      const key = parseWorkflowId(workflowId);
      if (key?.tenant === tenant) yield key;
    }
  }

  /**
   * Asks a chain to close, whichever of its runs is current. @throws WorkflowNotFoundError when it does not run (any
   * more).
   */
  async close(
    key: ConversationKey,
    chain: { readonly firstRunId: string; readonly actor: StampedActor },
  ): Promise<void> {
    const { firstRunId: firstExecutionRunId, actor } = chain;
    const requestId = `delete-${firstExecutionRunId}`;
    await this.#temporal.workflow
      .getHandle(workflowIdFor(key), undefined, { firstExecutionRunId })
      .executeUpdate(UPDATES.closeConversation, {
        updateId: updateIdFor({ operation: 'closeConversation', requestId }),
        args: [{ requestId, actor }],
      });
  }

  /** Terminates a chain. Needs no worker. No effect when it does not run. */
  async terminate(key: ConversationKey, firstExecutionRunId: string): Promise<void> {
    const handle = this.#temporal.workflow.getHandle(workflowIdFor(key), undefined, {
      firstExecutionRunId,
    });
    await this.#withDeadline(() => handle.terminate('the conversation is deleted')).catch(
      unlessGone,
    );
  }

  /** Has the server remove a run with its history, which it does a moment later. False when the run is gone. */
  async remove(key: ConversationKey, runId: string): Promise<boolean> {
    const asked = await this.#withDeadline(() =>
      this.#temporal.workflowService.deleteWorkflowExecution({
        namespace: this.#temporal.options.namespace,
        workflowExecution: { workflowId: workflowIdFor(key), runId },
      }),
    ).catch(unlessGone);
    return asked !== undefined;
  }

  async #describe(workflowId: string, runId?: string): Promise<Execution | undefined> {
    const found = await this.#withDeadline(() =>
      this.#temporal.workflow.getHandle(workflowId, runId).describe(),
    ).catch(unlessGone);
    if (found === undefined) return undefined;
    return {
      runId: found.runId,
      firstRunId: found.raw.workflowExecutionInfo?.firstRunId ?? found.runId,
      isRunning: isOpenRun(found),
    };
  }

  async #listed(query: string): Promise<readonly string[]> {
    const runIds: string[] = [];
    for await (const { runId } of this.#temporal.workflow.list({ query })) runIds.push(runId);
    return runIds;
  }

  async #withDeadline<Value>(call: () => Promise<Value>): Promise<Value> {
    return await this.#temporal.withDeadline(Date.now() + UPDATE_DEADLINE_MS, call);
  }
}

/** Id of the first run of an open run's chain; undefined for a run that has ended. */
export function firstRunOf(run: WorkflowExecutionDescription | undefined): string | undefined {
  if (run === undefined || !isOpenRun(run)) return undefined;
  return run.raw.workflowExecutionInfo?.firstRunId ?? run.runId;
}

/** Names of `WorkflowExecutionStatus` in Temporal's client. */
const OPEN: readonly string[] = ['RUNNING', 'PAUSED'];

/** For a description, or a row of a list; false for undefined. */
export function isOpenRun(
  run: { readonly status: { readonly name: string } } | undefined,
): boolean {
  return run !== undefined && OPEN.includes(run.status.name);
}

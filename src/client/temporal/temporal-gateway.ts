/**
 * All calls of Temporal for messages and answers: updates with a deadline, signals as the durable fallback, queries,
 * descriptions. Knows nothing of verdicts or turns. Every call here is safe to repeat with the same ids.
 */
import {
  type Client,
  WithStartWorkflowOperation,
  type WorkflowClient,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionDescription,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { QUERY_DEADLINE_MS, UPDATE_DEADLINE_MS } from '../../protocol/limits/service-limits.js';
import { type ConversationKey, workflowIdFor } from '../../protocol/values/ids.js';
import type { Trouble } from '../../protocol/values/trouble.js';
import {
  QUERIES,
  type QueryTypes,
  SIGNALS,
  UPDATES,
  type UpdateTypes,
  WORKFLOW_TYPE,
} from '../../protocol/workflow/messaging.js';
import type { ConversationRun } from '../../protocol/workflow/run.js';
import { checkTexts } from '../api/checks.js';
import { ConversationError } from '../api/errors.js';
import { runOf } from '../history/run.js';
import { withHttpRequestIds } from '../payloads/http-request-id.js';
import { addressOf, type Listening, listeningOf } from '../workers/listening.js';
import { missingWorkerText } from '../workers/worker-hint.js';
import { type Attempted, BUSY_TEXT, Confirming, type ConfirmOptions } from './confirming.js';
import { fromTemporal, GRPC, grpcCodeOf, isTransient, isUnconfirmed } from './errors.js';
import { isOpenRun } from './executions.js';
import { troubleOf } from './find-trouble.js';
import { retryQuery } from './query-retry.js';
import {
  type ConversationWorkflow,
  type ForkStart,
  type StartDefaults,
  type StartRequest,
  startOptions,
} from './start-options.js';
import { failingText, type Unanswered } from './unanswered.js';
import { orLate } from './waiting.js';

/** Milliseconds by which the gRPC client may be late before the call stops waiting for it. */
const GRPC_GRACE_MS = 200;
/** A signal needs the server only, which answers in milliseconds or not at all. */
const SIGNAL_DEADLINE_MS = 2_000;
export interface TemporalGatewayOptions {
  readonly temporal: Client;
  readonly taskQueue: string;
  readonly searchAttributes: boolean;
  readonly pageUrl?: string | undefined;
  /** Whether a run is of a conversation that was deleted; the server keeps its end for a while. Absent: none was. */
  readonly deletedRun?: ((key: ConversationKey, runId: string) => Promise<boolean>) | undefined;
  /** Called with each conversation whose workflow was found to fail. Must not throw. */
  readonly onTrouble?: ((key: ConversationKey, trouble: Trouble) => void) | undefined;
  /** Factor for waits that no caller has set; called for each wait. Absent: 1. */
  readonly patience?: (() => number) | undefined;
}

export class TemporalGateway {
  readonly taskQueue: string;
  readonly #temporal: Client;
  readonly #workflow: WorkflowClient;
  readonly #startDefaults: StartDefaults;
  readonly #deletedRun: TemporalGatewayOptions['deletedRun'];
  readonly #confirming = new Confirming({
    before: (deadline, call) => this.#before(deadline, call),
    trouble: (key) => this.trouble(key),
    patience: () => this.patience(),
  });
  readonly #onTrouble: TemporalGatewayOptions['onTrouble'];
  /** The factor for waits that no caller has set. */
  readonly patience: () => number;
  #listening: Listening | undefined;

  constructor(options: TemporalGatewayOptions) {
    this.#temporal = options.temporal;
    this.#workflow = withHttpRequestIds(options.temporal);
    this.taskQueue = options.taskQueue;
    this.#deletedRun = options.deletedRun;
    this.#onTrouble = options.onTrouble;
    this.patience = options.patience ?? (() => 1);
    const { taskQueue, searchAttributes, pageUrl } = options;
    this.#startDefaults = { taskQueue, searchAttributes, pageUrl };
  }

  /** See `Confirming.confirm`. */
  async confirm<Value>(
    call: () => Promise<Value>,
    options?: ConfirmOptions,
  ): Promise<Attempted<Value>> {
    return await this.#confirming.confirm(call, options);
  }

  /** Starts the conversation or continues it, and waits for the reply. */
  async sendWithStart<Name extends 'sendMessage' | 'inboxEvent' = 'sendMessage'>(
    request: StartRequest,
  ): Promise<UpdateTypes[Name]['reply']> {
    checkTexts(request.input);
    const options = startOptions(request, this.#startDefaults);
    // An operation can be executed once, so each try has its own.
    const startWorkflowOperation = new WithStartWorkflowOperation<ConversationWorkflow>(
      WORKFLOW_TYPE,
      {
        ...options,
        workflowIdConflictPolicy: 'USE_EXISTING',
      },
    );
    return await this.#workflow.executeUpdateWithStart<
      ConversationWorkflow,
      UpdateTypes[Name]['reply'],
      [StartRequest['input']]
    >(UPDATES[request.operation ?? 'sendMessage'], {
      updateId: request.updateId,
      args: [request.input],
      startWorkflowOperation,
    });
  }

  /**
   * Begins a fork. Durable as soon as it returns, with or without a worker. False where the conversation exists, by the
   * policy of the start.
   */
  async startFork(request: ForkStart): Promise<boolean> {
    const options = startOptions(request, this.#startDefaults);
    try {
      await this.#within(SIGNAL_DEADLINE_MS, () =>
        this.#workflow.start<ConversationWorkflow>(WORKFLOW_TYPE, options),
      );
      return true;
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
      throw error;
    }
  }

  /** Durable as soon as it returns, with or without a worker. */
  async signalWithStart(request: StartRequest): Promise<void> {
    checkTexts(request.input);
    const options = startOptions(request, this.#startDefaults);
    await this.#within(SIGNAL_DEADLINE_MS, () =>
      this.#workflow.signalWithStart<ConversationWorkflow, [StartRequest['input']]>(WORKFLOW_TYPE, {
        ...options,
        workflowIdConflictPolicy: 'USE_EXISTING',
        signal: SIGNALS[request.operation ?? 'sendMessage'],
        signalArgs: [request.input],
      }),
    );
  }

  async update<Name extends keyof UpdateTypes>(
    key: ConversationKey,
    name: Name,
    call: {
      readonly input: UpdateTypes[Name]['input'];
      readonly updateId: string;
      readonly firstRunId?: string | undefined;
    },
  ): Promise<UpdateTypes[Name]['reply']> {
    checkTexts(call.input);
    return await this.#handle(key, call.firstRunId).executeUpdate<
      UpdateTypes[Name]['reply'],
      [UpdateTypes[Name]['input']]
    >(UPDATES[name], { updateId: call.updateId, args: [call.input] });
  }

  /** @throws WorkflowNotFoundError when the conversation does not run: a signal never starts one. */
  async signal(key: ConversationKey, name: keyof typeof SIGNALS, input: unknown): Promise<void> {
    checkTexts(input);
    await this.#within(SIGNAL_DEADLINE_MS, () => this.#handle(key).signal(SIGNALS[name], input));
  }

  /** Undefined when Temporal does not have the conversation. @throws {ConversationError} no_worker when no worker answers. */
  async query<Name extends keyof QueryTypes>(
    key: ConversationKey,
    name: Name,
    input?: QueryTypes[Name]['input'],
  ): Promise<QueryTypes[Name]['reply'] | undefined> {
    const handle = this.#handle(key);
    try {
      return await this.#within(QUERY_DEADLINE_MS, () =>
        retryQuery(() =>
          input === undefined
            ? handle.query<QueryTypes[Name]['reply']>(QUERIES[name])
            : handle.query<QueryTypes[Name]['reply'], [QueryTypes[Name]['input']]>(
                QUERIES[name],
                input,
              ),
        ),
      );
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return undefined;
      if (!isUnconfirmed(error) && !isTransient(error)) throw this.toConversationError(error);
      const { reason, text } = await this.whyUnanswered(key);
      throw new ConversationError(reason, text, { cause: error });
    }
  }

  /**
   * The newest run, or undefined: also if the server still has one of a conversation that was deleted. Needs no worker.
   */
  async describe(key: ConversationKey): Promise<WorkflowExecutionDescription | undefined> {
    const run = await this.#newest(key);
    return run === undefined || (await this.#isDeleted(key, run)) ? undefined : run;
  }

  /** The newest run, for operators; `gone` where the server has none. @throws {ConversationError} temporal_unreachable */
  async run(key: ConversationKey): Promise<ConversationRun> {
    const { namespace } = this.#temporal.options;
    return runOf(await this.describe(key), { workflowId: workflowIdFor(key), namespace });
  }

  /**
   * Whether the newest run that the server still has is of a conversation that was deleted: the next one may start over
   * it.
   */
  async wasDeleted(key: ConversationKey): Promise<boolean> {
    const run = await this.#newest(key);
    return run !== undefined && (await this.#isDeleted(key, run));
  }

  /** Only the store knows; one that cannot be read must not block a turn. */
  async #isDeleted(key: ConversationKey, run: WorkflowExecutionDescription): Promise<boolean> {
    if (this.#deletedRun === undefined || isOpenRun(run)) return false;
    return await this.#deletedRun(key, run.runId).catch(() => false);
  }

  async #newest(key: ConversationKey): Promise<WorkflowExecutionDescription | undefined> {
    try {
      return await this.#within(UPDATE_DEADLINE_MS, () => this.#handle(key).describe());
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw this.toConversationError(error);
    }
  }

  /** Type of the failure that ended a run, if one did. */
  async failureType(key: ConversationKey, runId: string): Promise<string | undefined> {
    const handle = this.#workflow.getHandle(workflowIdFor(key), runId);
    try {
      await this.#within(UPDATE_DEADLINE_MS, () => handle.result());
      return undefined;
    } catch (error) {
      if (!(error instanceof WorkflowFailedError)) return undefined;
      return error.cause instanceof ApplicationFailure
        ? (error.cause.type ?? undefined)
        : undefined;
    }
  }

  /** Resolves when the server answers. @throws {ConversationError} temporal_unreachable */
  async ping(): Promise<void> {
    await this.#within(QUERY_DEADLINE_MS, () => this.#temporal.workflowService.getSystemInfo({}));
  }

  /**
   * Attempts at a workflow task of the conversation that have failed or timed out in a row, however few. Undefined when
   * there are none, and when the server does not answer in time. Needs no worker; never throws.
   */
  async trouble(key: ConversationKey): Promise<Trouble | undefined> {
    try {
      return await this.#within(QUERY_DEADLINE_MS, async () =>
        troubleOf(this.#temporal, await this.#handle(key).describe()),
      );
    } catch {
      return undefined;
    }
  }

  /** Why a message or answer to a conversation waits. Never throws, because it only decorates another reply. */
  async whyUnanswered(key: ConversationKey): Promise<Unanswered> {
    const trouble = await this.trouble(key);
    if (trouble?.kind === 'failing') {
      this.#onTrouble?.(key, trouble);
      return { reason: 'workflow_failing', text: failingText(key, trouble) };
    }
    if (this.#confirming.isBusy) return { reason: 'workers_busy', text: BUSY_TEXT };
    return { reason: 'no_worker', text: await this.noWorkerText() };
  }

  /** A text that no worker answers, with the next command. Never throws. */
  async noWorkerText(): Promise<string> {
    return await missingWorkerText(this.#temporal, this.taskQueue, {
      answeredAt: this.#confirming.answeredAt,
    });
  }

  /**
   * Whether a call ended without an answer because no server took it: nothing listens, or the connection was refused or
   * cut. False where the server may have passed it to a worker that did not answer.
   */
  isUnreached(error: unknown): boolean {
    if (isUnconfirmed(error)) return this.#listening === 'nothing';
    return grpcCodeOf(error) === GRPC.unavailable;
  }

  toConversationError(error: unknown): ConversationError {
    return fromTemporal(error, {
      address: addressOf(this.#temporal),
      listening: this.#listening,
    });
  }

  async #within<Value>(milliseconds: number, call: () => Promise<Value>): Promise<Value> {
    return await this.#before(Date.now() + milliseconds * this.patience(), call);
  }

  /** A deadline that also holds while the gRPC client pauses between its own retries: those may last 5 s each. */
  async #before<Value>(deadline: number, call: () => Promise<Value>): Promise<Value> {
    const running = this.#temporal.withDeadline(deadline, call);
    try {
      const leftMs = Math.max(0, deadline - Date.now() + GRPC_GRACE_MS);
      return await orLate(leftMs, running, () => {
        throw new WorkflowUpdateRPCTimeoutOrCancelledError('The server did not answer in time');
      });
    } catch (error) {
      // The time ran out: if the connection stands, it was the worker that did not answer.
      if (isUnconfirmed(error)) this.#listening = await listeningOf(this.#temporal);
      throw error;
    }
  }

  #handle(
    key: ConversationKey,
    firstExecutionRunId?: string,
  ): ReturnType<Client['workflow']['getHandle']> {
    return this.#workflow.getHandle(
      workflowIdFor(key),
      undefined,
      firstExecutionRunId === undefined ? {} : { firstExecutionRunId },
    );
  }
}

/** The application's entry to conversations: one object per process, over one Temporal client. Safe to share. */

import type { Resolution } from '../protocol/calls/resolutions.js';
import type { AgentManifest } from '../protocol/conversation/agents.js';
import { MAX_PATIENCE } from '../protocol/limits/service-limits.js';
import type { ConversationsFrame } from '../protocol/log/conversations-stream.js';
import type { WorklistPage } from '../protocol/log/worklist.js';
import type { StampedActor } from '../protocol/values/actors.js';
import { requireKnown } from '../protocol/values/field-problem.js';
import type { ConversationId, ConversationKey, TurnId } from '../protocol/values/ids.js';
import { DEFAULT_TENANT, idProblem } from '../protocol/values/ids.js';
import type { Json } from '../protocol/values/json.js';
import { isRecord } from '../protocol/values/json.js';
import { DEFAULT_TASK_QUEUE } from '../protocol/workflow/messaging.js';
import type {
  ClaimOptions,
  ClaimOutcome,
  ExtendOptions,
  ExtendOutcome,
  PendingTarget,
  ProgressOptions,
  ProgressOutcome,
  ResolutionOf,
  ResolveOptions,
  ResolveOutcome,
  ResolveTarget,
} from './api/call-types.js';
import { checkKey, pageUrlProblem, stampActor } from './api/checks.js';
import { ConversationError, invalidField } from './api/errors.js';
import { CLIENT_FIELDS, checkOptions } from './api/known-options.js';
import {
  type AgentRef,
  type AnswerOfAgent,
  type CancelOptions,
  type CancelOutcome,
  type ConversationClientOptions,
  type ConversationOptions,
  type DeleteOutcome,
  type ListOptions,
  nameOfAgent,
  type ToolsOfAgent,
  type TurnHandle,
  type WatchListOptions,
  type WorklistOptions,
} from './api/types.js';
import { type ClaimParts, claimCall } from './calls/claim.js';
import { extendCall } from './calls/extend.js';
import { RecentRenewals } from './calls/lease-cache.js';
import { reportProgress } from './calls/progress.js';
import { resolveCall } from './calls/resolve.js';
import { Conversation } from './conversation.js';
import { type DeleteParts, deleteConversation, deleteTenant } from './deletion/delete.js';
import { listAgents } from './messages/agents.js';
import { Control } from './messages/control.js';
import { attachTurn } from './messages/turn.js';
import type { ConversationPage, ConversationReader } from './ports/reader.js';
import { listConversations, watchList } from './reading/lists.js';
import { ReadYourWrites } from './reading/read-your-writes.js';
import { WorkflowReader } from './reading/workflow-reader.js';
import { readWorklist } from './reading/worklist.js';
import { Executions } from './temporal/executions.js';
import { TemporalGateway } from './temporal/temporal-gateway.js';
import { TriggerSchedules } from './triggers/schedules.js';
import { WhatIfRuns } from './what-ifs/runs.js';
import { type WorkerElsewhere, workersElsewhere } from './workers/workers-elsewhere.js';

export class ConversationClient {
  readonly #whatIfs: WhatIfRuns;
  readonly #options: ConversationClientOptions;
  readonly #gateway: TemporalGateway;
  readonly #reader: ConversationReader;
  readonly #control: Control;
  readonly #tenant: string;
  readonly #known = new ReadYourWrites();
  readonly #renewals = new RecentRenewals();

  /**
   * @throws {ConversationError} invalid_request when the tenant breaks a rule @throws {TypeError} when a required option is
   *   missing, or one is not known
   */
  constructor(options: ConversationClientOptions) {
    checkClient(options);
    this.#options = options;
    this.#whatIfs = new WhatIfRuns(options.temporal);
    this.#tenant = options.tenant ?? DEFAULT_TENANT;
    const problem = idProblem('tenant', this.#tenant);
    if (problem !== undefined) throw invalidField('/tenant', problem);
    this.#gateway = new TemporalGateway({
      temporal: options.temporal,
      taskQueue: options.taskQueue ?? DEFAULT_TASK_QUEUE,
      searchAttributes: options.searchAttributes ?? true,
      pageUrl: options.pageUrl,
      deletedRun: options.reader?.isDeletedRun?.bind(options.reader),
      onTrouble: options.onTrouble,
      patience: () => options.patience ?? 1,
    });
    this.#reader = options.reader ?? new WorkflowReader(this.#gateway);
    this.#control = new Control({
      gateway: this.#gateway,
      reader: this.#reader,
      known: this.#known,
      stamp: this.#stamp,
    });
  }

  /** The tenant of conversations for which no other is named. */
  get tenant(): string {
    return this.#tenant;
  }

  /**
   * A conversation that exists or will begin with the first message. Sends no request. @throws {ConversationError}
   * invalid_request
   */
  conversation<Named extends AgentRef = string>(
    id: ConversationId,
    options: ConversationOptions<Named> = {},
  ): Conversation<AnswerOfAgent<Named>, ToolsOfAgent<Named>> {
    checkOptions('conversation', options);
    const key = this.#key(id, options.tenant);
    return new Conversation({
      key,
      agent: nameOfAgent(options.agent),
      agents: this.#options.agents,
      gateway: this.#gateway,
      reader: this.#reader,
      log: this.#options.reader,
      blobs: this.#options.blobs,
      schedules: new TriggerSchedules(this.#options.temporal),
      whatIfs: this.#whatIfs,
      control: this.#control,
      known: this.#known,
      patience: this.#gateway.patience,
      stamp: this.#stamp,
      resolve: async (toolCallId, resolution, resolveOptions) =>
        await this.resolve({ ...key, toolCallId }, resolution, resolveOptions),
      calls: this,
      extend: async (toolCallId, extendOptions) =>
        await this.extend({ ...key, toolCallId }, extendOptions),
    });
  }

  /**
   * Answers a waiting call, from any process, with one verdict; see `resolveCall` for the table. Never throws for a
   * refusal: `v.verdict` and `v.httpStatus` report it. A repeat with the same `requestId` returns `duplicate`.
   * @throws {ConversationError} invalid_request, temporal_unreachable, store_unavailable
   */
  async resolve<Answer = Json>(
    target: Exclude<ResolveTarget, PendingTarget<unknown>> | PendingTarget<Answer>,
    resolution: ResolutionOf<NoInfer<Answer>>,
    options: ResolveOptions = {},
  ): Promise<ResolveOutcome> {
    checkOptions('resolve', options);
    const given = { resolution: resolution as Resolution, options };
    return await resolveCall(this.#callParts(), target, given);
  }

  /**
   * Moves the deadline of a waiting call, within the caps of its tool; see `extendCall` for the verdicts. Refusals
   * record nothing. @throws {ConversationError} invalid_request, no_worker, temporal_unreachable, store_unavailable
   */
  async extend(target: ResolveTarget, options: ExtendOptions): Promise<ExtendOutcome> {
    checkOptions('extend', options);
    return await extendCall(this.#callParts(), target, options);
  }

  /**
   * Claims a waiting call, which the caller then runs as a client or another backend, or (with its `claimId`) renews
   * the claim; see `claimCall` for the verdicts. @throws {ConversationError} invalid_request, no_worker,
   * temporal_unreachable, store_unavailable
   */
  async claim(target: ResolveTarget, options: ClaimOptions = {}): Promise<ClaimOutcome> {
    checkOptions('claim', options);
    return await claimCall(this.#callParts(), target, options);
  }

  /**
   * Publishes the progress of a call that the caller holds, and renews its lease. @see reportProgress @throws
   * {ConversationError} invalid_request
   */
  async progress(
    target: ResolveTarget,
    payload: Json,
    options: ProgressOptions,
  ): Promise<ProgressOutcome> {
    checkOptions('progress', options);
    return await reportProgress(this.#callParts(), target, { payload, options });
  }

  /**
   * Stops the running turn of a conversation. If none runs, the outcome says so. @throws {ConversationError}
   * unknown_conversation
   */
  async cancel(
    target: ConversationId | { readonly conversationId: ConversationId; readonly tenant?: string },
    options: CancelOptions = {},
  ): Promise<CancelOutcome> {
    const { conversationId, tenant } =
      typeof target === 'string' ? { conversationId: target, tenant: undefined } : target;
    return await this.#control.cancel(this.#key(conversationId, tenant), options);
  }

  /** Re-attaches to a turn from another process or after a crash. `agent` types its output, and is not compared. */
  turn<Named extends AgentRef = string>(
    conversationId: ConversationId,
    turnId: TurnId,
    options: ConversationOptions<Named> = {},
  ): TurnHandle<AnswerOfAgent<Named>> {
    checkOptions('conversation', options);
    const key = this.#key(conversationId, options.tenant);
    const { patience } = this.#gateway;
    const parts = { reader: this.#reader, control: this.#control, known: this.#known, key };
    return attachTurn({ ...parts, patience }, turnId) as TurnHandle<AnswerOfAgent<Named>>;
  }

  /**
   * Conversations of a tenant, newest first; with a filter on pending calls, those first whose call ends earliest.
   * Needs no worker.
   * @throws {ConversationError} invalid_request; store_unavailable, also without an event log
   */
  async list(options: ListOptions = {}): Promise<ConversationPage> {
    checkOptions('list', options);
    try {
      const own = { tenant: this.#tenant, channel: this.#options.channel ?? 'client' } as const;
      return await listConversations(this.#reader, own, options);
    } catch (error) {
      throw this.#gateway.toConversationError(error);
    }
  }

  /**
   * The changes of a list from now on, or from the place of an earlier frame. Read the list after the frame `ready`, and
   * after `reset`; apply all frames that come after it. Needs no worker.
   * @throws {ConversationError} invalid_request; store_unavailable, also without an event log
   */
  async watchList(options: WatchListOptions = {}): Promise<AsyncIterable<ConversationsFrame>> {
    checkOptions('watchList', options);
    try {
      const own = { tenant: this.#tenant, channel: this.#options.channel ?? 'client' } as const;
      return await watchList(this.#reader, own, options);
    } catch (error) {
      throw this.#gateway.toConversationError(error);
    }
  }

  /**
   * Calls that wait, across the conversations of a tenant, those that end first first: with `mine` (the default) those
   * that the actor may answer, else all of them, each with `mayAnswer` and the reason. Needs no worker.
   * @throws {ConversationError} invalid_request; store_unavailable, also without an event log
   */
  async worklist(options: WorklistOptions = {}): Promise<WorklistPage> {
    checkOptions('worklist', options);
    try {
      const actor = this.#stamp(options.actor);
      return await readWorklist(this.#reader, { tenant: this.#tenant, actor }, options);
    } catch (error) {
      throw this.#gateway.toConversationError(error);
    }
  }

  /**
   * Deletes a conversation for good: log, blobs, and its runs in Temporal, after an open run was ended. Safe to repeat,
   * also after a crash. Those of its sub-agents are deleted as well. The same id may begin a new conversation later.
   * @see deleteConversation
   * @throws {ConversationError} unknown_conversation, temporal_unreachable, store_unavailable (also without the deletions
   *   port)
   */
  async deleteConversation(
    conversationId: ConversationId,
    options: Pick<ConversationOptions, 'tenant'> = {},
  ): Promise<DeleteOutcome> {
    checkOptions('deleteConversation', options);
    const key = this.#key(conversationId, options.tenant);
    await deleteConversation(this.#deleteParts(), key, { withSubAgents: true });
    return { deleted: true, conversationId };
  }

  /**
   * Deletes every conversation of a tenant, those included that have files and never began; resolves to their number,
   * and calls `onDeleted` with the number so far. Safe to repeat: a repeat finishes. @throws {ConversationError} as above
   */
  async deleteTenant(
    tenant: string,
    options: { readonly onDeleted?: (deleted: number) => void } = {},
  ): Promise<{ readonly deleted: number }> {
    checkOptions('deleteTenant', options);
    const problem = idProblem('tenant', tenant);
    if (problem !== undefined) throw invalidField('/tenant', problem);
    const outcome = await deleteTenant(this.#deleteParts(), tenant, options);
    this.#known.forgetTenant(tenant);
    return outcome;
  }

  /** The agents that accept conversations of a tenant now. */
  async agents(
    options: {
      /** @defaultValue the tenant of the client */
      readonly tenant?: string;
    } = {},
  ): Promise<readonly AgentManifest[]> {
    checkOptions('agents', options);
    const { tenant = this.#tenant } = options;
    return await listAgents(this.#options.agents, { tenant });
  }

  /** Resolves when the Temporal server answers within a second. @throws {ConversationError} temporal_unreachable */
  async ping(): Promise<void> {
    try {
      await this.#gateway.ping();
    } catch (error) {
      throw this.#gateway.toConversationError(error);
    }
  }

  /**
   * Workers of the task queue that use another event log than this client, so that it cannot read what they store; seen
   * within a little more than a minute. Empty if `storeId` is not given. @throws {ConversationError} temporal_unreachable,
   * store_unavailable
   */
  async workersElsewhere(): Promise<readonly WorkerElsewhere[]> {
    const { storeId, temporal } = this.#options;
    if (storeId === undefined) return [];
    try {
      const { taskQueue } = this.#gateway;
      return await workersElsewhere(temporal, { taskQueue, storeId: await storeId() });
    } catch (error) {
      throw this.#gateway.toConversationError(error);
    }
  }

  readonly #stamp = (actor: ResolveOptions['actor']): StampedActor =>
    stampActor(actor ?? this.#options.actor, this.#options.channel ?? 'client');

  #deleteParts(): DeleteParts {
    const { deletions, temporal } = this.#options;
    if (deletions === undefined)
      throw new ConversationError(
        'store_unavailable',
        'Deleting needs the event log: give the client its deletions port',
      );
    const actor = this.#stamp(undefined);
    return {
      gateway: this.#gateway,
      executions: new Executions(temporal),
      schedules: new TriggerSchedules(temporal),
      whatIfs: this.#whatIfs,
      ...{ deletions, actor },
      forget: (key) => {
        this.#known.forget(key);
      },
    };
  }

  #callParts(): ClaimParts {
    return {
      gateway: this.#gateway,
      reader: this.#reader,
      tenant: this.#tenant,
      known: this.#known,
      stamp: this.#stamp,
      leases: this.#options.leases,
      renewals: this.#renewals,
    };
  }

  #key(conversationId: ConversationId, tenant: string | undefined): ConversationKey {
    return checkKey({ tenant: tenant ?? this.#tenant, conversationId });
  }
}

/** Checked in the constructor, so that a wrong option is not first reported as the failure of a message. */
function checkClient(options: unknown): void {
  if (isRecord(options)) requireKnown('ConversationClient', options, CLIENT_FIELDS);
  const { temporal, agents, patience = 1, pageUrl } = isRecord(options) ? options : {};
  if (!isRecord(temporal) || !isRecord(temporal['workflow']))
    throw new TypeError('ConversationClient: temporal must be a Client of @temporalio/client');
  if (!Array.isArray(agents) && typeof agents !== 'function')
    throw new TypeError(
      'ConversationClient: agents must be a list of manifests (manifestOf(agent)), or a function that reads one',
    );
  if (typeof patience !== 'number' || !(patience >= 1 && patience <= MAX_PATIENCE))
    throw new TypeError(
      `ConversationClient: patience must be a number from 1 to ${MAX_PATIENCE}, got ${JSON.stringify(patience)}`,
    );
  const problem = pageUrl === undefined ? undefined : pageUrlProblem(pageUrl);
  if (problem !== undefined) throw new TypeError(`ConversationClient: pageUrl ${problem}`);
}

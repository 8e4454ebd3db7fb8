/** One conversation, as an application uses it. Cheap to make; holds no connection and no state of its own. */

import type { AnswerIn, OutputGiven } from '../json-schema/output-format.js';
import type { BatchResult, StepContinuation } from '../protocol/calls/batches.js';
import type { PluginStatesRead } from '../protocol/calls/plugin-state.js';
import type { Resolution } from '../protocol/calls/resolutions.js';
import type { RevokeRuleReply, Rule } from '../protocol/calls/rules.js';
import type { PendingCall } from '../protocol/calls/suspensions.js';
import type {
  CloseConversationReply,
  ConversationSnapshot,
} from '../protocol/conversation/conversation.js';
import type { InboxEventInput } from '../protocol/conversation/inbox.js';
import { MAX_LIST_PAGE } from '../protocol/limits/service-limits.js';
import type { ModelCallRead } from '../protocol/model/model-calls.js';
import type { Triggers } from '../protocol/triggers/triggers.js';
import type { BlobRef } from '../protocol/values/blobs.js';
import type { ConversationId, StepId, ToolCallId } from '../protocol/values/ids.js';
import type { Json } from '../protocol/values/json.js';
import type { ConversationRun } from '../protocol/workflow/run.js';
import type { WhatIfCancelled, WhatIfPage, WhatIfReport } from '../protocol/workflow/what-if.js';
import type {
  AnswerOfTool,
  BatchOutcome,
  ClaimOptions,
  ClaimOutcome,
  ExtendOptions,
  ExtendOutcome,
  NamedCall,
  ProgressOptions,
  ProgressOutcome,
  ResolutionOf,
  ResolveOptions,
  ResolveOutcome,
  ResolveTarget,
  StepResultOf,
} from './api/call-types.js';
import { checkCursor, checkKey, checkMessage, wholeProblem } from './api/checks.js';
import { ConversationError, invalidField } from './api/errors.js';
import { checkOptions } from './api/known-options.js';
import type {
  CancelOptions,
  CancelOutcome,
  EventSent,
  EventsOptions,
  Forked,
  ForkOptions,
  RevokeOptions,
  SendEventOptions,
  SendOptions,
  Sent,
  SnapshotOptions,
  SubscribeOptions,
} from './api/types.js';
import type { WhatIf, WhatIfListOptions, WhatIfOptions } from './api/what-if-types.js';
import { revokeRule } from './calls/rules.js';
import { readStep, resolveStep } from './calls/steps.js';
import { findAgent } from './messages/agents.js';
import { checkedFork, forkConversation } from './messages/fork.js';
import { checkEvent, sendInboxEvent } from './messages/inbox.js';
import {
  draftOf,
  knownAgentOf,
  namedAgentOf,
  sendDraft,
  triggeredConversation,
} from './messages/sending.js';
import { checkWhatIf, readWhatIf, startWhatIf, type WhatIfParts } from './messages/what-if.js';
import { cancelWhatIf, listWhatIfs } from './messages/what-if-list.js';
import type { BlobRange, BlobRead, BlobsPort } from './ports/blobs.js';
import type { LogPage, WatchFrame } from './ports/reader.js';
import { readBlob, storeFile } from './reading/blobs.js';
import { type NestedPendingCall, nestedPending } from './reading/nested-pending.js';
import { readPluginStates } from './reading/plugin-states.js';
import { watchNested } from './reading/watch-nested.js';
import { isOpenRun } from './temporal/executions.js';
import type { TriggerSchedules } from './triggers/schedules.js';
import { ConversationTriggers } from './triggers/triggers.js';

interface CallOperations {
  claim(target: ResolveTarget, options: ClaimOptions): Promise<ClaimOutcome>;
  progress(
    target: ResolveTarget,
    payload: Json,
    options: ProgressOptions,
  ): Promise<ProgressOutcome>;
}

export interface ConversationParts extends WhatIfParts {
  readonly schedules: TriggerSchedules;
  readonly blobs: BlobsPort | undefined;
  readonly resolve: (
    toolCallId: ToolCallId,
    resolution: Resolution,
    options: ResolveOptions,
  ) => Promise<ResolveOutcome>;
  /** Operations of the client on calls of any conversation. */
  readonly calls: CallOperations;
  readonly extend: (toolCallId: ToolCallId, options: ExtendOptions) => Promise<ExtendOutcome>;
}

/**
 * `Output`: the JSON of the final answers of its agent; any JSON where that is not known. `Tools`: the union of its
 * tools.
 */
export class Conversation<Output = Json, Tools = unknown> {
  readonly #parts: ConversationParts;

  constructor(parts: ConversationParts) {
    checkKey(parts.key);
    this.#parts = parts;
  }

  get id(): ConversationId {
    return this.#parts.key.conversationId;
  }

  get tenant(): string {
    return this.#parts.key.tenant;
  }

  /**
   * Sends a message; starts the conversation when there is none. Safe to repeat with the same `requestId`.
   *
   * | returned | when |
   * |---|---|
   * | `admitted` | recorded; `duplicate` when it was recorded before |
   * | `queued` | no worker answered in 3 s; the message is durable and `final()` returns its turn |
   *
   * @throws {ConversationError} invalid_request, unknown_agent, agent_mismatch, busy, queue_full, conversation_closed,
   *   temporal_unreachable, workers_busy: send it again after `retryAfterMs`
   */
  async send(text: string, options?: SendOptions<never>): Promise<Sent<Output>>;
  async send<Given extends OutputGiven>(
    text: string,
    options: SendOptions<Given>,
  ): Promise<Sent<AnswerIn<Given>>>;
  async send(text: string, options: SendOptions = {}): Promise<Sent<unknown>> {
    checkOptions('send', options);
    const draft = draftOf(this.#parts, text, options);
    checkMessage(draft);
    return await this.#mapped(() => sendDraft(this.#parts, draft, options));
  }

  /**
   * Sends an event of another system, for the model to read: `{eventId, kind, payload}`. Starts the conversation when
   * there is none, and a turn when none runs. The same `eventId` is one event, however often it is delivered.
   * @throws {ConversationError} invalid_request, unknown_agent, agent_mismatch, queue_full, conversation_closed,
   *   temporal_unreachable
   */
  async sendEvent(
    event: Pick<InboxEventInput, 'eventId' | 'kind' | 'payload'>,
    options: SendEventOptions = {},
  ): Promise<EventSent> {
    checkOptions('sendEvent', options);
    const { key, agents, stamp, known } = this.#parts;
    const { eventId, kind, payload } = event;
    const input = { eventId, kind, payload, actor: stamp(options.actor) };
    checkEvent(input);
    const delivered = await this.#mapped(async () => {
      const manifest = await findAgent(agents, await namedAgentOf(this.#parts));
      return await sendInboxEvent(this.#parts, { key, manifest, input });
    });
    if (delivered.status === 'admitted') known.note(key, delivered.seq);
    return delivered;
  }

  /**
   * Answers a waiting call of this conversation. With the name of its tool (`{toolCallId, name}`, or a pending call) the
   * answer has the type that the agent's tool declares. @see ConversationClient.resolve
   */
  async resolve<const Name extends string>(
    call: ToolCallId | NamedCall<Name>,
    resolution: ResolutionOf<AnswerOfTool<Tools, Name>>,
    options: ResolveOptions = {},
  ): Promise<ResolveOutcome> {
    const toolCallId = typeof call === 'object' ? call.toolCallId : call;
    return await this.#parts.resolve(toolCallId, resolution, options);
  }

  /**
   * The calls of a step as one continuation, for front ends that execute all client calls of a step together. Snapshots
   * contain the id of the step. @throws {ConversationError} unknown_conversation, unknown_step
   */
  async step(stepId: StepId): Promise<StepContinuation> {
    const snapshot = await this.snapshot();
    return await this.#mapped(() => readStep(this.#parts, stepId, snapshot));
  }

  /**
   * Sends the results of all open client calls of a step, in their order: accepted whole or not at all, under one
   * verdict. With the name of its tool a result may be a value, in the type that the agent's tool declares. Never throws
   * for a refusal. @throws {ConversationError} invalid_request, no_worker, temporal_unreachable, store_unavailable
   */
  async resolveBatch(
    stepId: StepId,
    results: readonly (BatchResult | StepResultOf<Tools>)[],
    options: Omit<ResolveOptions, 'argsDigest'> = {},
  ): Promise<BatchOutcome> {
    checkOptions('resolveBatch', options);
    return await resolveStep(this.#parts, { stepId, results }, options);
  }

  /** Moves the deadline of a waiting call of this conversation. @see ConversationClient.extend */
  async extend(toolCallId: ToolCallId, options: ExtendOptions): Promise<ExtendOutcome> {
    return await this.#parts.extend(toolCallId, options);
  }

  /** Claims a waiting call of this conversation, or renews the claim. @see ConversationClient.claim */
  async claim(toolCallId: ToolCallId, options: ClaimOptions = {}): Promise<ClaimOutcome> {
    return await this.#parts.calls.claim({ ...this.#parts.key, toolCallId }, options);
  }

  /** Publishes the progress of a call that the caller holds. @see ConversationClient.progress */
  async progress(
    toolCallId: ToolCallId,
    payload: Json,
    options: ProgressOptions,
  ): Promise<ProgressOutcome> {
    return await this.#parts.calls.progress({ ...this.#parts.key, toolCallId }, payload, options);
  }

  /**
   * Begins a new conversation with the state that this one had at a finished step or turn. Nothing of it runs until it
   * gets a message, or an answer to a call that waits anew. Safe to repeat with the same `requestId` or `id`.
   * @throws {ConversationError} invalid_request, naming the nearest seqs, or the reason why a call cannot wait anew;
   *   unknown_conversation, agent_not_served, temporal_unreachable, store_unavailable
   */
  async fork(options: ForkOptions): Promise<Forked> {
    checkOptions('fork', options);
    await this.snapshot({ atLeastSeq: checkedFork(options).atSeq });
    return await this.#mapped(() => forkConversation(this.#parts, options));
  }

  /**
   * Plays a recorded turn again, with another prompt or model, and shows both side by side. No tool runs: calls get the
   * recorded results of the turn, and the first one without ends it as `diverged`. Nothing of the conversation changes.
   * Needs a worker, and costs model calls. Safe to repeat with the same `requestId`.
   * @throws {ConversationError} invalid_request, unknown_conversation, unknown_agent, agent_not_served,
   *   temporal_unreachable, store_unavailable
   */
  async whatIf(options: WhatIfOptions): Promise<WhatIf> {
    checkOptions('whatIf', options);
    checkWhatIf(options);
    const snapshot = await this.snapshot();
    return await this.#mapped(() => startWhatIf(this.#parts, options, snapshot));
  }

  /** State of a what-if of this conversation. @throws {ConversationError} unknown_what_if, and as `snapshot` */
  async whatIfReport(whatIfId: string): Promise<WhatIfReport> {
    const { startedAt } = await this.snapshot();
    return await this.#mapped(() => readWhatIf(this.#parts, whatIfId, startedAt));
  }

  /**
   * Lists the what-ifs of this conversation that Temporal still keeps, the newest first. One that was begun or has ended
   * a moment ago may be missing, or still run in the list. @throws {ConversationError} invalid_request, and as `snapshot`
   */
  async whatIfs(options: WhatIfListOptions = {}): Promise<WhatIfPage> {
    checkOptions('whatIfs', options);
    const { startedAt } = await this.snapshot();
    return await this.#mapped(() => listWhatIfs(this.#parts, options, startedAt));
  }

  /**
   * Cancels a what-if: its model call is stopped, and its finished steps stay readable. Safe to repeat.
   * @throws {ConversationError} unknown_what_if, and as `snapshot`
   */
  async cancelWhatIf(whatIfId: string): Promise<WhatIfCancelled> {
    const { startedAt } = await this.snapshot();
    return await this.#mapped(() => cancelWhatIf(this.#parts, whatIfId, startedAt));
  }

  /** Stops the running turn. If none runs, the outcome says so. @throws {ConversationError} unknown_conversation */
  async cancel(options: CancelOptions = {}): Promise<CancelOutcome> {
    return await this.#parts.control.cancel(this.#parts.key, options);
  }

  /**
   * Closes the conversation for good; `send` with `reopen` opens it again. @throws {ConversationError} unknown_conversation,
   * no_worker
   */
  async close(
    options: { readonly actor?: SendOptions['actor'] } = {},
  ): Promise<CloseConversationReply> {
    checkOptions('close', options);
    return await this.#parts.control.close(this.#parts.key, options.actor);
  }

  /**
   * The present state; at least as new as the replies that this client received.
   * @throws {ConversationError} unknown_conversation; no_worker when it is open, and neither the store nor a worker returns
   *   its state
   */
  async snapshot(options: SnapshotOptions = {}): Promise<ConversationSnapshot> {
    checkOptions('snapshot', options);
    const { reader, known, key } = this.#parts;
    const snapshot = await this.#mapped(() => known.snapshot(reader, key, options.atLeastSeq));
    if (snapshot === undefined) throw await this.#unread();
    return snapshot;
  }

  /** The calls that wait for an answer, oldest first. @throws {ConversationError} as `snapshot` */
  async pending(options?: { readonly nested?: false }): Promise<readonly PendingCall[]>;
  /** With `nested` also those of its sub-agents at any depth, each with its path. Needs the event log. */
  async pending(options: { readonly nested: boolean }): Promise<readonly NestedPendingCall[]>;
  async pending(options: { readonly nested?: boolean } = {}): Promise<readonly PendingCall[]> {
    checkOptions('pending', options);
    const snapshot = await this.snapshot();
    if (options.nested !== true) return snapshot.pending;
    return await this.#mapped(() => nestedPending(this.#parts.reader, snapshot));
  }

  /** Remembered decisions, oldest first. @throws {ConversationError} as `snapshot` */
  async rules(): Promise<readonly Rule[]> {
    return (await this.snapshot()).rules ?? [];
  }

  /**
   * States of the agent's plugins, by id: those of now, or, when no worker returns them in time, those of the stored log.
   * A plugin that has written nothing has none; its definition has the defaults.
   * @throws {ConversationError} as `snapshot`
   */
  async pluginStates(): Promise<PluginStatesRead> {
    const read = await this.#mapped(() => readPluginStates(this.#parts));
    if (read === undefined) throw await this.#unread();
    return read;
  }

  /**
   * Events that come to this conversation by the clock. They never start a conversation, and end with it: also when it
   * is closed. `actor`: their maker, in whose name, without roles, their turns run. @see Triggers
   */
  triggers(options: { readonly actor?: SendOptions['actor'] } = {}): Triggers {
    checkOptions('triggers', options);
    const { key, gateway, schedules, stamp } = this.#parts;
    return new ConversationTriggers({
      ...{ key, schedules, taskQueue: gateway.taskQueue, madeBy: 'client' },
      createdBy: stamp(options.actor),
      conversation: () => triggeredConversation(this.#parts),
      toConversationError: (error) => gateway.toConversationError(error),
    });
  }

  /** Revokes a remembered decision: later calls need an approval again. @see revokeRule in `rules.ts` for the errors */
  async revokeRule(ruleId: string, options: RevokeOptions = {}): Promise<RevokeRuleReply> {
    checkOptions('revokeRule', options);
    return await revokeRule(this.#parts, ruleId, options);
  }

  /**
   * One page of the log: oldest first, or with `before` newest first. `limit`: from 1; a page has 1,000 at most.
   * @throws {ConversationError} invalid_request; as `snapshot`
   */
  async events(options: EventsOptions = {}): Promise<LogPage> {
    checkOptions('events', options);
    const { reader, key } = this.#parts;
    const { after, before, limit } = options;
    if (after !== undefined && before !== undefined)
      throw invalidField('/before', 'cannot be given together with after');
    const problem = limit === undefined ? undefined : wholeProblem(limit);
    if (problem !== undefined) throw invalidField('/limit', problem);
    checkCursor('after', after);
    if (before !== 'end') checkCursor('before', before);
    const page = await this.#mapped(() =>
      reader.events(key, {
        ...(after === undefined ? {} : { after }),
        ...(before === undefined ? {} : { before }),
        ...(limit === undefined ? {} : { limit: Math.min(limit, MAX_LIST_PAGE) }),
      }),
    );
    if (page === undefined) throw await this.#unread();
    return page;
  }

  /**
   * A value that was too large for its event, or a part of it, by the `blob` in the event. @throws {ConversationError}
   * unknown_blob
   */
  async blob(id: string, range?: BlobRange): Promise<BlobRead> {
    checkOptions('blob', range);
    const { blobs, key } = this.#parts;
    return await this.#mapped(() => readBlob(blobs, key, { id, range }));
  }

  /**
   * Stores a file, at most 16 MiB, for the `attachments` of a message: `{type: 'file', source: {blob}, mediaType}`. May
   * be stored before the conversation begins, and is deleted with it. Safe to repeat.
   * @throws {ConversationError} invalid_request, body_too_large, store_unavailable
   */
  async upload(content: Uint8Array): Promise<BlobRef> {
    const { blobs, key } = this.#parts;
    return await this.#mapped(() => storeFile(blobs, key, content));
  }

  /**
   * The request that a model call got: from the audit where a worker keeps it, else derived from the log and the agent's
   * definition. `seq`: of the `model_call` event. Only reads.
   * @throws {ConversationError} not_found, when no event with the seq is a model call; as `snapshot`
   */
  async modelCall(
    seq: number,
    options: { readonly generation?: number } = {},
  ): Promise<ModelCallRead> {
    checkOptions('modelCall', options);
    const { generation } = options;
    const { reader, key } = this.#parts;
    const found = await this.#mapped(async () => reader.modelCall?.(key, { generation, seq }));
    if (found !== undefined) return found;
    await this.snapshot();
    if (reader.modelCall === undefined)
      throw new ConversationError('store_unavailable', 'Reading model calls needs the event log');
    const message = 'must be the seq of an event "model_call" of the log';
    throw new ConversationError('not_found', `No model call at ${seq}: the seq ${message}`, {
      problems: [{ path: '/seq', message }],
    });
  }

  /**
   * The newest run of its workflow in Temporal; `gone` where the server has none any more. Needs no worker.
   * @throws {ConversationError} unknown_conversation, temporal_unreachable, store_unavailable
   */
  async run(): Promise<ConversationRun> {
    const { gateway, key, reader } = this.#parts;
    const run = await gateway.run(key);
    if (run.runId === undefined && (await this.#mapped(() => reader.snapshot(key))) === undefined)
      throw this.#unknown();
    return run;
  }

  /** The log from a position, then its tail with live events between, until the signal aborts or the loop is left. */
  async *subscribe(options: SubscribeOptions = {}): AsyncGenerator<WatchFrame> {
    checkOptions('subscribe', options);
    checkCursor('after', options.after);
    const { reader, key } = this.#parts;
    const left = new AbortController();
    const signal =
      options.signal === undefined ? left.signal : AbortSignal.any([left.signal, options.signal]);
    const position = options.after === undefined ? {} : { after: options.after };
    try {
      const given = { ...position, signal };
      yield* options.nested === true ? watchNested(reader, key, given) : reader.watch(key, given);
    } catch (error) {
      throw this.#parts.gateway.toConversationError(error);
    } finally {
      left.abort();
    }
  }

  /**
   * Whether the conversation was ever started, open or closed. Needs no worker. @throws {ConversationError}
   * temporal_unreachable, store_unavailable
   */
  async exists(): Promise<boolean> {
    return (await this.#mapped(() => knownAgentOf(this.#parts))) !== undefined;
  }

  /**
   * Whether its newest run is open and not deleted, taken by a worker or not. Needs no worker. @throws {ConversationError}
   * temporal_unreachable
   */
  async isOpen(): Promise<boolean> {
    const { gateway, key, reader } = this.#parts;
    const run = await gateway.describe(key);
    if (run === undefined || !isOpenRun(run)) return false;
    return (await this.#mapped(async () => reader.isDeletedRun?.(key, run.runId))) !== true;
  }

  /** Converts every error of a store or the server to an `ConversationError`. */
  async #mapped<Value>(call: () => Promise<Value>): Promise<Value> {
    try {
      return await call();
    } catch (error) {
      throw this.#parts.gateway.toConversationError(error);
    }
  }

  /**
   * The error of a conversation without a readable state. One that begins while no worker runs is in no log yet: if it
   * were reported as unknown, its sender would send the message again.
   * @throws {ConversationError} temporal_unreachable, because without the server neither answer is certain
   */
  async #unread(): Promise<ConversationError> {
    const { gateway } = this.#parts;
    if (!(await this.isOpen())) return this.#unknown();
    const why = `Conversation "${this.id}" is open, but nothing of it is stored yet, and no worker has returned its state.`;
    const { reason, text } = await gateway.whyUnanswered(this.#parts.key);
    return new ConversationError(reason, `${why} ${text}`);
  }

  #unknown(): ConversationError {
    return new ConversationError('unknown_conversation', `No conversation "${this.id}"`);
  }
}

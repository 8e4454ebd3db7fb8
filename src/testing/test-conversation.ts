/**
 * `testConversation`: an agent's conversation on the real core, without Temporal or a network, on a virtual clock.
 * Tools really run; the test plays people and clients.
 */
import type { Refusal } from '../core/judge/judged.js';
import { verdictOf } from '../core/verbs/verb.js';
import { snapshotOf } from '../core/view/snapshot.js';
import type { Agent } from '../define/define-agent.js';
import type { Pending } from '../define/tool/pending.js';
import type { AnyTool, Tool } from '../define/tool/types.js';
import { outputSchemaOf } from '../json-schema/output-format.js';
import type { BatchResult, BatchVerdict } from '../protocol/calls/batches.js';
import type { ClaimVerdict } from '../protocol/calls/claims.js';
import type { ExtendVerdict } from '../protocol/calls/extensions.js';
import type { AcceptedVerdict, Resolution, Verdict } from '../protocol/calls/resolutions.js';
import { isAccepted } from '../protocol/calls/resolutions.js';
import type { Remember } from '../protocol/calls/rules.js';
import type { PendingCall } from '../protocol/calls/suspensions.js';
import type {
  ConversationSnapshot,
  SendMessageReply,
} from '../protocol/conversation/conversation.js';
import type { InboxEventInput, InboxEventReply } from '../protocol/conversation/inbox.js';
import type { CanonicalEvent } from '../protocol/log/events.js';
import type { Triggers } from '../protocol/triggers/triggers.js';
import { type Duration, durationMs } from '../protocol/values/durations.js';
import { isRecord, type Json } from '../protocol/values/json.js';
import { TestDriver } from './driver.js';
import {
  MessageRefused,
  ResolutionRefused,
  type TestClaimOptions,
  type TestConversationOptions,
  type TestResolveOptions,
  type TestSendOptions,
} from './local/test-options.js';
import { SeenConversation } from './seen-conversation.js';

/** The default actor of messages and answers. */
export const TESTER = { id: 'tester', verified: true, channel: 'client' } as const;

/** `Call`: type of the pending calls. */
export class TestConversation<Services, Call = PendingCall> extends SeenConversation<Call> {
  readonly #driver: TestDriver<Services>;
  #requests = 0;

  constructor(
    agent: Agent<Services> | TestDriver<Services>,
    options: TestConversationOptions<Services> = {},
  ) {
    super();
    this.#driver = agent instanceof TestDriver ? agent : new TestDriver(agent, options);
  }

  /** The conversations of its sub-agents, in the order in which they were started, also those that have ended. */
  get children(): readonly TestConversation<Services>[] {
    return this.#driver.children.map((driver) => new TestConversation(driver));
  }

  /** The newest conversation of a sub-agent. @throws {Error} when there is none */
  child(agent: string): TestConversation<Services> {
    const found = this.children.findLast(({ snapshot }) => snapshot.agent === agent);
    if (found === undefined) throw new Error(`no conversation of sub-agent "${agent}"`);
    return found;
  }

  /**
   * Sends a message and runs until the conversation can only wait.
   * @throws {MessageRefused} busy, conversation_closed, invalid_request, queue_full
   */
  async send(text: string, options: TestSendOptions = {}): Promise<SendMessageReply> {
    const { requestId = this.#nextRequestId(), actor, onBusy, attachments, output } = options;
    const outcome = this.#driver.machine.take('sendMessage', {
      text,
      requestId,
      actor: { ...TESTER, ...actor },
      ...(onBusy === undefined ? {} : { onBusy }),
      ...(attachments === undefined ? {} : { attachments }),
      ...(output === undefined ? {} : { output: outputSchemaOf(output) }),
    });
    return await this.#replyTo(outcome);
  }

  /**
   * Resolves a call, by its id or by the name of its tool (the oldest one pending), and runs on. Never throws: returns
   * the verdict.
   */
  async resolve(
    target: string,
    resolution: Resolution,
    options: TestResolveOptions = {},
  ): Promise<Verdict> {
    const { argsDigest, claimId } = options;
    const outcome = this.#driver.machine.take('resolveToolCall', {
      toolCallId: this.#callIdOf(target),
      resolution,
      ...this.#request(options),
      ...(argsDigest === undefined ? {} : { argsDigest }),
      ...(claimId === undefined ? {} : { claimId }),
    });
    await this.settle();
    return verdictOf(outcome);
  }

  /** Approves a call; `options` may edit the input, or remember the decision. @throws {ResolutionRefused} */
  async approve(
    target: string,
    options: TestResolveOptions & { readonly input?: Json; readonly remember?: Remember } = {},
  ): Promise<AcceptedVerdict> {
    const { input, remember, ...rest } = options;
    const edit = input === undefined ? {} : { input };
    const rule = remember === undefined ? {} : { remember };
    return await this.#accepted(target, { type: 'approve', ...edit, ...rule }, rest);
  }

  /** Denies a call; `options` may remember the decision. @throws {ResolutionRefused} */
  async deny(
    target: string,
    reason?: string,
    options: TestResolveOptions & { readonly remember?: Remember } = {},
  ): Promise<AcceptedVerdict> {
    const { remember, ...rest } = options;
    const why = reason === undefined ? {} : { reason };
    const rule = remember === undefined ? {} : { remember };
    return await this.#accepted(target, { type: 'deny', ...why, ...rule }, rest);
  }

  /**
   * Answers a question, or gives the result of a client's or another backend's call, by the kind of the call's wait.
   * @throws {ResolutionRefused}
   */
  async answer(
    target: string,
    value: Json,
    options: TestResolveOptions = {},
  ): Promise<AcceptedVerdict> {
    const toolCallId = this.#callIdOf(target);
    const waiting = this.snapshot.pending.find((call) => call.toolCallId === toolCallId);
    const type = waiting?.kind === 'elicitation' ? 'answer' : 'result';
    return await this.#accepted(toolCallId, { type, value }, options);
  }

  /** Gives the results of all open client calls of the waiting step as one set. Never throws: returns the verdict. */
  async resolveBatch(
    results: readonly BatchResult[],
    options: Omit<TestResolveOptions, 'argsDigest'> = {},
  ): Promise<BatchVerdict> {
    const stepId = this.snapshot.turn?.stepId ?? '';
    const batch = { stepId, results, ...this.#request(options) };
    const outcome = this.#driver.machine.take('resolveBatch', batch);
    await this.settle();
    return verdictOf(outcome);
  }

  /**
   * Claims a client or external call, by its id or the name of its tool; with a `claimId` it renews the claim. Leases
   * lapse by `advance`. Never throws: returns the verdict.
   */
  claim(target: string, options: TestClaimOptions = {}): ClaimVerdict {
    const { requestId = this.#nextRequestId(), actor } = options;
    const by = { ...options, requestId, actor: { ...TESTER, ...actor } };
    return this.#driver.claim(this.#callIdOf(target), by);
  }

  /** Moves the deadline of a waiting call, within its caps. Never throws: returns the verdict. */
  extend(
    target: string,
    to: { readonly by: Duration } | { readonly until: Date },
    options: Pick<TestResolveOptions, 'requestId' | 'actor'> = {},
  ): ExtendVerdict {
    const { requestId = this.#nextRequestId(), actor } = options;
    const outcome = this.#driver.machine.take('extendToolCall', {
      toolCallId: this.#callIdOf(target),
      ...('by' in to ? { by: durationMs(to.by) } : { until: to.until.toISOString() }),
      requestId,
      actor: { ...TESTER, ...actor },
    });
    return verdictOf(outcome);
  }

  /**
   * Delivers an event of another system, once for each `eventId`, and runs until the conversation waits. @throws
   * {MessageRefused}
   */
  async sendEvent(event: InboxEventInput): Promise<InboxEventReply> {
    return await this.#replyTo(
      this.#driver.machine.take('inboxEvent', { actor: TESTER, ...event }),
    );
  }

  /** The triggers of the conversation; `advance` has their events come. They throw `TriggerRefused`. */
  get triggers(): Triggers {
    return this.#driver.triggers.by({ madeBy: 'client', createdBy: TESTER });
  }

  /** Revokes a remembered decision. False when there is no such rule. */
  revokeRule(ruleId: string): boolean {
    return this.#driver.machine.take('revokeRule', { ruleId, actor: TESTER }).accepted;
  }

  async cancel(): Promise<boolean> {
    const outcome = this.#driver.machine.take('cancelTurn', { actor: TESTER });
    await this.settle();
    return outcome.accepted && outcome.reply.cancelled;
  }

  close(): void {
    this.#driver.machine.take('closeConversation', { actor: TESTER });
    this.#driver.sync();
  }

  /**
   * Moves the clock. Deadlines and leases on the way end in their order, each at its own time. @throws {RangeError}
   * when it is no duration
   */
  async advance(duration: Duration): Promise<void> {
    const byMs = durationMs(duration);
    if (byMs === undefined || byMs < 0) throw new RangeError(`not a duration: ${String(duration)}`);
    await this.#driver.root.advance(byMs);
  }

  /**
   * Loses the worker in the next runs of a tool: each runs to its end, but its result is dropped. A run stands for all
   * of its attempts.
   */
  loseRuns(toolName: string, runs = 1): void {
    this.#driver.loseRuns(toolName, runs);
  }

  /**
   * Simulates a deploy: from here on the definitions of this agent, which has the same name, count. Waiting calls are
   * judged by them before they run. `offers`: calls that wait for an answer are offered by them at once, as workers do
   * when the last old one is gone; `false` shows the treatment of answers before that.
   * @throws {TypeError} when it is no agent of that name
   */
  async deploy(
    agent: Agent<Services>,
    { offers = true }: { readonly offers?: boolean } = {},
  ): Promise<void> {
    if (!isAgent(agent) || agent.name !== this.snapshot.agent)
      throw new TypeError(`deploy: it must be an agent named "${this.snapshot.agent}"`);
    await this.#driver.deploy(agent, offers);
  }

  /** Simulates continue-as-new: only the state as JSON survives. */
  rollOver(): void {
    this.#driver.rollOver();
  }

  get now(): Date {
    return new Date(this.#driver.nowMs);
  }

  override get snapshot(): ConversationSnapshot {
    return snapshotOf(this.#driver.machine.state);
  }

  override get events(): readonly CanonicalEvent[] {
    return this.#driver.events;
  }

  /** Runs until only people, clients or the clock can continue the conversation. */
  async settle(): Promise<void> {
    await this.#driver.root.settle();
  }

  /** The reply to an accepted input, or to the first attempt of a repeated one. @throws {MessageRefused} */
  async #replyTo<Reply>(
    outcome:
      | { readonly accepted: true; readonly reply: Reply }
      | { readonly accepted: false; readonly refusal: Refusal<Reply> },
  ): Promise<Reply> {
    await this.settle();
    if (outcome.accepted) return outcome.reply;
    const { refusal } = outcome;
    if (refusal.reply === undefined) throw new MessageRefused(refusal);
    return refusal.reply;
  }

  async #accepted(
    target: string,
    resolution: Resolution,
    options: TestResolveOptions,
  ): Promise<AcceptedVerdict> {
    const verdict = await this.resolve(target, resolution, options);
    if (!isAccepted(verdict)) throw new ResolutionRefused(target, verdict);
    return verdict;
  }

  #request({ requestId, actor, receivedAt }: TestResolveOptions): object {
    return {
      requestId: requestId ?? this.#nextRequestId(),
      actor: { ...TESTER, ...actor },
      receivedAt: (receivedAt ?? this.now).toISOString(),
    };
  }

  /** A pending call first; else the newest call of that tool, so that a second answer gets the verdict `stale`. */
  #callIdOf(target: string): string {
    const { pending } = this.snapshot;
    if (pending.some((entry) => entry.toolCallId === target)) return target;
    const waiting = pending.find((entry) => entry.name === target);
    if (waiting !== undefined) return waiting.toolCallId;
    return this.calls(target).at(-1)?.toolCallId ?? target;
  }

  #nextRequestId(): string {
    this.#requests += 1;
    return `request-${this.snapshot.seq}-${this.#requests}`;
  }
}

/** Starts a conversation with the agent, without any message. @throws {TypeError} when it is no agent */
export function testConversation<
  Services,
  Tools extends readonly AnyTool[] = readonly Tool<Services>[],
>(
  agent: Agent<Services> & { readonly tools: Tools },
  options: TestConversationOptions<Services> = {},
): TestConversation<Services, Pending<{ readonly tools: Tools }>> {
  if (!isAgent(agent))
    throw new TypeError(
      'testConversation: the first argument must be an agent made by defineAgent',
    );
  return new TestConversation(agent, options);
}

function isAgent(given: unknown): boolean {
  return isRecord(given) && given['kind'] === 'agent';
}

/**
 * `testConversation`: an agent's conversation on the real core, with no Temporal, no network and a virtual clock. Drives the
 * same machine as the workflow does; tools run for real, people and clients are played by the test.
 */

import type { ExternalEffect, TimerEffect } from '../core/effects.js';
import { effectKey, isTimer } from '../core/effects.js';
import { extendToolCall } from '../core/extensions.js';
import { takeInboxEvent } from '../core/inbox.js';
import { ConversationMachine, startedState } from '../core/machine.js';
import { revokeRule } from '../core/rules.js';
import { snapshotOf } from '../core/snapshot.js';
import type { ConversationState } from '../core/state.js';
import { isoOf } from '../core/state.js';
import { timerFired } from '../core/timers.js';
import type { Agent } from '../define/agent.js';
import { type Duration, durationMs } from '../define/durations.js';
import type { ClaimVerdict } from '../protocol/claims.js';
import type { ConversationSnapshot, SendMessageReply } from '../protocol/conversation.js';
import type { CanonicalEvent, EventType } from '../protocol/events.js';
import type { ExtendVerdict } from '../protocol/extensions.js';
import type { InboxEventInput, InboxEventReply } from '../protocol/inbox.js';
import type { Resolution, Verdict } from '../protocol/resolutions.js';
import type { PendingCall } from '../protocol/suspensions.js';
import type { ToolResultEnvelope } from '../protocol/tools.js';
import { LocalWork } from './local-work.js';
import { type LeaseEnd, TestLeases } from './test-leases.js';
import {
  MessageRefused,
  type TestClaimOptions,
  type TestConversationOptions,
  type TestResolveOptions,
  type TestSendOptions,
} from './test-options.js';

const DEFAULT_START = Date.UTC(2026, 0, 1);
const TESTER = { id: 'tester', verified: true, channel: 'client' } as const;
/** More rounds than any turn can take; reached only when an effect makes no progress. */
const MAX_ROUNDS = 10_000;

export class TestConversation<Services> {
  readonly events: CanonicalEvent[] = [];
  #machine: ConversationMachine;
  #nowMs: number;
  #requests = 0;
  readonly #work: LocalWork<Services>;
  readonly #leases = new TestLeases();
  readonly #losses = new Map<string, number>();
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(agent: Agent<Services>, options: TestConversationOptions<Services> = {}) {
    this.#nowMs = options.startAt?.getTime() ?? DEFAULT_START;
    this.#work = new LocalWork(agent, options);
    const started: Extract<CanonicalEvent, { type: 'conversation_started' }> = {
      type: 'conversation_started',
      seq: 1,
      at: isoOf(this.#nowMs),
      tenant: 'default',
      conversationId: 'test',
      agent: agent.name,
      chain: 'test',
      settings: agent.settings,
    };
    this.events.push(started);
    this.#machine = this.#machineOn(startedState(undefined, started));
  }

  /**
   * Sends a message and runs until nothing is left to do but to wait.
   * @throws {MessageRefused} busy, conversation_closed, invalid_request, queue_full
   */
  async send(text: string, options: TestSendOptions = {}): Promise<SendMessageReply> {
    const { requestId = this.#nextRequestId(), actor, onBusy } = options;
    const outcome = this.#machine.sendMessage({
      text,
      requestId,
      actor: { ...TESTER, ...actor },
      ...(onBusy === undefined ? {} : { onBusy }),
    });
    if (!outcome.accepted && outcome.refusal.reply === undefined)
      throw new MessageRefused(outcome.refusal.code, outcome.refusal.message);
    await this.settle();
    return outcome.accepted ? outcome.reply : (outcome.refusal.reply as SendMessageReply);
  }

  /** Resolves a call, by its id or by the name of its tool (the oldest one pending), and runs on. Never throws. */
  async resolve(
    target: string,
    resolution: Resolution,
    options: TestResolveOptions = {},
  ): Promise<Verdict> {
    const { requestId = this.#nextRequestId(), actor, argsDigest, claimId, receivedAt } = options;
    const verdict = this.#machine.resolve({
      toolCallId: this.#callIdOf(target),
      resolution,
      requestId,
      actor: { ...TESTER, ...actor },
      receivedAt: (receivedAt ?? new Date(this.#nowMs)).toISOString(),
      ...(argsDigest === undefined ? {} : { argsDigest }),
      ...(claimId === undefined ? {} : { claimId }),
    });
    await this.settle();
    return verdict;
  }

  /**
   * Says who runs a client or external call, by its id or the name of its tool; with a `claimId` it is a renewal. Leases lapse
   * by `advance`. Never throws: the verdict says why not.
   */
  claim(target: string, options: TestClaimOptions = {}): ClaimVerdict {
    const { requestId = this.#nextRequestId(), actor } = options;
    const toolCallId = this.#callIdOf(target);
    const pending = this.pending.find((entry) => entry.toolCallId === toolCallId);
    const by = { ...options, requestId, actor: { ...TESTER, ...actor } };
    return this.#leases.claim(this.#machine, { toolCallId, pending }, by);
  }

  /** Moves the deadline of a waiting call, within its caps. Never throws: the verdict says why not. */
  extend(
    target: string,
    to: { readonly by: Duration } | { readonly until: Date },
    options: Pick<TestResolveOptions, 'requestId' | 'actor'> = {},
  ): ExtendVerdict {
    const { requestId = this.#nextRequestId(), actor } = options;
    return extendToolCall(this.#machine, {
      toolCallId: this.#callIdOf(target),
      ...('by' in to ? { by: durationMs(to.by) } : { until: to.until.toISOString() }),
      requestId,
      actor: { ...TESTER, ...actor },
    });
  }

  /** An event of another system comes in, once for each `eventId`. Runs on. @throws {MessageRefused} */
  async deliver(event: InboxEventInput): Promise<InboxEventReply> {
    const outcome = takeInboxEvent(this.#machine, { actor: TESTER, ...event });
    await this.settle();
    if (outcome.accepted) return outcome.reply;
    const { code, message, reply } = outcome.refusal;
    if (reply === undefined) throw new MessageRefused(code, message);
    return reply;
  }

  /** Forgets a remembered decision. False when there is no such rule. */
  revokeRule(ruleId: string): boolean {
    return 'reply' in revokeRule(this.#machine, { ruleId, actor: TESTER });
  }

  async cancel(): Promise<boolean> {
    const { cancelled } = this.#machine.cancelTurn({ actor: TESTER });
    await this.settle();
    return cancelled;
  }

  close(): void {
    this.#machine.close('requested', { actor: TESTER });
  }

  /** Moves the clock; deadlines and leases on the way end in their order, each at its own time. */
  async advance(duration: Duration): Promise<void> {
    const byMs = durationMs(duration);
    if (byMs === undefined || byMs < 0) throw new RangeError(`not a duration: ${String(duration)}`);
    const until = this.#nowMs + byMs;
    for (;;) {
      const [next] = this.#deadlines().filter((entry) => Date.parse(entry.deadline) <= until);
      if (next === undefined) break;
      this.#nowMs = Math.max(this.#nowMs, Date.parse(next.deadline));
      if (next.type === 'lease_end') this.#leases.lapse(this.#machine, next);
      else timerFired(this.#machine, next);
      await this.settle();
    }
    this.#nowMs = until;
  }

  /**
   * Lets the worker be lost under the next runs of a tool: each is run to its end, but what it returned is never heard of. A
   * run stands for all of its attempts.
   */
  loseRuns(toolName: string, runs = 1): void {
    this.#losses.set(toolName, runs);
  }

  /** What continue-as-new does: nothing survives but the state as JSON. */
  rollOver(): void {
    this.#machine.rolledOver('requested');
    const carried = JSON.parse(JSON.stringify(this.#machine.state)) as ConversationState;
    this.#machine = this.#machineOn(carried);
  }

  get now(): Date {
    return new Date(this.#nowMs);
  }

  get pending(): readonly PendingCall[] {
    return this.snapshot.pending;
  }

  get snapshot(): ConversationSnapshot {
    return snapshotOf(this.#machine.state);
  }

  /** Text of the newest assistant message; empty before the first. */
  get text(): string {
    const ended = this.events.findLast((event) => event.type === 'turn_ended');
    return ended?.text ?? '';
  }

  /** The log, as types: the first thing to assert on. */
  get eventTypes(): readonly EventType[] {
    return this.events.map((event) => event.type);
  }

  /** What the model got as the result of a call, by its id or by the name of its tool (the newest). */
  result(target: string): ToolResultEnvelope | undefined {
    const event = this.events.findLast(
      (entry) =>
        entry.type === 'tool_result' && (entry.toolCallId === target || entry.name === target),
    );
    return event?.type === 'tool_result' ? event.result.envelope : undefined;
  }

  /** Runs until only people, clients or the clock can move the conversation on. */
  async settle(): Promise<void> {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      this.#startMissing();
      if (this.#underWay.size === 0) return;
      await Promise.race(this.#underWay.values());
    }
    throw new Error('the conversation did not settle');
  }

  #startMissing(): void {
    for (const effect of this.#machine.effects()) {
      const key = effectKey(effect);
      if (isTimer(effect) || this.#underWay.has(key)) continue;
      const work = this.#carryOut(effect).finally(() => {
        this.#underWay.delete(key);
      });
      this.#underWay.set(key, work);
    }
  }

  async #carryOut(effect: Exclude<ExternalEffect, TimerEffect>): Promise<void> {
    const { state } = this.#machine;
    switch (effect.type) {
      case 'call_model': {
        const answer = await this.#work.callModel(state, effect);
        if (answer.ok) this.#machine.modelCompleted(effect, answer.value);
        else this.#machine.modelFailed(effect, answer.error);
        return;
      }
      case 'abort_model':
        this.#machine.modelAborted(effect);
        return;
      case 'plan_call': {
        const { toolCallId } = effect;
        this.#machine.callPlanned(toolCallId, await this.#work.planCall(state, toolCallId));
        return;
      }
      case 'run_tool':
        await this.#runTool(effect.toolCallId);
        return;
      case 'preflight_tool': {
        const { toolCallId } = effect;
        const outcome = await this.#work.preflightTool(state, toolCallId);
        this.#machine.toolPrepared(toolCallId, outcome);
        return;
      }
      case 'reconcile_tool': {
        const { toolCallId } = effect;
        const outcome = await this.#work.reconcileTool(state, toolCallId);
        this.#machine.toolReconciled(toolCallId, outcome);
        return;
      }
      case 'check_answer': {
        const { toolCallId } = effect;
        this.#machine.answerChecked(effect, await this.#work.checkAnswer(state, toolCallId));
        return;
      }
      case 'check_edit': {
        const { toolCallId } = effect;
        this.#machine.editChecked(effect, await this.#work.checkEdit(state, toolCallId));
      }
    }
  }

  async #runTool(toolCallId: string): Promise<void> {
    const { state } = this.#machine;
    const name = state.calls[toolCallId]?.plan.name ?? '';
    const outcome = await this.#work.runTool(state, toolCallId);
    const losses = this.#losses.get(name) ?? 0;
    if (losses === 0) {
      this.#machine.toolFinished(toolCallId, outcome);
      return;
    }
    this.#losses.set(name, losses - 1);
    this.#machine.toolLost(toolCallId, { timedOut: false, message: 'the worker was lost' });
  }

  #machineOn(state: ConversationState): ConversationMachine {
    return new ConversationMachine({
      state,
      now: () => this.#nowMs,
      onEvent: (event) => {
        this.events.push(event);
      },
    });
  }

  #deadlines(): readonly (TimerEffect | LeaseEnd)[] {
    const timers = this.#machine.effects().filter(isTimer);
    return [...timers, ...this.#leases.ends(this.pending)].sort((left, right) =>
      left.deadline.localeCompare(right.deadline),
    );
  }

  /** A pending call first; else the newest call of that tool, so that a second answer is told `stale`. */
  #callIdOf(target: string): string {
    const { pending } = this;
    if (pending.some((entry) => entry.toolCallId === target)) return target;
    const waiting = pending.find((entry) => entry.name === target);
    if (waiting !== undefined) return waiting.toolCallId;
    const made = this.events.findLast(
      (event) => event.type === 'tool_call' && event.call.name === target,
    );
    return made?.type === 'tool_call' ? made.call.toolCallId : target;
  }

  #nextRequestId(): string {
    this.#requests += 1;
    return `request-${this.#requests}`;
  }
}

/** Starts a conversation with the agent; nothing has been said yet. */
export function testConversation<Services>(
  agent: Agent<Services>,
  options: TestConversationOptions<Services> = {},
): TestConversation<Services> {
  return new TestConversation(agent, options);
}

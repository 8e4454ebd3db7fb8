/**
 * Drives a conversation machine without Temporal: carries out its effects in this process, moves a virtual clock, and
 * fires the timers that the clock reaches. The test's counterpart of the workflow's driver.
 */

import { fromCarryOver, toCarryOver } from '../core/context/carry-over.js';
import type { ExternalEffect, TimerEffect } from '../core/decide/effects.js';
import { effectKey, isTimer } from '../core/decide/effects.js';
import { ConversationMachine, startedState } from '../core/machine/machine.js';
import { SummaryPause } from '../core/machine/summary-pause.js';
import { timerFired } from '../core/machine/timers.js';
import type { ConversationState } from '../core/state/state.js';
import { callOf } from '../core/state/state.js';
import { isoOf } from '../core/state/time.js';
import { snapshotOf } from '../core/view/snapshot.js';
import { CALL_WORK, type CallEffect, type CallWorkType } from '../core/work/calls.js';
import type { Agent } from '../define/define-agent.js';
import { onHang } from '../model/scripted/scripted.js';
import type { ClaimVerdict } from '../protocol/calls/claims.js';
import type { PendingCall } from '../protocol/calls/suspensions.js';
import type { CarriedMemory } from '../protocol/conversation/offloaded-messages.js';
import type { CanonicalEvent } from '../protocol/log/events.js';
import type { StampedActor } from '../protocol/values/actors.js';
import { type LocalDeps, localDeps } from './local/local-deps.js';
import { LocalModel } from './local/local-model.js';
import { type CallActivities, LocalWork } from './local/local-work.js';
import type { TestClaimOptions, TestConversationOptions } from './local/test-options.js';
import { type LeaseEnd, TestLeases } from './test-leases.js';

const DEFAULT_START = Date.UTC(2026, 0, 1);
/** More rounds than any turn can take; reached only when an effect makes no progress. */
const MAX_ROUNDS = 10_000;

interface Work {
  readonly stop: AbortController;
  readonly whole: Promise<void>;
  /** Resolves when the model has come to `hangs()`. */
  readonly hung: Promise<void>;
  hangs: boolean;
}

export class TestDriver<Services> {
  readonly events: CanonicalEvent[] = [];
  #machine: ConversationMachine;
  #nowMs: number;
  readonly #local: LocalDeps<Services>;
  readonly #model: LocalModel<Services>;
  readonly #work: LocalWork<Services>;
  readonly #leases = new TestLeases();
  readonly #pause = new SummaryPause();
  readonly #losses = new Map<string, number>();
  readonly #underWay = new Map<string, Work>();

  constructor(agent: Agent<Services>, options: TestConversationOptions<Services>) {
    this.#nowMs = options.startAt?.getTime() ?? DEFAULT_START;
    const local = localDeps(agent, options);
    this.#local = local;
    this.#model = new LocalModel(local);
    this.#work = new LocalWork(local);
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

  get machine(): ConversationMachine {
    return this.#machine;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  claim(
    toolCallId: string,
    by: TestClaimOptions & { readonly requestId: string; readonly actor: StampedActor },
  ): ClaimVerdict {
    const pending = this.#pending().find((entry) => entry.toolCallId === toolCallId);
    return this.#leases.claim(this.#machine, { toolCallId, pending }, by);
  }

  /** Moves the clock. Deadlines and leases on the way end in their order, each at its own time. */
  async advance(byMs: number): Promise<void> {
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
   * Replaces the workers by others with these definitions. `offers`: the watch of definitions has checked the waiting
   * calls.
   */
  async deploy(agent: Agent<Services>, offers: boolean): Promise<void> {
    this.#local.agent = agent;
    for (const { toolCallId, name } of offers ? this.#pending() : []) {
      const offer = this.#work.offerOf(name);
      if (offer !== undefined) this.#machine.take('changeSuspension', { toolCallId, offer });
    }
    await this.settle();
  }

  loseRuns(toolName: string, runs: number): void {
    this.#losses.set(toolName, runs);
  }

  rollOver(): void {
    this.#machine.rolledOver('requested');
    const carried = JSON.parse(JSON.stringify(toCarryOver(this.#machine.state))) as CarriedMemory;
    this.#machine = this.#machineOn(fromCarryOver(carried));
  }

  /** Runs until only people, clients, the clock or a cancellation of a hanging model can continue the conversation. */
  async settle(): Promise<void> {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      this.sync();
      const busy = [...this.#underWay.values()].filter(({ hangs }) => !hangs);
      if (busy.length === 0) return;
      await Promise.race(
        busy.map(({ stop, whole, hung }) =>
          stop.signal.aborted ? whole : Promise.race([whole, hung]),
        ),
      );
    }
    throw new Error('the conversation did not settle');
  }

  /**
   * Aligns the running work with the effects of the state: stops work that is no longer wanted, starts missing work.
   */
  sync(): void {
    const wanted = new Map(this.#machine.effects().map((effect) => [effectKey(effect), effect]));
    for (const [key, work] of this.#underWay) if (!wanted.has(key)) this.#stop(work);
    for (const [key, effect] of wanted)
      if (!isTimer(effect) && !this.#underWay.has(key) && this.#mayStart(effect))
        this.#start(key, effect);
  }

  #mayStart({ type }: ExternalEffect): boolean {
    return type !== 'summarize' || this.#pause.isOver(this.#machine.state);
  }

  #stop(work: Work): void {
    // Work that would hang now ends with its abort signal.
    work.hangs = false;
    work.stop.abort();
  }

  #start(key: string, effect: Exclude<ExternalEffect, TimerEffect>): void {
    // A running model call reports its own progress when it is aborted.
    if (
      effect.type === 'abort_model' &&
      this.#underWay.has(effectKey({ ...effect, type: 'call_model' }))
    )
      return;
    const stop = new AbortController();
    let hangs = false;
    const hung = new Promise<void>((resolve) => {
      onHang(stop.signal, () => {
        hangs = true;
        const work = this.#underWay.get(key);
        if (work !== undefined) work.hangs = true;
        resolve();
      });
    });
    const whole = this.#carryOut(effect, stop.signal).finally(() => {
      this.#underWay.delete(key);
    });
    // A script hangs at once, before its work is noted.
    this.#underWay.set(key, { stop, whole, hung, hangs });
  }

  /**
   * Carries out one effect. Reads the machine again for the outcome, since a roll-over may have replaced it meanwhile.
   */
  async #carryOut(
    effect: Exclude<ExternalEffect, TimerEffect>,
    signal: AbortSignal,
  ): Promise<void> {
    const { state } = this.#machine;
    switch (effect.type) {
      case 'call_model': {
        const answer = await this.#model.callModel(state, effect, signal);
        if (answer.ok) this.#machine.modelCompleted(effect, answer.value);
        else this.#machine.modelFailed(effect, answer.error);
        return;
      }
      case 'offload_transcript':
        // The test has no store.
        this.#machine.endForCapacity();
        return;
      case 'abort_model':
        this.#machine.modelAborted(effect);
        return;
      case 'summarize': {
        const made = await this.#model.summarize(state, signal);
        const isTaken = made !== undefined && this.#machine.summarized(effect.ordinal, made);
        if (isTaken) this.#pause.succeeded();
        else this.#pause.failed(this.#machine.state);
        return;
      }
      default:
        await this.#workOnCall(effect, signal);
    }
  }

  async #workOnCall<Type extends CallWorkType>(
    effect: CallEffect<Type>,
    signal: AbortSignal,
  ): Promise<void> {
    const { state } = this.#machine;
    const call = callOf(state, effect.toolCallId);
    const work = CALL_WORK[effect.type];
    const input = call && work.input({ state, call, nowMs: this.#nowMs });
    if (call === undefined || input === undefined) return;
    const activities: CallActivities = this.#work;
    const result = await activities[work.activity](input, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    // The call has its result already, so the outcome is not needed.
    if (result === undefined) return;
    const { name } = call.plan;
    const losses = effect.type === 'run_tool' ? (this.#losses.get(name) ?? 0) : 0;
    if (losses > 0) this.#losses.set(name, losses - 1);
    const loss = { timedOut: false, message: 'the worker was lost' };
    this.#machine.callEnded(effect, losses > 0 ? { loss } : { result });
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

  #pending(): readonly PendingCall[] {
    return snapshotOf(this.#machine.state).pending;
  }

  #deadlines(): readonly (TimerEffect | LeaseEnd)[] {
    const timers = this.#machine.effects().filter(isTimer);
    return [...timers, ...this.#leases.ends(this.#pending())].sort((left, right) =>
      left.deadline.localeCompare(right.deadline),
    );
  }
}

/**
 * Drives a conversation machine without Temporal: carries out its effects in this process, moves a virtual clock, and
 * fires the timers that the clock reaches. The test's counterpart of the workflow's driver.
 */

import { fromCarryOver, toCarryOver } from '../core/context/carry-over.js';
import { visibleTranscript } from '../core/context/request-window.js';
import type { EffectOf, ExternalEffect, TimerEffect } from '../core/decide/effects.js';
import { isTimer } from '../core/decide/effects.js';
import { ConversationMachine, startedState } from '../core/machine/machine.js';
import { SummaryPause } from '../core/machine/summary-pause.js';
import { statesNow } from '../core/plugins/states.js';
import type { ConversationState } from '../core/state/state.js';
import { callOf } from '../core/state/state.js';
import { isoOf } from '../core/state/time.js';
import { type TranscriptItem, wholeMessages } from '../core/state/transcript.js';
import { snapshotOf } from '../core/view/snapshot.js';
import { effectKey, WORK } from '../core/work/effects.js';
import type { TranscriptSource, WorkType } from '../core/work/row.js';
import type { Agent } from '../define/define-agent.js';
import { onHang } from '../model/scripted/scripted.js';
import type { ClaimVerdict } from '../protocol/calls/claims.js';
import type { PendingCall } from '../protocol/calls/suspensions.js';
import type { CarriedMemory } from '../protocol/conversation/offloaded-messages.js';
import type { TurnError } from '../protocol/conversation/turns.js';
import type { CanonicalEvent } from '../protocol/log/events.js';
import type { StampedActor } from '../protocol/values/actors.js';
import type { TranscriptDelta } from '../protocol/workflow/transcript-delta.js';
import { type LocalActivities, ModelCallLost } from './local/local-activities.js';
import { type ChildSpec, LocalChildren } from './local/local-children.js';
import { agentNamed, type LocalDeps, localDeps } from './local/local-deps.js';
import type { DueTrigger, LocalTriggers } from './local/local-triggers.js';
import { LocalWork } from './local/local-work.js';
import type { TestClaimOptions, TestConversationOptions } from './local/test-options.js';
import { type LeaseEnd, TestLeases } from './test-leases.js';

const DEFAULT_START = Date.UTC(2026, 0, 1);
/** More rounds than any turn can take; reached only when an effect makes no progress. */
const MAX_ROUNDS = 10_000;

/** Nothing is offloaded in a test, and no worker knows earlier messages: every request gets all of them. */
const WHOLE: TranscriptSource = {
  next: (state) => whole(visibleTranscript(state)),
  front: ({ transcript }, length) => whole(transcript.slice(0, length)),
};

function whole(items: readonly TranscriptItem[]): TranscriptDelta {
  return { epoch: 0, base: 0, append: wholeMessages(items) };
}

/** A deadline, and the driver of its conversation. */
interface Due<Services> {
  readonly driver: TestDriver<Services>;
  readonly entry: TimerEffect | LeaseEnd | DueTrigger;
}

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
  readonly #work: LocalWork<Services>;
  readonly #leases = new TestLeases();
  readonly #pause = new SummaryPause();
  readonly #losses = new Map<string, number>();
  readonly #underWay = new Map<string, Work>();

  /** The driver of the conversation that no other has started. */
  readonly root: TestDriver<Services>;
  readonly #children: LocalChildren<Services, TestDriver<Services>>;

  constructor(
    agent: Agent<Services>,
    options: TestConversationOptions<Services>,
    child?: ChildSpec<Services> & { readonly root: TestDriver<Services> },
  ) {
    this.root = child?.root ?? this;
    this.#nowMs = options.startAt?.getTime() ?? DEFAULT_START;
    const local = localDeps(agent, options, {
      now: () => this.#nowMs,
      isClosed: () => this.#machine.state.closed,
    });
    this.#local = local;
    this.#work = new LocalWork(local);
    const started: Extract<CanonicalEvent, { type: 'conversation_started' }> = {
      type: 'conversation_started',
      seq: 1,
      at: isoOf(this.#nowMs),
      tenant: 'default',
      conversationId: child?.conversationId ?? 'test',
      agent: agent.name,
      chain: child === undefined ? 'test' : child.conversationId.replace('-', ''),
      settings: child?.settings ?? agent.settings,
      ...(child === undefined ? {} : { parent: child.parent }),
    };
    this.events.push(started);
    this.#machine = this.#machineOn(startedState(undefined, started));
    local.states = () => statesNow(this.#machine.state).states;
    const { model: _ofThisAgent, ...others } = options;
    this.#children = new LocalChildren({
      agent: (name) => agentNamed(local, name),
      machine: () => this.#machine,
      drive: (spec) => {
        const startAt = new Date(this.#nowMs);
        return new TestDriver(spec.agent, { ...others, startAt }, { ...spec, root: this.root });
      },
    });
    local.children = this.#children;
  }

  get machine(): ConversationMachine {
    return this.#machine;
  }

  get triggers(): LocalTriggers {
    return this.#local.triggers;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** The conversations of its sub-agents, in the order in which they were started. */
  get children(): readonly TestDriver<Services>[] {
    return this.#children.drivers;
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
      const [next] = this.#due().filter(({ entry }) => Date.parse(entry.deadline) <= until);
      if (next === undefined) break;
      const { driver, entry } = next;
      this.#moveTo(Math.max(this.#nowMs, Date.parse(entry.deadline)));
      if (entry.type === 'lease_end') driver.#leases.lapse(driver.#machine, entry);
      else if (entry.type === 'trigger_due') driver.#fireTrigger(entry);
      else driver.#machine.fired(entry);
      await this.settle();
    }
    this.#moveTo(until);
  }

  #moveTo(nowMs: number): void {
    this.#nowMs = nowMs;
    for (const child of this.children) child.#moveTo(nowMs);
  }

  /** The deadlines of this conversation and of all below it, earliest first. */
  #due(): readonly Due<Services>[] {
    const own = this.#deadlines().map((entry) => ({ driver: this, entry }));
    const below = this.children.flatMap((child) => child.#due());
    if (below.length === 0) return own;
    return [...own, ...below].sort((left, right) =>
      left.entry.deadline.localeCompare(right.entry.deadline),
    );
  }

  /**
   * Replaces the workers by others with these definitions. `offers`: the watch of definitions has checked the waiting
   * calls.
   */
  async deploy(agent: Agent<Services>, offers: boolean): Promise<void> {
    this.#local.agent = agent;
    this.#local.added.clear();
    const { agent: current } = this.#machine.state;
    for (const { toolCallId, name, agent: made } of offers ? this.#pending() : []) {
      const offer = this.#work.offerOf(made ?? current, name);
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
    do await this.#settleOwn();
    while (await this.#children.settle());
  }

  async #settleOwn(): Promise<void> {
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
      if (
        !isTimer(effect) &&
        !this.#underWay.has(key) &&
        this.#mayStart(effect, [...wanted.values()])
      )
        this.#start(key, effect);
  }

  #mayStart(effect: ExternalEffect, wanted: readonly ExternalEffect[]): boolean {
    const { recorded } = this.#local;
    if (effect.type === 'summarize') return this.#pause.isOver(this.#machine.state);
    if (recorded === undefined) return true;
    // Recorded runs end one after another in the order of their record, and all before the model is called.
    const runs = wanted.filter((one) => one.type === 'run_tool');
    if (effect.type === 'call_model') return runs.length === 0;
    return effect.type !== 'run_tool' || firstOf(runs, Object.keys(recorded)) === effect;
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

  async #carryOut(
    effect: Exclude<ExternalEffect, TimerEffect>,
    signal: AbortSignal,
  ): Promise<void> {
    switch (effect.type) {
      case 'offload_transcript':
        // The test has no store.
        this.#machine.endForCapacity();
        return;
      case 'abort_model':
        this.#machine.lost({ ...effect, type: 'call_model' }, {});
        return;
      default:
        await this.#perform(effect, signal);
    }
  }

  /** Reads the machine again for the outcome, since a roll-over may have replaced it meanwhile. */
  async #perform<Type extends WorkType>(
    effect: EffectOf<Type>,
    signal: AbortSignal,
  ): Promise<void> {
    const { state } = this.#machine;
    const { type } = effect;
    const { activity, input: inputOf } = WORK[type];
    const input = inputOf({ state, nowMs: this.#nowMs, transcript: WHOLE }, effect);
    if (input === undefined) return;
    const activities: LocalActivities = this.#work;
    const result = await activities[activity](input, signal).catch((error: unknown) => {
      if (error instanceof ModelCallLost) this.#modelLost(effect, error.failure);
      // The call has its result already, so the outcome is not needed.
      else if (!signal.aborted) throw error;
    });
    if (result === undefined || this.#losesRun(state, effect)) return;
    const isUsed = this.#machine.completed(effect, result);
    if (type === 'summarize') this.#pause.ended(this.#machine.state, isUsed);
  }

  #modelLost(effect: EffectOf<WorkType>, error: TurnError): void {
    if (effect.type !== 'call_model' && effect.type !== 'summarize') return;
    this.#machine.lost(effect, { error });
    if (effect.type === 'summarize') this.#pause.ended(this.#machine.state, false);
  }

  /** Whether the worker of this run is lost, as the test has set it up. */
  #losesRun(state: ConversationState, effect: EffectOf<WorkType>): boolean {
    if (effect.type !== 'run_tool') return false;
    const name = callOf(state, effect.toolCallId)?.plan.name ?? '';
    const losses = this.#losses.get(name) ?? 0;
    if (losses === 0) return false;
    this.#losses.set(name, losses - 1);
    this.#machine.lost(effect, { timedOut: false, message: 'the worker was lost' });
    return true;
  }

  /** A conversation that is closed has no triggers any more. */
  #fireTrigger(due: DueTrigger): void {
    const outcome = this.#machine.take('inboxEvent', this.#local.triggers.fire(due));
    if (!outcome.accepted && outcome.refusal.code === 'conversation_closed')
      this.#local.triggers.remove(due.triggerId);
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

  #deadlines(): readonly (TimerEffect | LeaseEnd | DueTrigger)[] {
    const timers = this.#machine.effects().filter(isTimer);
    const due = this.#local.triggers.due();
    return [...timers, ...this.#leases.ends(this.#pending()), ...due].sort((left, right) =>
      left.deadline.localeCompare(right.deadline),
    );
  }
}

/** The run whose call comes first in the order; runs of other calls come last. */
function firstOf(
  runs: readonly EffectOf<'run_tool'>[],
  order: readonly string[],
): EffectOf<'run_tool'> | undefined {
  const rank = ({ toolCallId }: EffectOf<'run_tool'>): number => {
    const index = order.indexOf(toolCallId);
    return index === -1 ? order.length : index;
  };
  return runs.toSorted((left, right) => rank(left) - rank(right))[0];
}

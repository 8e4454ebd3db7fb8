/**
 * Random schedules of a conversation: legal and illegal inputs, outcomes in any order, late and repeated answers,
 * roll-overs through JSON, a clock that jumps. A step is three numbers; their meaning depends on the choices that the
 * state offers.
 */

import * as fc from 'fast-check';
import type { ExternalEffect } from '../../../src/core/decide/effects.js';
import type { ConversationState } from '../../../src/core/state/state.js';
import { effectKey } from '../../../src/core/work/effects.js';
import { ON_BUSY } from '../../../src/protocol/conversation/agents.js';
import type { ModelContext } from '../../../src/protocol/conversation/context.js';
import type { CallModelResult, RunToolResult } from '../../../src/protocol/workflow/activities.js';
import {
  answerChecked,
  callNotPlanned,
  callPlanned,
  definitionChecked,
  editChecked,
  toolFinished,
  toolLost,
  toolPrepared,
  toolReconciled,
} from '../builders/call-ends.js';
import {
  actor,
  CHECKED,
  DEFINITIONS,
  modelSays,
  PREPARED,
  RECONCILED,
} from '../builders/core-builders.js';
import { modelOutcome } from '../builders/core-outcomes.js';
import { scheduleSettings } from '../builders/core-settings.js';
import { inFullContext, someSummary, summaryOfAll } from '../builders/core-summaries.js';
import {
  cancelTurn,
  claimToolCall,
  closeConversation,
  leaseLost,
  resolve,
  resolveBySignal,
  takeInboxSignal,
} from '../builders/verbs.js';
import { digestOf, endOfRun } from './core-asks.js';
import { asHolder, claimSomething, loseSomeLease } from './core-claims.js';
import { aMachine, type MachineUnderTest } from './core-driver.js';
import {
  endChildWork,
  extendSomeWait,
  FITTING,
  moveClock,
  rememberedDecision,
  reportChild,
  reportSomeChild,
  revokeSomeRule,
} from './core-steps.js';

const WEIGHTS = {
  message: 4,
  effect: 12,
  resolve: 8,
  wrong: 2,
  repeat: 2,
  signal: 3,
  clock: 3,
  cancel: 1,
  stray: 2,
  roll_over: 1,
  restart: 1,
  inbox: 1,
  claim: 4,
  lease_lost: 2,
  child: 2,
  garbage: 1,
  revoke: 1,
  extend: 2,
  close: 1,
} as const;
export type StepKind = keyof typeof WEIGHTS;

export interface Step {
  readonly kind: StepKind;
  readonly pick: number;
  readonly variant: number;
}

const KINDS = (Object.keys(WEIGHTS) as StepKind[]).flatMap((kind) =>
  Array.from({ length: WEIGHTS[kind] }, () => kind),
);
/** Evenly spread: the usual bias towards zero would pick the same thing again and again. */
const dice = fc.noBias(fc.nat(1_000_000));
const step = fc.record({ kind: fc.noBias(fc.constantFrom(...KINDS)), pick: dice, variant: dice });
const FIRST: Step = { kind: 'message', pick: 1, variant: 1 };

/** Begins with a message. `close` ends a schedule for good, so most schedules have none. */
export const schedule: fc.Arbitrary<readonly Step[]> = fc
  .tuple(fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }), fc.nat(9))
  .map(([steps, chance]) => [
    FIRST,
    ...(chance === 0 ? steps : steps.filter(({ kind }) => kind !== 'close')),
  ]);

const ANY = Object.values(FITTING).flat();
const GARBAGE = [undefined, null, 7, {}, { toolCallId: 'a' }];
/** Work in progress that no turn waits for. */
const REMINDERS: readonly ExternalEffect['type'][] = ['await_turn_limit', 'await_warning'];

/** Calls of this run and of those before it. */
export function endedCallIds({ events }: MachineUnderTest): readonly string[] {
  return events.flatMap((event) => (event.type === 'tool_result' ? [event.toolCallId] : []));
}

/** Replaces the worker of a schedule, where a test has its own. */
export interface ScheduleWork {
  /** Builds the context of a model call; its return value goes into the call's event. */
  readonly reads?: (state: ConversationState) => ModelContext;
  /** @defaultValue endOfRun */
  readonly endOfRun?: (variant: number) => RunToolResult;
}

export class ScheduleRunner {
  readonly m: MachineUnderTest;
  readonly #work: ScheduleWork;
  readonly #sent: unknown[] = [];
  #minted = 0;

  /** `variant` chooses the agent's settings, where no machine is given. */
  constructor(variant: number, work: ScheduleWork = {}, m?: MachineUnderTest) {
    this.#work = work;
    this.m = m ?? aMachine({ settings: scheduleSettings(variant) });
  }

  run(step: Step): void {
    const { m } = this;
    const { kind, pick, variant } = step;
    switch (kind) {
      case 'message':
        m.trySend(variant % 9 === 0 ? ' ' : `text ${variant}`, {
          ...(variant % 5 === 0 ? { requestId: `m${variant % 4}` } : {}),
          ...(variant % 3 === 0 ? { onBusy: ON_BUSY[pick % ON_BUSY.length] } : {}),
        });
        return;
      case 'effect': {
        const effects = m.effects();
        const effect = effects[pick % Math.max(1, effects.length)];
        if (effect !== undefined) this.#carryOut(effect, variant);
        return;
      }
      case 'resolve':
      case 'signal':
      case 'wrong':
        this.#resolve(step);
        return;
      case 'repeat':
        if (this.#sent.length > 0) resolve(m.machine, this.#sent[pick % this.#sent.length]);
        return;
      case 'clock':
        moveClock(m, pick, variant);
        return;
      case 'cancel':
        cancelTurn(m.machine, pick % 2 === 0 ? {} : { turnId: this.#someTurn(variant) });
        return;
      case 'stray':
        this.#stray(pick, variant);
        return;
      case 'roll_over':
        if (!m.state.closed) m.rollOver();
        return;
      case 'restart':
        m.restart();
        return;
      case 'close':
        closeConversation(m.machine);
        return;
      case 'inbox':
        takeInboxSignal(m.machine, { eventId: `e${pick % 9}`, kind: 'news', payload: variant % 3 });
        return;
      case 'revoke':
        revokeSomeRule(m, pick);
        return;
      case 'extend':
        extendSomeWait(m, pick, variant);
        return;
      case 'claim':
        claimSomething(m, pick, variant);
        return;
      case 'lease_lost':
        loseSomeLease(m, pick, variant);
        return;
      case 'child':
        reportSomeChild(m, pick, variant);
        return;
      case 'garbage':
        resolveBySignal(m.machine, GARBAGE[pick % GARBAGE.length]);
        claimToolCall(m.machine, GARBAGE[pick % GARBAGE.length]);
        leaseLost(m.machine, GARBAGE[pick % GARBAGE.length]);
        return;
    }
  }

  /** Answers every pending call until none is left: the machine must come to rest. */
  drain(): void {
    for (let round = 0; this.m.effects().length > 0; round += 1) {
      if (round > 2_000) throw new Error('the conversation never comes to rest');
      for (const effect of this.m.effects()) {
        if (REMINDERS.includes(effect.type)) continue;
        if (effect.type === 'await_deadline' || effect.type === 'await_claim')
          this.#answer(effect, round);
        else if (effect.type === 'await_inbox_turn')
          this.m.advance(Math.max(0, Date.parse(effect.deadline) - this.m.clock.now()));
        else if (effect.type === 'call_model') this.m.model(this.#read(modelSays('done')));
        else if (effect.type === 'summarize')
          this.m.summarized(effect.ordinal, summaryOfAll(this.m.state));
        else this.#carryOut(effect, 0);
        break;
      }
    }
  }

  #answer(
    effect: Extract<ExternalEffect, { type: 'await_deadline' | 'await_claim' }>,
    round: number,
  ): void {
    const { childId } = this.m.state.calls[effect.toolCallId]?.suspension ?? {};
    if (childId !== undefined) {
      reportChild(this.m, childId, round * 13 + 1);
      return;
    }
    const resolution = FITTING[effect.kind][0]!;
    const waiting = this.m.pending.find((entry) => entry.toolCallId === effect.toolCallId);
    const { verdict } = this.m.resolve(effect.toolCallId, resolution, {
      receivedAt: effect.deadline,
      requestId: `drain-${round}`,
      ...asHolder(waiting),
      ...digestOf(this.m.state.calls[effect.toolCallId]?.suspension),
    });
    if (verdict !== 'accepted') throw new Error(`${effectKey(effect)} was answered ${verdict}`);
  }

  #carryOut(effect: ExternalEffect, variant: number): void {
    const { machine } = this.m;
    switch (effect.type) {
      case 'call_model':
        if (variant % 29 === 0) this.m.modelFailed(effect, { code: 'internal', message: 'down' });
        else if (variant % 37 === 0) this.m.modelAborted(effect);
        else this.m.modelCompleted(effect, this.#read(this.#modelOutcome(variant)));
        return;
      case 'offload_transcript':
      case 'abort_model':
        if (variant % 3 === 0) this.m.modelAborted(effect);
        else if (variant % 3 === 1)
          this.m.modelCompleted(effect, { ...this.#modelOutcome(variant), aborted: true });
        else this.m.modelCompleted(effect, this.#modelOutcome(variant));
        return;
      case 'summarize':
        this.m.summarized(effect.ordinal, someSummary(this.m.state, variant));
        return;
      case 'plan_call': {
        const { toolCallId } = effect;
        const { unplanned: _due, ...plan } = this.m.state.calls[toolCallId]!.plan;
        if (variant % 7 === 0)
          callNotPlanned(machine, toolCallId, { timedOut: false, message: 'lost' });
        else callPlanned(machine, toolCallId, plan);
        return;
      }
      case 'run_tool':
        if (variant % 5 === 0)
          toolLost(machine, effect.toolCallId, { timedOut: variant % 2 === 0, message: 'lost' });
        else toolFinished(machine, effect.toolCallId, (this.#work.endOfRun ?? endOfRun)(variant));
        return;
      case 'start_child':
      case 'stop_child':
        endChildWork(this.m, effect, variant);
        return;
      case 'preflight_tool':
        toolPrepared(machine, effect.toolCallId, PREPARED[variant % PREPARED.length]!);
        return;
      case 'reconcile_tool':
        toolReconciled(machine, effect.toolCallId, RECONCILED[variant % RECONCILED.length]!);
        return;
      case 'check_definition':
        definitionChecked(machine, effect.toolCallId, DEFINITIONS[variant % 3]!);
        return;
      case 'check_answer':
        answerChecked(machine, effect, CHECKED[variant % CHECKED.length]!);
        return;
      case 'check_edit': {
        const edited = { input: { edited: variant }, argsDigest: `sha256:${variant}` };
        const approval = { needed: true as const };
        editChecked(
          machine,
          effect,
          variant % 3 === 0 ? { ok: false, problems: [] } : { ok: true, ...edited, approval },
        );
        return;
      }
      case 'await_deadline':
      case 'await_claim':
      case 'await_warning':
      case 'await_turn_limit':
      case 'await_inbox_turn':
        // Timers fire when due; one that fires early would be a defect of the driver.
        if (Date.parse(effect.deadline) <= this.m.clock.now()) machine.fired(effect);
    }
  }

  /** In a step whose calls run one after the other, only the first is planned. */
  #modelOutcome(variant: number): CallModelResult {
    const said = modelOutcome(variant, this.#fresh);
    const outcome = variant % 4 === 0 ? said : inFullContext(said, this.m.state);
    if (this.m.state.settings.toolExecution !== 'sequential') return outcome;
    const calls = outcome.calls.map((call, index) =>
      index === 0 || call.plan.error !== undefined
        ? call
        : { ...call, plan: { ...call.plan, unplanned: { argumentsJson: '{}' } } },
    );
    return { ...outcome, calls };
  }

  #read(outcome: CallModelResult): CallModelResult {
    const { reads } = this.#work;
    return reads === undefined ? outcome : { ...outcome, context: reads(this.m.state) };
  }

  #resolve({ kind, pick, variant }: Step): void {
    const { m } = this;
    const waiting = m.pending[pick % Math.max(1, m.pending.length)];
    const ids = endedCallIds(m);
    const toolCallId = ids[pick % Math.max(1, ids.length)];
    const ended = toolCallId === undefined ? undefined : { toolCallId };
    const target = kind === 'wrong' && pick % 2 === 0 ? ended : waiting;
    const fitting = kind === 'wrong' || waiting === undefined ? ANY : FITTING[waiting.kind];
    const isRemembered = waiting?.kind === 'approval' && target === waiting && pick % 3 === 0;
    const input = {
      toolCallId: target?.toolCallId ?? 'nobody',
      resolution: isRemembered
        ? rememberedDecision(waiting, variant)
        : fitting[variant % fitting.length],
      actor: actor(`user-${variant % 3}`),
      ...(variant % 3 === 0 ? {} : asHolder(waiting)),
      ...(variant % 8 < 3 ? digestOf(waiting) : {}),
      ...(kind === 'signal' && variant % 2 === 0 ? {} : { requestId: `r${variant % 200}` }),
      ...(variant % 4 === 0
        ? { receivedAt: m.clock.iso((variant % 7) * 600_000 - 1_800_000) }
        : {}),
    };
    this.#sent.push(input);
    if (kind === 'signal') resolveBySignal(m.machine, input);
    else resolve(m.machine, input);
  }

  /** Outcomes that were never requested. */
  #stray(pick: number, variant: number): void {
    const { machine, state } = this.m;
    const ids = [...Object.keys(state.calls), ...endedCallIds(this.m), 'nobody', '__proto__'];
    const callId = ids[variant % ids.length]!;
    const at = { turnId: this.#someTurn(variant), step: variant % 4 };
    const strays = [
      () => toolFinished(machine, callId, { envelope: { ok: true, result: null }, executionMs: 0 }),
      () => toolLost(machine, callId, { timedOut: true, message: 'x' }),
      () => toolFinished(machine, callId, endOfRun(0)),
      () => toolPrepared(machine, callId, PREPARED[variant % PREPARED.length]!),
      () => toolReconciled(machine, callId, RECONCILED[variant % RECONCILED.length]!),
      () =>
        answerChecked(
          machine,
          { toolCallId: callId, requestId: `r${variant % 200}` },
          { ok: true, value: 0 },
        ),
      () => this.m.deadlinePassed(callId, '2020-01-01T00:00:00.000Z'),
      () => this.m.modelCompleted({ ...at, step: at.step + 9 }, this.#modelOutcome(variant)),
      () =>
        this.m.modelFailed({ ...at, turnId: 'turn_other_1' }, { code: 'internal', message: 'x' }),
    ];
    strays[pick % strays.length]!();
  }

  readonly #fresh = (): string => {
    this.#minted += 1;
    return `id${this.#minted}`;
  };

  #someTurn(variant: number): string {
    return `turn_chain0000001_${(variant % (this.m.state.turnCount + 2)) + 1}`;
  }
}

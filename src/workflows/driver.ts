/**
 * Carries out the orders of the core: starts activities and timers that `decide` wants and that are not under way, stops
 * those that it no longer wants, and feeds outcomes back into the machine. Owns what is under way in this run, and nothing
 * else; after a roll-over or a replay everything is started again from the state.
 */
import { TimeoutType } from '@temporalio/common';
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  sleep,
  TemporalFailure,
  TimeoutFailure,
} from '@temporalio/workflow';
import { planForRun } from '../core/clocks.js';
import type { ExternalEffect, TimerEffect } from '../core/decide.js';
import { effectKey, isTimer } from '../core/decide.js';
import type { ConversationMachine } from '../core/machine.js';
import type { Loss } from '../core/outcomes.js';
import type { CallState, ConversationState } from '../core/state.js';
import { timerFired } from '../core/timers.js';
import { type CallModelInput, type RunToolInput, TRANSCRIPT_MISS } from '../protocol/activities.js';
import type { TurnError } from '../protocol/events.js';
import { isFailureCode } from '../protocol/failures.js';
import { idempotencyKeyFor } from '../protocol/ids.js';
import { editWork } from './check-edit.js';
import { activities, CHECK_ANSWER, MODEL_CALL, summaryOf, toolOptions } from './schedule.js';
import { TranscriptWindow } from './transcript-window.js';

interface UnderWay {
  readonly effect: ExternalEffect;
  readonly scope: CancellationScope;
}

export interface DriverOptions {
  readonly machine: ConversationMachine;
  readonly modelName: string;
  /** Called whenever an outcome has changed the state, so that the main loop looks again. */
  readonly wake: () => void;
}

export class Driver {
  readonly #machine: ConversationMachine;
  readonly #modelName: string;
  readonly #wake: () => void;
  readonly #transcript = new TranscriptWindow();
  readonly #underWay = new Map<string, UnderWay>();
  /** A bug in an outcome must fail the workflow task, not vanish in a promise that nobody awaits. */
  #fault: Error | undefined;

  constructor(options: DriverOptions) {
    this.#machine = options.machine;
    this.#modelName = options.modelName;
    this.#wake = options.wake;
  }

  /** True while an activity runs; timers do not count: a roll-over carries deadlines. */
  get busy(): boolean {
    for (const { effect } of this.#underWay.values()) if (!isTimer(effect)) return true;
    return false;
  }

  rethrowFault(): void {
    if (this.#fault !== undefined) throw this.#fault;
  }

  /** Brings what is under way in line with what the state wants. */
  sync(mayStart: () => boolean): void {
    const wanted = new Map(
      this.#machine.effects().map((effect) => [effectKey(effect), effect] as const),
    );
    for (const [key, { effect, scope }] of this.#underWay)
      if (!wanted.has(key) && !isAwaitedAbort(effect, wanted)) scope.cancel();
    for (const [key, effect] of wanted) {
      if (this.#underWay.has(key)) continue;
      if (effect.type === 'abort_model') this.#abortModel(effect);
      else if (isTimer(effect) || mayStart()) this.#start(key, effect);
    }
  }

  #abortModel(effect: Effect<'abort_model'>): void {
    const { turnId, step } = effect;
    const call = this.#underWay.get(effectKey({ type: 'call_model', turnId, step }));
    if (call === undefined) {
      this.#machine.modelAborted(effect);
      this.#wake();
    } else call.scope.cancel();
  }

  #start(key: string, effect: Exclude<ExternalEffect, { type: 'abort_model' }>): void {
    switch (effect.type) {
      case 'call_model':
        this.#callModel(key, effect);
        return;
      case 'run_tool':
        this.#runTool(key, effect);
        return;
      case 'check_answer':
        this.#checkAnswer(key, effect);
        return;
      case 'check_edit': {
        const work = editWork(this.#machine, effect, (error) => lossOf(error).message);
        if (work !== undefined) this.#perform(key, effect, work);
        return;
      }
      case 'await_deadline':
      case 'await_warning':
      case 'await_turn_limit':
        this.#sleepUntil(key, effect);
    }
  }

  /** Few promises on purpose: the SDK keeps a stack trace for each. */
  #perform<Result>(
    key: string,
    effect: ExternalEffect,
    work: {
      readonly run: () => Promise<Result>;
      readonly done: (result: Result) => void;
      readonly failed: (error: unknown) => void;
    },
  ): void {
    const scope = new CancellationScope({ cancellable: true });
    this.#underWay.set(key, { effect, scope });
    const settle = (feedBack: () => void): void => {
      this.#underWay.delete(key);
      try {
        feedBack();
      } catch (error) {
        this.#fault = error instanceof Error ? error : new Error(String(error));
      }
      this.#wake();
    };
    scope.run(work.run).then(
      (result) => {
        settle(() => {
          work.done(result);
        });
      },
      (error: unknown) => {
        settle(() => {
          work.failed(error);
        });
      },
    );
  }

  #callModel(key: string, effect: Effect<'call_model'>): void {
    const { state } = this.#machine;
    const { turn, tenant, conversationId, agent } = state;
    if (turn === undefined) return;
    const { turnId, step } = effect;
    const input: CallModelInput = {
      tenant,
      conversationId,
      agent,
      turnId,
      step,
      transcript: this.#transcript.next(state),
      requester: turn.requester,
    };
    const options = {
      ...MODEL_CALL,
      activityId: `model:${turnId}:${step}`,
      summary: summaryOf(`model ${this.#modelName} step ${step}`),
    };
    this.#perform(key, effect, {
      run: () => activities.callModel.executeWithOptions(options, [input]),
      done: (outcome) => {
        this.#transcript.cameBack();
        this.#machine.modelCompleted(effect, outcome);
      },
      failed: (error) => {
        if (isCancellation(error)) this.#machine.modelAborted(effect);
        // The call is still wanted, so it is started again at once.
        else if (isTranscriptMiss(error)) this.#transcript.missed();
        else this.#machine.modelFailed(effect, turnErrorOf(error));
      },
    });
  }

  #runTool(key: string, effect: Effect<'run_tool'>): void {
    const { toolCallId } = effect;
    const { state } = this.#machine;
    const call = state.calls[toolCallId];
    if (call === undefined) return;
    const plan = planForRun(call, Date.now());
    const input = runToolInput(state, { ...call, plan });
    this.#perform(key, effect, {
      run: () => activities.runTool.executeWithOptions(toolOptions(plan), [input]),
      done: (outcome) => {
        this.#machine.toolFinished(toolCallId, outcome);
      },
      failed: (error) => {
        if (!isCancellation(error)) this.#machine.toolLost(toolCallId, lossOf(error));
      },
    });
  }

  #checkAnswer(key: string, effect: Effect<'check_answer'>): void {
    const { toolCallId } = effect;
    const { tenant, conversationId, agent, calls } = this.#machine.state;
    const call = calls[toolCallId];
    if (call?.answer === undefined) return;
    const { name } = call.plan;
    const { value } = call.answer;
    const options = {
      ...CHECK_ANSWER,
      summary: summaryOf(`check answer of ${name} (${toolCallId})`),
    };
    const input = { tenant, conversationId, agent, toolCallId, name, value };
    this.#perform(key, effect, {
      run: () => activities.checkAnswer.executeWithOptions(options, [input]),
      done: (outcome) => {
        this.#machine.answerChecked(effect, outcome);
      },
      failed: (error) => {
        if (isCancellation(error)) return;
        // No worker could check it: the answer is not taken on trust, and the call stays open.
        const message = `could not be checked: ${lossOf(error).message}`;
        const problems = [{ path: '/resolution/value', message }];
        this.#machine.answerChecked(effect, { ok: false, problems });
      },
    });
  }

  #sleepUntil(key: string, effect: TimerEffect): void {
    const { deadline } = effect;
    const summary = summaryOf(`${timerText(effect)} until ${deadline}`);
    this.#perform(key, effect, {
      run: () => sleep(Math.max(1, Date.parse(deadline) - Date.now()), { summary }),
      done: () => {
        timerFired(this.#machine, effect);
      },
      failed: (error) => {
        if (!isCancellation(error)) throw error;
      },
    });
  }
}

function timerText(effect: TimerEffect): string {
  switch (effect.type) {
    case 'await_deadline':
      return `${effect.kind} ${effect.name}`;
    case 'await_warning':
      return `warning of ${effect.kind} ${effect.name}`;
    case 'await_turn_limit':
      return 'time of the turn';
  }
}

type Effect<Type extends ExternalEffect['type']> = Extract<ExternalEffect, { type: Type }>;

/** A model call whose turn was cancelled stays until it has reported what it had. */
function isAwaitedAbort(
  effect: ExternalEffect,
  wanted: ReadonlyMap<string, ExternalEffect>,
): boolean {
  if (effect.type !== 'call_model') return false;
  const { turnId, step } = effect;
  return wanted.has(effectKey({ type: 'abort_model', turnId, step }));
}

function runToolInput(state: ConversationState, call: CallState): RunToolInput {
  const { tenant, conversationId, agent, turn } = state;
  const { plan, turnId, step, approver } = call;
  const { toolCallId, name, effects, timeouts, maxAttempts, input } = plan;
  return {
    tenant,
    conversationId,
    agent,
    turnId,
    step,
    call: { toolCallId, name, effects, timeouts, maxAttempts, input: input ?? null },
    idempotencyKey: idempotencyKeyFor(state, { ...plan, turnId, step }),
    requester: turn?.requester ?? { id: 'unknown', verified: false, channel: 'system' },
    ...(approver === undefined ? {} : { approver }),
  };
}

/** What ended an activity for good, in the words of the failure table. Anything but a Temporal failure is a bug. */
function turnErrorOf(error: unknown): TurnError {
  const cause = activityCause(error);
  if (cause instanceof ApplicationFailure)
    return {
      code: isFailureCode(cause.type) ? cause.type : 'internal',
      message: cause.message.slice(0, 1_000),
    };
  const { message } = lossOf(error);
  return { code: 'no_worker', message };
}

function isTranscriptMiss(error: unknown): boolean {
  const cause = activityCause(error);
  return cause instanceof ApplicationFailure && cause.type === TRANSCRIPT_MISS;
}

function lossOf(error: unknown): Loss {
  const cause = activityCause(error);
  if (!(cause instanceof TimeoutFailure))
    return { timedOut: false, message: cause.message.slice(0, 1_000) };
  const { timeoutType } = cause;
  return {
    timedOut: timeoutType === TimeoutType.START_TO_CLOSE,
    neverStarted: timeoutType === TimeoutType.SCHEDULE_TO_START,
    message: timeoutType === TimeoutType.HEARTBEAT ? 'the worker was lost' : 'the time ran out',
  };
}

function activityCause(error: unknown): Error {
  if (!(error instanceof TemporalFailure)) throw error;
  return error instanceof ActivityFailure && error.cause !== undefined ? error.cause : error;
}

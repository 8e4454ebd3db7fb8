/**
 * Carries out the effects of the core: starts the activities and timers that `decide` wants and that are not running,
 * stops those that it no longer wants, and feeds outcomes back into the machine. Owns only what runs in this workflow
 * run; after a roll-over or a replay everything is started again from the state.
 */
import {
  type ActivityOptions,
  CancellationScope,
  isCancellation,
  log,
  sleep,
} from '@temporalio/workflow';
import type { EffectOf, ExternalEffect, TimerEffect } from '../../core/decide/effects.js';
import { isTimer } from '../../core/decide/effects.js';
import type { ConversationMachine } from '../../core/machine/machine.js';
import { SummaryPause } from '../../core/machine/summary-pause.js';
import { activityIdOf, effectKey, WORK } from '../../core/work/effects.js';
import type { InputOf, ResultOf, WorkActivity, WorkType } from '../../core/work/row.js';
import type { ModelCallDetails } from '../../protocol/conversation/attempts.js';
import type { RecoveredEnd } from '../../protocol/workflow/recovery.js';
import {
  isTranscriptMiss,
  lossOf,
  modelDetailsOf,
  turnErrorOf,
} from '../activities/activity-losses.js';
import { activities, optionsOf, timerSummary } from '../activities/schedule.js';
import { ShownTranscript } from '../transcript/shown-transcript.js';
import { TranscriptWindow } from '../transcript/transcript-window.js';
import { recoveredFailure } from './recovery.js';

/** One piece of work: how to start it, and how to handle its result or its failure. */
interface Work<Result> {
  readonly run: () => Promise<Result>;
  readonly done: (result: Result) => void;
  /** `isStopped`: this run has requested that the work be cancelled. */
  readonly failed: (error: unknown, isStopped: boolean) => void;
}

const ACTIVITIES: {
  readonly [Name in WorkActivity]: {
    executeWithOptions(options: ActivityOptions, args: [InputOf<Name>]): Promise<ResultOf<Name>>;
  };
} = activities;

interface UnderWay {
  readonly effect: ExternalEffect;
  readonly scope: CancellationScope;
}

export interface DriverOptions {
  readonly machine: ConversationMachine;
  readonly modelName: string;
  /** Called whenever an outcome has changed the state, so that the main loop runs again. */
  readonly wake: () => void;
  /** Called for each activity and timer that is started or stopped. */
  readonly acted: () => void;
}

export class Driver {
  readonly #machine: ConversationMachine;
  readonly #modelName: string;
  readonly #wake: () => void;
  readonly #acted: () => void;
  readonly #transcript: TranscriptWindow;
  readonly #shown = new ShownTranscript();
  readonly #pause = new SummaryPause();
  readonly #underWay = new Map<string, UnderWay>();
  /** A bug in an outcome must fail the workflow task, not vanish in a promise that is never awaited. */
  #fault: Error | undefined;
  /** Recorded ends of activities from before the run was reset, by activity id. */
  readonly #recorded = new Map<string, RecoveredEnd>();
  /**
   * Keys of activities that were replaced by a recorded end and are not over yet. None is started under such a key: the
   * server refuses a second activity with the same id.
   */
  readonly #replaced = new Set<string>();
  #isFeeding = false;
  /** Details of a model call that failed for missing messages and is made again. */
  #left: ModelCallDetails = {};

  constructor(options: DriverOptions) {
    this.#machine = options.machine;
    this.#modelName = options.modelName;
    this.#wake = options.wake;
    this.#acted = options.acted;
    this.#transcript = new TranscriptWindow(options.machine.state);
  }

  /**
   * True while an activity runs other than a summary, or waits for the end of one that was replaced. Timers do not count:
   * a roll-over carries deadlines.
   */
  get busy(): boolean {
    for (const { effect } of this.#underWay.values())
      if (!isTimer(effect) && effect.type !== 'summarize') return true;
    return (
      this.#replaced.size > 0 &&
      this.#machine.effects().some((effect) => this.#replaced.has(effectKey(effect)))
    );
  }

  /** Stops background work, such as a summary. The next run starts it again. */
  leaveBackground(): void {
    for (const { effect, scope } of this.#underWay.values())
      if (effect.type === 'summarize') this.#stop(scope);
  }

  /** True while a detached tool runs here: a roll-over would lose its run, and no turn waits for it. */
  get runsDetached(): boolean {
    for (const { effect } of this.#underWay.values())
      if (
        effect.type === 'run_tool' &&
        this.#machine.state.calls[effect.toolCallId]?.background !== undefined
      )
        return true;
    return false;
  }

  rethrowFault(): void {
    if (this.#fault !== undefined) throw this.#fault;
  }

  /**
   * Takes the end that an activity had before the run was reset. The end replaces the activity as soon as the state
   * wants it: at once, so that entries keep their order, or later.
   */
  ended(activityId: string, end: RecoveredEnd): void {
    this.#recorded.set(activityId, end);
    this.#feed();
  }

  /** Feeds recorded ends to the effects that want them. Starts no activity, and uses each end once. */
  #feed(): void {
    this.#isFeeding = true;
    for (;;) {
      const effect = this.#machine.effects().find((one) => this.#recordedOf(one) !== undefined);
      if (
        effect === undefined ||
        effect.type === 'abort_model' ||
        effect.type === 'offload_transcript'
      )
        break;
      const key = effectKey(effect);
      // The activity is left over from before the reset; its own end is ignored.
      const open = this.#underWay.get(key);
      if (open !== undefined) {
        this.#underWay.delete(key);
        this.#replaced.add(key);
        this.#stop(open.scope);
      }
      this.#start(key, effect);
    }
    this.#isFeeding = false;
  }

  #recordedOf(effect: ExternalEffect): RecoveredEnd | undefined {
    const activityId = activityIdOf(this.#machine.state, effect);
    return activityId === undefined ? undefined : this.#recorded.get(activityId);
  }

  /** Starts and stops work until it matches the effects that the state wants. */
  sync(mayStart: () => boolean): void {
    if (this.#recorded.size > 0) this.#feed();
    const wanted = new Map(
      this.#machine.effects().map((effect) => [effectKey(effect), effect] as const),
    );
    for (const [key, { effect, scope }] of this.#underWay)
      if (!wanted.has(key) && !isAwaitedAbort(effect, wanted)) this.#stop(scope);
    for (const [key, effect] of wanted) {
      if (this.#underWay.has(key) || this.#replaced.has(key)) continue;
      // The shell does this by a roll-over, once everything is quiet.
      if (effect.type === 'offload_transcript') continue;
      if (effect.type === 'abort_model') this.#abortModel(effect);
      else if (isTimer(effect) || mayStart() || this.#isLeft(effect)) this.#start(key, effect);
    }
  }

  #abortModel(effect: EffectOf<'abort_model'>): void {
    const { turnId, step } = effect;
    const call = this.#underWay.get(effectKey({ type: 'call_model', turnId, step }));
    if (call === undefined) {
      this.#machine.lost({ type: 'call_model', turnId, step }, { left: this.#takeLeft() });
      this.#wake();
    } else this.#stop(call.scope);
  }

  /** A call with such details is made again before the run rolls over: the next run would not know the details. */
  #isLeft({ type }: ExternalEffect): boolean {
    return type === 'call_model' && Object.keys(this.#left).length > 0;
  }

  #takeLeft(): ModelCallDetails {
    const left = this.#left;
    this.#left = {};
    return left;
  }

  /** Stopping may take time; repeating it costs nothing. */
  #stop(scope: CancellationScope): void {
    if (!scope.consideredCancelled) this.#acted();
    scope.cancel();
  }

  #start(
    key: string,
    effect: Exclude<ExternalEffect, { type: 'abort_model' | 'offload_transcript' }>,
  ): void {
    if (isTimer(effect)) this.#sleepUntil(key, effect);
    else this.#schedule(key, effect);
  }

  #schedule<Type extends WorkType>(key: string, effect: EffectOf<Type>): void {
    const { state } = this.#machine;
    const { type } = effect;
    if (type === 'summarize' && !this.#pause.isOver(state)) return;
    const row = WORK[type];
    const input = row.input({ state, nowMs: Date.now(), transcript: this.#transcript }, effect);
    if (input === undefined) return;
    if ('transcript' in input && type === 'call_model') this.#shown.called(state, input.transcript);
    const left = type === 'call_model' ? this.#takeLeft() : {};
    const options = optionsOf(effect, { state, modelName: this.#modelName });
    this.#perform(key, effect, {
      run: () => ACTIVITIES[row.activity].executeWithOptions(options, [{ ...input, ...left }]),
      done: (result) => {
        if (type === 'call_model') this.#transcript.cameBack();
        const isUsed = this.#machine.completed(effect, result);
        if (type === 'summarize') this.#pause.ended(this.#machine.state, isUsed);
      },
      failed: (error, isStopped) => {
        this.#failed(effect, error, { left, isStopped });
      },
    });
  }

  /**
   * A cancellation that this run has not requested is a failure as well: of the server, an operator or a foreign worker.
   * Otherwise the work would be started again, and a tool would run twice.
   */
  #failed(
    effect: EffectOf<WorkType>,
    error: unknown,
    { left, isStopped }: { readonly left: ModelCallDetails; readonly isStopped: boolean },
  ): void {
    if (effect.type === 'call_model') this.#modelFailed(effect, error, left);
    else if (isStopped && isCancellation(error)) return;
    else if (effect.type === 'summarize') this.#summaryFailed(effect, error);
    else this.#machine.lost(effect, lossOf(error));
  }

  #modelFailed(effect: EffectOf<'call_model'>, error: unknown, left: ModelCallDetails): void {
    if (isCancellation(error)) this.#machine.lost(effect, { left });
    // The state still wants the call, so it is started again at once.
    else if (isTranscriptMiss(error) && this.#transcript.missed())
      this.#left = modelDetailsOf(error);
    else this.#machine.lost(effect, { error: turnErrorOf(error), left: modelDetailsOf(error) });
  }

  #summaryFailed(effect: EffectOf<'summarize'>, error: unknown): void {
    if (isTranscriptMiss(error) && this.#transcript.frontMissed()) return;
    const failure = turnErrorOf(error);
    this.#machine.lost(effect, { error: failure });
    this.#pause.ended(this.#machine.state, false);
    log.warn('summary failed; turns continue without it', { ordinal: effect.ordinal, ...failure });
  }

  /** Makes few promises on purpose: the SDK runs a hook for each. */
  #perform<Result>(key: string, effect: ExternalEffect, work: Work<Result>): void {
    if (this.#isFeeding) {
      this.#giveRecorded(effect, work);
      return;
    }
    this.#acted();
    const scope = new CancellationScope({ cancellable: true });
    this.#underWay.set(key, { effect, scope });
    const settle = (feedBack: () => void): void => {
      const isCurrent = this.#underWay.get(key)?.scope === scope;
      (isCurrent ? this.#underWay : this.#replaced).delete(key);
      try {
        if (isCurrent) feedBack();
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
          work.failed(error, scope.consideredCancelled);
        });
      },
    );
  }

  #giveRecorded<Result>(effect: ExternalEffect, work: Work<Result>): void {
    const end = this.#recordedOf(effect);
    if (end === undefined) return;
    this.#recorded.delete(activityIdOf(this.#machine.state, effect) ?? '');
    if (end.as === 'completed') work.done(end.result as Result);
    else work.failed(recoveredFailure(end), false);
    this.#wake();
  }

  #sleepUntil(key: string, effect: TimerEffect): void {
    const { deadline } = effect;
    const summary = timerSummary(effect);
    this.#perform(key, effect, {
      run: () => sleep(Math.max(1, Date.parse(deadline) - Date.now()), { summary }),
      done: () => {
        this.#machine.fired(effect);
      },
      failed: (error) => {
        if (!isCancellation(error)) throw error;
      },
    });
  }
}

/** A model call whose turn was cancelled is kept until it has reported its partial output. */
function isAwaitedAbort(
  effect: ExternalEffect,
  wanted: ReadonlyMap<string, ExternalEffect>,
): boolean {
  if (effect.type !== 'call_model') return false;
  const { turnId, step } = effect;
  return wanted.has(effectKey({ type: 'abort_model', turnId, step }));
}

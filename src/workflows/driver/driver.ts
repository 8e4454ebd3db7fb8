/**
 * Carries out the effects of the core: starts the activities and timers that `decide` wants and that are not running,
 * stops those that it no longer wants, and feeds outcomes back into the machine. Owns only what runs in this workflow
 * run; after a roll-over or a replay everything is started again from the state.
 */
import { CancellationScope, isCancellation, sleep } from '@temporalio/workflow';
import { heldBytesOf } from '../../core/context/carry-over.js';
import { markOf } from '../../core/context/mark.js';
import type { ExternalEffect, TimerEffect } from '../../core/decide/effects.js';
import { effectKey, isTimer } from '../../core/decide/effects.js';
import type { ConversationMachine } from '../../core/machine/machine.js';
import { SummaryPause } from '../../core/machine/summary-pause.js';
import { timerFired } from '../../core/machine/timers.js';
import { readBoundsOf } from '../../core/reads/bounds.js';
import type { ModelCallDetails } from '../../protocol/conversation/attempts.js';
import type { CallModelInput } from '../../protocol/workflow/activities.js';
import type { RecoveredEnd } from '../../protocol/workflow/recovery.js';
import { activityIdOf, modelActivityId } from '../activities/activity-ids.js';
import { isTranscriptMiss, modelDetailsOf, turnErrorOf } from '../activities/activity-losses.js';
import { activities, MODEL_CALL, summaryOf, timerText } from '../activities/schedule.js';
import { TranscriptWindow } from '../transcript/transcript-window.js';
import { callWork, type Work } from './call-work.js';
import { recoveredFailure } from './recovery.js';
import { type Summaries, summaryWork } from './summarize.js';

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
  readonly #pause = new SummaryPause();
  readonly #summaries: Summaries;
  readonly #underWay = new Map<string, UnderWay>();
  /** A bug in an outcome must fail the workflow task, not vanish in a promise that is never awaited. */
  #fault: Error | undefined;
  /** Recorded ends of activities from before the run was reset, by activity id. */
  readonly #recorded = new Map<string, RecoveredEnd>();
  #isFeeding = false;
  /** Details of a model call that failed for missing messages and is made again. */
  #left: ModelCallDetails = {};

  constructor(options: DriverOptions) {
    this.#machine = options.machine;
    this.#modelName = options.modelName;
    this.#wake = options.wake;
    this.#acted = options.acted;
    const { machine } = options;
    this.#transcript = new TranscriptWindow(machine.state);
    this.#summaries = { machine, transcript: this.#transcript, pause: this.#pause };
  }

  /**
   * True while an activity runs other than a summary. Timers do not count: a roll-over carries deadlines.
   */
  get busy(): boolean {
    for (const { effect } of this.#underWay.values())
      if (!isTimer(effect) && effect.type !== 'summarize') return true;
    return false;
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
      this.#underWay.delete(key);
      if (open !== undefined) this.#stop(open.scope);
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
      if (this.#underWay.has(key)) continue;
      // The shell does this by a roll-over, once everything is quiet.
      if (effect.type === 'offload_transcript') continue;
      if (effect.type === 'abort_model') this.#abortModel(effect);
      else if (isTimer(effect) || mayStart() || this.#isLeft(effect)) this.#start(key, effect);
    }
  }

  #abortModel(effect: Effect<'abort_model'>): void {
    const { turnId, step } = effect;
    const call = this.#underWay.get(effectKey({ type: 'call_model', turnId, step }));
    if (call === undefined) {
      this.#machine.modelAborted(effect, this.#takeLeft());
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
    else if (effect.type === 'call_model') this.#callModel(key, effect);
    else if (effect.type !== 'summarize') {
      const work = callWork(this.#machine, effect);
      if (work !== undefined) this.#perform(key, effect, work);
    } else if (this.#pause.isOver(this.#machine.state))
      this.#perform(key, effect, summaryWork(this.#summaries, effect));
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

  #giveRecorded<Result>(effect: ExternalEffect, work: Work<Result>): void {
    const end = this.#recordedOf(effect);
    if (end === undefined) return;
    this.#recorded.delete(activityIdOf(this.#machine.state, effect) ?? '');
    if (end.as === 'completed') work.done(end.result as Result);
    else work.failed(recoveredFailure(end));
    this.#wake();
  }

  #callModel(key: string, effect: Effect<'call_model'>): void {
    const { state } = this.#machine;
    const { turn, tenant, conversationId, agent } = state;
    if (turn === undefined) return;
    const { turnId, step } = effect;
    const left = this.#takeLeft();
    const input: CallModelInput = {
      tenant,
      conversationId,
      agent,
      turnId,
      step,
      transcript: this.#transcript.next(state),
      requester: turn.requester,
      ...(turn.outputSchema === undefined ? {} : { output: turn.outputSchema }),
      ...markOf(state),
      ...heldBytesOf(state),
      ...readBoundsOf(state),
      ...left,
    };
    const options = {
      ...MODEL_CALL,
      activityId: modelActivityId(effect),
      summary: summaryOf(`model ${this.#modelName} step ${step}`),
    };
    this.#perform(key, effect, {
      run: () => activities.callModel.executeWithOptions(options, [input]),
      done: (outcome) => {
        this.#transcript.cameBack();
        this.#machine.modelCompleted(effect, outcome);
      },
      failed: (error) => {
        if (isCancellation(error)) this.#machine.modelAborted(effect, left);
        // The state still wants the call, so it is started again at once.
        else if (isTranscriptMiss(error) && this.#transcript.missed())
          this.#left = modelDetailsOf(error);
        else this.#machine.modelFailed(effect, turnErrorOf(error), modelDetailsOf(error));
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

type Effect<Type extends ExternalEffect['type']> = Extract<ExternalEffect, { type: Type }>;

/** A model call whose turn was cancelled is kept until it has reported its partial output. */
function isAwaitedAbort(
  effect: ExternalEffect,
  wanted: ReadonlyMap<string, ExternalEffect>,
): boolean {
  if (effect.type !== 'call_model') return false;
  const { turnId, step } = effect;
  return wanted.has(effectKey({ type: 'abort_model', turnId, step }));
}

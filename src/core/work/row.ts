/** The types of the table of effects (`effects.ts`): its rows, and the activities that they name. */
import type { ModelCallDetails } from '../../protocol/conversation/attempts.js';
import type { TurnError } from '../../protocol/conversation/turns.js';
import type { EventBody } from '../../protocol/log/events.js';
import type { ConversationActivities, InlineRead } from '../../protocol/workflow/activities.js';
import type { TranscriptDelta } from '../../protocol/workflow/transcript-delta.js';
import type { Loss } from '../calls/results.js';
import type { EffectOf, EffectType, TimerEffect } from '../decide/effects.js';
import type { ConversationState } from '../state/state.js';

/** Each effect that an activity carries out: the activity, and how it can be lost. */
interface Activities {
  readonly call_model: { readonly name: 'callModel'; readonly loss: ModelLoss };
  readonly summarize: { readonly name: 'summarize'; readonly loss: ModelLoss };
  readonly plan_call: { readonly name: 'planCall'; readonly loss: Loss };
  readonly preflight_tool: { readonly name: 'preflightTool'; readonly loss: Loss };
  readonly run_tool: { readonly name: 'runTool'; readonly loss: Loss };
  readonly reconcile_tool: { readonly name: 'reconcileTool'; readonly loss: Loss };
  readonly check_answer: { readonly name: 'checkAnswer'; readonly loss: Loss };
  readonly check_edit: { readonly name: 'checkEdit'; readonly loss: Loss };
  readonly start_child: { readonly name: 'startChild'; readonly loss: Loss };
  readonly stop_child: { readonly name: 'stopChild'; readonly loss: Loss };
  readonly check_definition: { readonly name: 'checkDefinition'; readonly loss: Loss };
}

export type WorkType = keyof Activities;
export type ChildWorkType = 'start_child' | 'stop_child';
export type CallWorkType = Exclude<WorkType, ChildWorkType | 'call_model' | 'summarize'>;
export type WorkActivity = Activities[WorkType]['name'];

export type InputOf<Name extends WorkActivity> = Parameters<ConversationActivities[Name]>[0];
export type ResultOf<Name extends WorkActivity> = Awaited<ReturnType<ConversationActivities[Name]>>;
export type WorkInput<Type extends WorkType> = InputOf<Activities[Type]['name']>;
export type WorkResult<Type extends WorkType> = ResultOf<Activities[Type]['name']>;
export type LossOf<Type extends WorkType> = Activities[Type]['loss'];

/** The end of a request to the model without an answer. `error`: absent when the request was given up. */
export interface ModelLoss {
  readonly error?: TurnError;
  /** Details and usage of its attempts. */
  readonly left?: ModelCallDetails | undefined;
}

/** The conversation at the workflow's time. */
export interface EffectAt {
  readonly state: ConversationState;
  readonly nowMs: number;
  /** For the id of a turn that starts; see `MachineOptions.turnToken`. */
  readonly turnToken?: (() => string) | undefined;
}

/** Gives requests to a model their part of the transcript. */
export interface TranscriptSource {
  /** The messages of the next model call. */
  next(state: ConversationState): TranscriptDelta;
  /** The first `length` items of the whole transcript. */
  front(state: ConversationState, length: number): TranscriptDelta;
}

export interface InputAt extends EffectAt {
  readonly transcript: TranscriptSource;
}

/** An effect of any kind. */
export interface Row<Type extends EffectType> {
  /** The identity of the effect while it is under way: equal keys mean the same piece of work. */
  readonly key: (effect: EffectOf<Type>) => string;
  /**
   * Id of the activity, by which a recovered run finds its recorded end. Absent: work without effects, which a
   * recovered run does again.
   */
  readonly activityId?: (state: ConversationState, effect: EffectOf<Type>) => string | undefined;
}

/** An effect that an activity carries out. */
export interface WorkRow<Type extends WorkType> extends Row<Type> {
  readonly activity: Activities[Type]['name'];
  /** Undefined when nothing is left to do. */
  readonly input: (at: InputAt, effect: EffectOf<Type>) => WorkInput<Type> | undefined;
  readonly completed: EventsOfEnd<Type, WorkResult<Type>>;
  readonly lost: EventsOfEnd<Type, LossOf<Type>>;
  /** The end of work whose result does not have the form of its activity. `problem`: in words. */
  readonly faulty: EventsOfEnd<Type, string>;
  /** Results of reads that ran inside the activity. `recorded`: the events of its result. */
  readonly reads?: (
    result: WorkResult<Type>,
    recorded: readonly EventBody[],
  ) => readonly InlineRead[];
}

export type EventsOfEnd<Type extends WorkType, End> = (
  at: EffectAt,
  effect: EffectOf<Type>,
  end: End,
) => readonly EventBody[];

/** An effect that waits for a time. */
export interface TimerRow<Type extends TimerEffect['type']> extends Row<Type> {
  /** Empty when the subject of the timer has ended. */
  readonly fired: (at: EffectAt, effect: EffectOf<Type>) => readonly EventBody[];
}

/**
 * The work on single calls that workers carry out: one row for each kind of effect, with the activity that does it, its
 * input, and the events that record its end. The driver of the workflow and that of the test kit use the same rows.
 * Pure.
 */

import { TEXTS } from '../../protocol/failures/texts.js';
import type { EventBody } from '../../protocol/log/events.js';
import type { ConversationActivities } from '../../protocol/workflow/activities.js';
import { planForRun, totalEndOf } from '../calls/clocks.js';
import { isAgentGone, lossError } from '../calls/definitions.js';
import type { Loss } from '../calls/results.js';
import { earlierResultsOf } from '../context/turn-results.js';
import type { ExternalEffect } from '../decide/effects.js';
import { requesterOf, runInputOf } from '../decide/tool-runs.js';
import { definitionCheckedEvents, definitionNotCheckedEvents } from '../events/definitions.js';
import { answerCheckedEvents, editCheckedEvents } from '../events/resolutions.js';
import {
  notPlannedEvents,
  plannedEvents,
  preflightEvents,
  reconciledEvents,
  toolFinishedEvents,
  toolLostEvents,
} from '../events/tool-runs.js';
import type { CallState } from '../state/calls.js';
import type { ConversationState } from '../state/state.js';
import { isoOf } from '../state/time.js';

/** The activity of each kind of work. */
interface ActivityOf {
  readonly plan_call: 'planCall';
  readonly preflight_tool: 'preflightTool';
  readonly run_tool: 'runTool';
  readonly reconcile_tool: 'reconcileTool';
  readonly check_answer: 'checkAnswer';
  readonly check_edit: 'checkEdit';
  readonly check_definition: 'checkDefinition';
}

export type CallWorkType = keyof ActivityOf;
/** The decision that asks for the work, of the given kind or of any. */
export type CallEffect<Type extends CallWorkType = CallWorkType> = Extract<
  ExternalEffect,
  { readonly type: CallWorkType }
> & { readonly type: Type };

export type CallActivity = ActivityOf[CallWorkType];
export type InputOf<Name extends CallActivity> = Parameters<ConversationActivities[Name]>[0];
export type ResultOf<Name extends CallActivity> = Awaited<ReturnType<ConversationActivities[Name]>>;
export type CallWorkInput<Type extends CallWorkType> = InputOf<ActivityOf[Type]>;
export type CallWorkResult<Type extends CallWorkType> = ResultOf<ActivityOf[Type]>;

/** The end of the work: the result of its activity, or how that was lost. */
export type CallWorkEnd<Type extends CallWorkType> =
  | { readonly result: CallWorkResult<Type> }
  | { readonly loss: Loss };

/** A call with its conversation, at the workflow's time. */
export interface CallAt {
  readonly state: ConversationState;
  readonly call: CallState;
  readonly nowMs: number;
}

export interface CallWork<Type extends CallWorkType> {
  readonly activity: ActivityOf[Type];
  /** Undefined when nothing is left to do. */
  input(at: CallAt): CallWorkInput<Type> | undefined;
  completed(at: CallAt, result: CallWorkResult<Type>): readonly EventBody[];
  lost(at: CallAt, loss: Loss): readonly EventBody[];
}

export const CALL_WORK: { readonly [Type in CallWorkType]: CallWork<Type> } = {
  plan_call: {
    activity: 'planCall',
    input: ({ state, call }) => {
      const { toolCallId, name, unplanned } = call.plan;
      if (unplanned === undefined) return undefined;
      const { argumentsJson } = unplanned;
      return { ...stepOf(state, call), call: { toolCallId, name, argumentsJson } };
    },
    completed: ({ state, call }, plan) => plannedEvents(state, call, plan),
    lost: ({ call }, loss) => notPlannedEvents(call, loss),
  },
  preflight_tool: {
    activity: 'preflightTool',
    input: ({ state, call, nowMs }) =>
      runInputOf(state, { ...call, plan: planForRun(call, nowMs) }),
    completed: ({ call }, outcome) => preflightEvents(call, outcome),
    lost: ({ call }, { message }) => {
      const error = { code: 'tool_crashed', message: TEXTS.toolCrashed(message) } as const;
      return preflightEvents(call, { ok: false, error });
    },
  },
  run_tool: {
    activity: 'runTool',
    input: ({ state, call, nowMs }) => {
      const endMs = totalEndOf(call);
      return {
        ...runInputOf(state, { ...call, plan: planForRun(call, nowMs) }),
        ...(endMs === undefined ? {} : { endsAt: isoOf(endMs) }),
      };
    },
    completed: ({ state, call }, outcome) => toolFinishedEvents(state, call, outcome),
    lost: ({ call }, loss) => toolLostEvents(call, loss),
  },
  reconcile_tool: {
    activity: 'reconcileTool',
    input: ({ state, call }) => runInputOf(state, call),
    completed: ({ call }, outcome) => reconciledEvents(call, outcome),
    lost: ({ call }, { message }) =>
      reconciledEvents(call, { outcome: 'unknown', reason: message }),
  },
  check_answer: {
    activity: 'checkAnswer',
    input: ({ state, call }) => {
      const { tenant, conversationId, agent } = state;
      const { answer, ask, plan } = call;
      if (answer === undefined) return undefined;
      const { toolCallId, name, answerDefinition } = plan;
      const offered = answerDefinition === undefined ? {} : { answerDefinition };
      const judgedBy = ask === undefined ? offered : { form: ask.question.form };
      return { tenant, conversationId, agent, toolCallId, name, value: answer.value, ...judgedBy };
    },
    completed: ({ call }, outcome) => answerCheckedEvents(call, outcome),
    // Without a worker to check it, the answer is rejected and the call stays open.
    lost: ({ call }, loss) =>
      answerCheckedEvents(call, uncheckedOf(call, loss, '/resolution/value')),
  },
  check_edit: {
    activity: 'checkEdit',
    input: ({ state, call }) => {
      const { edit, plan } = call;
      if (edit === undefined) return undefined;
      const { toolCallId, name, mcp } = plan;
      return {
        ...stepOf(state, call),
        ...{ toolCallId, name },
        ...(mcp === undefined ? {} : { mcp }),
        input: edit.input,
      };
    },
    completed: ({ state, call }, outcome) => editCheckedEvents(state, call, outcome),
    // Without a worker to check it, the edit is rejected and the call is open again.
    lost: ({ state, call }, loss) =>
      editCheckedEvents(state, call, uncheckedOf(call, loss, '/resolution/input')),
  },
  check_definition: {
    activity: 'checkDefinition',
    input: ({ state, call }) => {
      const { toolCallId, name, executor, raw, definition, mcp, input = null } = call.plan;
      return {
        ...stepOf(state, call),
        call: {
          ...{ toolCallId, name, executor, input },
          ...(raw === undefined ? {} : { raw }),
          ...(definition === undefined ? {} : { definition }),
          ...(mcp === undefined ? {} : { mcp }),
        },
        ...(call.changed === undefined ? {} : { found: call.changed.definition }),
      };
    },
    completed: ({ state, call, nowMs }, outcome) =>
      definitionCheckedEvents(state, call, { outcome, nowMs }),
    lost: ({ call }, loss) => definitionNotCheckedEvents(call, loss),
  },
};

export function callEndedEvents<Type extends CallWorkType>(
  { type }: CallEffect<Type>,
  at: CallAt,
  end: CallWorkEnd<Type>,
): readonly EventBody[] {
  const work = CALL_WORK[type];
  return 'loss' in end ? work.lost(at, end.loss) : work.completed(at, end.result);
}

/** The step of the call, its requester, and the results of its turn until now. */
function stepOf(state: ConversationState, call: CallState) {
  const { tenant, conversationId, agent } = state;
  const { turnId, step } = call;
  const requester = requesterOf(state, call);
  const results = earlierResultsOf(state, turnId);
  return { tenant, conversationId, agent, turnId, step, requester, ...results };
}

/** The outcome of a check that no worker could make. */
function uncheckedOf({ plan: { name } }: CallState, loss: Loss, path: string) {
  const problems = [{ path, message: `could not be checked: ${loss.message}` }];
  return isAgentGone(loss)
    ? ({ ok: false, ended: lossError(name, loss) } as const)
    : ({ ok: false, problems } as const);
}

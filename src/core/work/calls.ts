/** The work on single calls: rows of the table of effects. Pure. */

import { TEXTS } from '../../protocol/failures/texts.js';
import type { EventBody } from '../../protocol/log/events.js';
import { planForRun, totalEndOf } from '../calls/clocks.js';
import { isAgentGone, lossError } from '../calls/definitions.js';
import type { Loss } from '../calls/results.js';
import { earlierResultsOf } from '../context/turn-results.js';
import type { EffectOf } from '../decide/effects.js';
import { madeFields, requesterOf, runInputOf } from '../decide/tool-runs.js';
import { definitionCheckedEvents, definitionNotCheckedEvents } from '../events/definitions.js';
import { answerCheckedEvents, editCheckedEvents } from '../events/resolutions.js';
import {
  faultyEndEvents,
  notPlannedEvents,
  plannedEvents,
  preflightEvents,
  reconciledEvents,
  toolFinishedEvents,
  toolLostEvents,
} from '../events/tool-runs.js';
import { statesRef } from '../plugins/states.js';
import type { CallState } from '../state/calls.js';
import type { ConversationState } from '../state/state.js';
import { agentOf, callOf } from '../state/state.js';
import { isoOf } from '../state/time.js';
import type { CallWorkType, EffectAt, WorkInput, WorkResult, WorkRow } from './row.js';

/** A call with its conversation, at the workflow's time. */
interface CallAt extends EffectAt {
  readonly call: CallState;
}

/** A row whose functions get the call of the effect. */
interface CallRow<Type extends CallWorkType> extends Pick<WorkRow<Type>, 'key' | 'activity'> {
  readonly activityId?: (plan: CallState['plan'], effect: EffectOf<Type>) => string;
  readonly input: (at: CallAt) => WorkInput<Type> | undefined;
  readonly completed: (at: CallAt, result: WorkResult<Type>) => readonly EventBody[];
  readonly lost: (at: CallAt, loss: Loss) => readonly EventBody[];
  /** Absent: as if the work was lost. */
  readonly faulty?: (at: CallAt) => readonly EventBody[];
}

export const CALL_WORK: { readonly [Type in CallWorkType]: WorkRow<Type> } = {
  plan_call: ofCall({
    key: ({ toolCallId }) => `plan:${toolCallId}`,
    activity: 'planCall',
    input: ({ state, call }) => {
      const { toolCallId, name, unplanned } = call.plan;
      if (unplanned === undefined) return undefined;
      const { argumentsJson } = unplanned;
      return {
        ...stepOf(state, call),
        ...madeFields(state, call),
        call: { toolCallId, name, argumentsJson },
      };
    },
    completed: ({ state, call }, plan) => plannedEvents(state, call, plan),
    lost: ({ call }, loss) => notPlannedEvents(call, loss),
  }),
  preflight_tool: ofCall({
    key: ({ toolCallId }) => `preflight:${toolCallId}`,
    activity: 'preflightTool',
    activityId: ({ name, toolCallId }) => `preflight:${name}:${toolCallId}`,
    input: ({ state, call, nowMs }) =>
      runInputOf(state, { ...call, plan: planForRun(call, nowMs) }),
    completed: ({ call }, outcome) => preflightEvents(call, outcome),
    lost: ({ call }, { message }) => {
      const error = { code: 'tool_crashed', message: TEXTS.toolCrashed(message) } as const;
      return preflightEvents(call, { ok: false, error });
    },
  }),
  run_tool: ofCall({
    key: ({ toolCallId, run }) => `tool:${toolCallId}:${run}`,
    activity: 'runTool',
    // The first run has the plain id, which kept histories contain.
    activityId: ({ name, toolCallId }, { run }) =>
      `tool:${name}:${toolCallId}${run > 1 ? `:${run}` : ''}`,
    input: ({ state, call, nowMs }) => {
      const endMs = totalEndOf(call);
      return {
        ...runInputOf(state, { ...call, plan: planForRun(call, nowMs) }),
        ...(endMs === undefined ? {} : { endsAt: isoOf(endMs) }),
      };
    },
    completed: ({ state, call }, outcome) => toolFinishedEvents(state, call, outcome),
    lost: ({ call }, loss) => toolLostEvents(call, loss),
    // The run has ended, so it is neither repeated nor reconciled.
    faulty: ({ call }) => faultyEndEvents(call),
  }),
  reconcile_tool: ofCall({
    key: ({ toolCallId, run }) => `reconcile:${toolCallId}:${run}`,
    activity: 'reconcileTool',
    activityId: ({ name, toolCallId }, { run }) => `reconcile:${name}:${toolCallId}:${run}`,
    input: ({ state, call }) => runInputOf(state, call),
    completed: ({ call }, outcome) => reconciledEvents(call, outcome),
    lost: ({ call }, { message }) =>
      reconciledEvents(call, { outcome: 'unknown', reason: message }),
  }),
  check_answer: ofCall({
    key: ({ toolCallId, requestId }) => `check:${toolCallId}:${requestId}`,
    activity: 'checkAnswer',
    input: ({ state, call }) => {
      const { tenant, conversationId } = state;
      const { answer, ask, plan } = call;
      const agent = agentOf(state, call);
      if (answer === undefined) return undefined;
      const { toolCallId, name, answerDefinition } = plan;
      const offered = answerDefinition === undefined ? {} : { answerDefinition };
      const judgedBy = ask === undefined ? offered : { form: ask.question.form };
      return {
        ...{ tenant, conversationId, agent, toolCallId, name },
        ...madeFields(state, call),
        ...{ value: answer.value, ...judgedBy },
      };
    },
    completed: ({ call }, outcome) => answerCheckedEvents(call, outcome),
    // Without a worker to check it, the answer is rejected and the call stays open.
    lost: ({ call }, loss) =>
      answerCheckedEvents(call, uncheckedOf(call, loss, '/resolution/value')),
  }),
  check_edit: ofCall({
    key: ({ toolCallId, requestId }) => `edit:${toolCallId}:${requestId}`,
    activity: 'checkEdit',
    input: ({ state, call }) => {
      const { edit, plan } = call;
      if (edit === undefined) return undefined;
      const { toolCallId, name, mcp } = plan;
      return {
        ...stepOf(state, call),
        ...{ toolCallId, name },
        ...(mcp === undefined ? {} : { mcp }),
        ...madeFields(state, call),
        input: edit.input,
      };
    },
    completed: ({ state, call }, outcome) => editCheckedEvents(state, call, outcome),
    // Without a worker to check it, the edit is rejected and the call is open again.
    lost: ({ state, call }, loss) =>
      editCheckedEvents(state, call, uncheckedOf(call, loss, '/resolution/input')),
  }),
  check_definition: ofCall({
    key: ({ toolCallId }) => `definition:${toolCallId}`,
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
        ...madeFields(state, call),
        ...(call.changed === undefined ? {} : { found: call.changed.definition }),
      };
    },
    completed: ({ state, call, nowMs }, outcome) =>
      definitionCheckedEvents(state, call, { outcome, nowMs }),
    lost: ({ call }, loss) => definitionNotCheckedEvents(call, loss),
  }),
};

/** Looks up the call; for a call that no longer exists, nothing is left to do. */
function ofCall<Type extends CallWorkType>(row: CallRow<Type>): WorkRow<Type> {
  const { key, activity, activityId, input, completed, lost, faulty } = row;
  return {
    key,
    activity,
    activityId: (state, effect) => {
      const call = callOf(state, effect.toolCallId);
      return call && activityId?.(call.plan, effect);
    },
    input: (at, { toolCallId }) => {
      const call = callOf(at.state, toolCallId);
      return call && input({ ...at, call });
    },
    completed: (at, { toolCallId }, result) => {
      const call = callOf(at.state, toolCallId);
      return call === undefined ? [] : completed({ ...at, call }, result);
    },
    lost: (at, { toolCallId }, loss) => {
      const call = callOf(at.state, toolCallId);
      return call === undefined ? [] : lost({ ...at, call }, loss);
    },
    faulty: (at, { toolCallId }, message) => {
      const call = callOf(at.state, toolCallId);
      if (call === undefined) return [];
      return faulty?.({ ...at, call }) ?? lost({ ...at, call }, { timedOut: false, message });
    },
  };
}

/** The step of the call, its requester, the results of its turn until now, and the states that policies read. */
function stepOf(state: ConversationState, call: CallState) {
  const { tenant, conversationId } = state;
  const { turnId, step } = call;
  const agent = agentOf(state, call);
  const requester = requesterOf(state, call);
  const results = earlierResultsOf(state, turnId);
  return {
    ...{ tenant, conversationId, agent, turnId, step, requester, ...results },
    ...statesRef(state, 'called'),
  };
}

/** The outcome of a check that no worker could make. */
function uncheckedOf({ plan: { name } }: CallState, loss: Loss, path: string) {
  const problems = [{ path, message: `could not be checked: ${loss.message}` }];
  return isAgentGone(loss)
    ? ({ ok: false, ended: lossError(name, loss) } as const)
    : ({ ok: false, problems } as const);
}

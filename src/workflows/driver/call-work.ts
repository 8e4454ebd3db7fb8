/** Schedules the activities of single calls (`CALL_WORK`), and returns their ends to the machine. */
import { type ActivityOptions, isCancellation } from '@temporalio/workflow';
import { planForRun, totalEndOf } from '../../core/calls/clocks.js';
import type { ConversationMachine } from '../../core/machine/machine.js';
import { type CallState } from '../../core/state/calls.js';
import { callOf } from '../../core/state/state.js';
import {
  CALL_WORK,
  type CallActivity,
  type CallEffect,
  type CallWorkResult,
  type CallWorkType,
  type InputOf,
  type ResultOf,
} from '../../core/work/calls.js';
import { lossOf } from '../activities/activity-losses.js';
import {
  activities,
  CHECK_ANSWER,
  CHECK_DEFINITION,
  CHECK_EDIT,
  PLAN_CALL,
  preflightOptions,
  reconcileOptions,
  runOptions,
  summaryOf,
} from '../activities/schedule.js';

/** One piece of work: how to start it, and how to handle its result or its failure. */
export interface Work<Result> {
  readonly run: () => Promise<Result>;
  readonly done: (result: Result) => void;
  readonly failed: (error: unknown) => void;
}

/** Undefined when the call no longer exists, or nothing is left to do. */
export function callWork<Type extends CallWorkType>(
  machine: ConversationMachine,
  effect: CallEffect<Type>,
): Work<CallWorkResult<Type>> | undefined {
  const call = callOf(machine.state, effect.toolCallId);
  if (call === undefined) return undefined;
  const work = CALL_WORK[effect.type];
  const input = work.input({ state: machine.state, call, nowMs: Date.now() });
  if (input === undefined) return undefined;
  const options = optionsOf(call, effect);
  return {
    run: () => CALL_ACTIVITIES[work.activity].executeWithOptions(options, [input]),
    done: (result) => {
      machine.callEnded(effect, { result });
    },
    failed: (error) => {
      if (!isCancellation(error)) machine.callEnded(effect, { loss: lossOf(error) });
    },
  };
}

const CALL_ACTIVITIES: {
  readonly [Name in CallActivity]: {
    executeWithOptions(options: ActivityOptions, args: [InputOf<Name>]): Promise<ResultOf<Name>>;
  };
} = activities;

function optionsOf(call: CallState, effect: CallEffect): ActivityOptions {
  const { plan } = call;
  const named = `${plan.name} (${plan.toolCallId})`;
  switch (effect.type) {
    case 'plan_call':
      return { ...PLAN_CALL, summary: summaryOf(`plan ${named}`) };
    case 'preflight_tool':
      return preflightOptions(planForRun(call, Date.now()));
    case 'run_tool': {
      const { run } = effect;
      const heldAt = call.ask?.question.heldAt;
      const due = { plan: planForRun(call, Date.now()), run, endMs: totalEndOf(call), heldAt };
      return runOptions(due);
    }
    case 'reconcile_tool':
      return reconcileOptions(plan, effect.run);
    case 'check_answer':
      return { ...CHECK_ANSWER, summary: summaryOf(`check answer of ${named}`) };
    case 'check_edit':
      return { ...CHECK_EDIT, summary: summaryOf(`check edited input of ${named}`) };
    case 'check_definition':
      return { ...CHECK_DEFINITION, summary: summaryOf(`check definition of ${named}`) };
  }
}

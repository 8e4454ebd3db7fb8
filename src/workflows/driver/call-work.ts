/** The activities of single calls: their inputs, their options, and the machine input that takes their outcome. */
import { isCancellation } from '@temporalio/workflow';
import { planForRun, totalEndOf } from '../../core/calls/clocks.js';
import { isAgentGone, lossError } from '../../core/calls/definitions.js';
import { earlierResultsOf } from '../../core/context/turn-results.js';
import type { ExternalEffect } from '../../core/decide/effects.js';
import { runInputOf, UNKNOWN_REQUESTER } from '../../core/decide/tool-runs.js';
import type { ConversationMachine } from '../../core/machine/machine.js';
import type { CallState } from '../../core/state/state.js';
import { isoOf } from '../../core/state/time.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import type { PlanCallInput } from '../../protocol/workflow/activities.js';
import { lossOf } from '../activities/activity-losses.js';
import {
  activities,
  CHECK_ANSWER,
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

type CallEffect = Extract<
  ExternalEffect,
  { type: 'run_tool' | 'preflight_tool' | 'reconcile_tool' | 'plan_call' | 'check_answer' }
>;
type Perform = <Result>(work: Work<Result>) => void;

/** Performs the work that the call needs. Does nothing when the call no longer exists. */
export function workOnCall(
  machine: ConversationMachine,
  effect: CallEffect,
  perform: Perform,
): void {
  const call = machine.state.calls[effect.toolCallId];
  if (call === undefined) return;
  switch (effect.type) {
    case 'run_tool':
      perform(runTool(machine, call, effect.run));
      return;
    case 'reconcile_tool':
      perform(reconcileTool(machine, call, effect.run));
      return;
    case 'preflight_tool':
      perform(preflightTool(machine, call));
      return;
    case 'plan_call':
      planCall(machine, call, perform);
      return;
    case 'check_answer':
      checkAnswer(machine, effect, perform);
  }
}

function runTool(machine: ConversationMachine, call: CallState, run: number) {
  const plan = planForRun(call, Date.now());
  const endMs = totalEndOf(call);
  const due = { plan, run, endMs, heldAt: call.ask?.question.heldAt };
  const input = {
    ...runInputOf(machine.state, { ...call, plan }),
    ...(endMs === undefined ? {} : { endsAt: isoOf(endMs) }),
  };
  return {
    run: () => activities.runTool.executeWithOptions(runOptions(due), [input]),
    done: (outcome) => {
      machine.toolFinished(plan.toolCallId, outcome);
    },
    failed: (error) => {
      if (!isCancellation(error)) machine.toolLost(plan.toolCallId, lossOf(error));
    },
  } satisfies Work<Awaited<ReturnType<typeof activities.runTool>>>;
}

function reconcileTool(machine: ConversationMachine, call: CallState, run: number) {
  const { plan } = call;
  const input = runInputOf(machine.state, call);
  return {
    run: () => activities.reconcileTool.executeWithOptions(reconcileOptions(plan, run), [input]),
    done: (outcome) => {
      machine.toolReconciled(plan.toolCallId, outcome);
    },
    failed: (error) => {
      if (isCancellation(error)) return;
      const reason = lossOf(error).message;
      machine.toolReconciled(plan.toolCallId, { outcome: 'unknown', reason });
    },
  } satisfies Work<Awaited<ReturnType<typeof activities.reconcileTool>>>;
}

function preflightTool(machine: ConversationMachine, call: CallState) {
  const plan = planForRun(call, Date.now());
  const input = runInputOf(machine.state, { ...call, plan });
  return {
    run: () => activities.preflightTool.executeWithOptions(preflightOptions(plan), [input]),
    done: (outcome) => {
      machine.toolPrepared(plan.toolCallId, outcome);
    },
    failed: (error) => {
      if (isCancellation(error)) return;
      const message = TEXTS.toolCrashed(lossOf(error).message);
      const failed = { ok: false, error: { code: 'tool_crashed', message } } as const;
      machine.toolPrepared(plan.toolCallId, failed);
    },
  } satisfies Work<Awaited<ReturnType<typeof activities.preflightTool>>>;
}

function planCall(machine: ConversationMachine, call: CallState, perform: Perform): void {
  const { plan, turnId, step } = call;
  if (plan.unplanned === undefined) return;
  const { toolCallId, name, unplanned } = plan;
  const { tenant, conversationId, agent, turn } = machine.state;
  const input: PlanCallInput = {
    tenant,
    conversationId,
    agent,
    turnId,
    step,
    call: { toolCallId, name, argumentsJson: unplanned.argumentsJson },
    requester: turn?.requester ?? UNKNOWN_REQUESTER,
    ...earlierResultsOf(machine.state, turnId),
  };
  const options = { ...PLAN_CALL, summary: summaryOf(`plan ${name} (${toolCallId})`) };
  perform({
    run: () => activities.planCall.executeWithOptions(options, [input]),
    done: (planned) => {
      machine.callPlanned(toolCallId, planned);
    },
    failed: (error) => {
      if (!isCancellation(error)) machine.callNotPlanned(toolCallId, lossOf(error));
    },
  });
}

function checkAnswer(
  machine: ConversationMachine,
  effect: Extract<CallEffect, { type: 'check_answer' }>,
  perform: Perform,
): void {
  const { toolCallId } = effect;
  const { tenant, conversationId, agent, calls } = machine.state;
  const call = calls[toolCallId];
  if (call?.answer === undefined) return;
  const { name, answerDefinition } = call.plan;
  const { value } = call.answer;
  const options = {
    ...CHECK_ANSWER,
    summary: summaryOf(`check answer of ${name} (${toolCallId})`),
  };
  const offered = answerDefinition === undefined ? {} : { answerDefinition };
  const judgedBy = call.ask === undefined ? offered : { form: call.ask.question.form };
  const input = { tenant, conversationId, agent, toolCallId, name, value, ...judgedBy };
  perform({
    run: () => activities.checkAnswer.executeWithOptions(options, [input]),
    done: (outcome) => {
      machine.answerChecked(effect, outcome);
    },
    failed: (error) => {
      if (isCancellation(error)) return;
      // Without a worker to check it, the answer is rejected and the call stays open.
      const loss = lossOf(error);
      if (isAgentGone(loss)) {
        machine.answerChecked(effect, { ok: false, ended: lossError(name, loss) });
        return;
      }
      const message = `could not be checked: ${loss.message}`;
      const problems = [{ path: '/resolution/value', message }];
      machine.answerChecked(effect, { ok: false, problems });
    },
  });
}

/**
 * Calls of server tools beyond a plain run: what is wanted after a run was lost, and what is written when its tool has been
 * asked. Pure.
 *
 * | a run was lost of a tool that | then |
 * |---|---|
 * | may run again | its activity was retried; the last loss is the result |
 * | runs once, and can say what happened | it is asked: its result, another run while `maxAttempts` allows one, or unknown |
 * | runs once, and holds unknown outcomes | the call waits for an operator's `outcome` |
 * | runs once, otherwise | the model reads that the outcome is unknown |
 */
import type { ReconcileToolResult, RunToolInput, ToolEnded } from '../protocol/activities.js';
import type { StampedActor } from '../protocol/actors.js';
import type {
  AnswerChecked,
  CallPrepared,
  EventBody,
  ToolAskedEvent,
  ToolLostEvent,
  ToolReconciledEvent,
} from '../protocol/events.js';
import { idempotencyKeyFor } from '../protocol/ids.js';
import { TEXTS } from '../protocol/texts.js';
import type { PlannedCall, ToolResult } from '../protocol/tools.js';
import { answerChecked, decideAsk, entryOf, runOf, toolAsked } from './asks.js';
import type { Effect } from './effects.js';
import { errorResult, ranResult, resultEvent } from './event-bodies.js';
import { type Stamped, withCall } from './fold.js';
import type { Loss } from './outcomes.js';
import { callPrepared } from './preflight.js';
import type { CallState, ConversationState } from './state.js';

/** What a call that has passed its gate needs now. */
export function decideServerCall(call: CallState): readonly Effect[] {
  const { plan, lost } = call;
  const { toolCallId } = plan;
  if (lost === undefined)
    return [decideAsk(call) ?? { type: 'run_tool', toolCallId, run: runOf(call) }];
  if (lost.outcome === undefined && plan.reconcile === true)
    return [{ type: 'reconcile_tool', toolCallId, run: runOf(call) }];
  if (lost.outcome === 'not_happened')
    return [{ type: 'record_result', toolCallId, result: neverHappened(call) }];
  if (plan.onOutcomeUnknown === 'hold')
    return [{ type: 'open_suspension', toolCallId, kind: 'outcome' }];
  return [{ type: 'record_result', toolCallId, result: unknownOutcome(plan) }];
}

function unknownOutcome({ name }: PlannedCall): ToolResult {
  return errorResult('errored', { code: 'outcome_unknown', message: TEXTS.outcomeUnknown(name) });
}

function neverHappened(call: CallState): ToolResult {
  const message = TEXTS.lostEachTime(call.plan.name, attemptsOf(call));
  return errorResult('errored', { code: 'tool_crashed', message });
}

/** Runs that were begun, but for those that ended with a question: the first, and one after each loss without an effect. */
function attemptsOf({ reruns = 0 }: CallState): number {
  return reruns + 1;
}

/** Whether a lost run is more than a result: somebody can find out what it did. */
export function isHeld(plan: PlannedCall): boolean {
  return (
    plan.effects === 'once' && (plan.reconcile === true || plan.onOutcomeUnknown !== undefined)
  );
}

/** A `once` call whose activity was delivered again was not run: like a lost run, only that a worker says so. */
export function lossTold(call: CallState, outcome: ToolEnded): Loss | undefined {
  const { envelope } = outcome;
  return isHeld(call.plan) && !envelope.ok && envelope.error.code === 'outcome_unknown'
    ? { timedOut: false, message: 'the call was delivered a second time' }
    : undefined;
}

export function lostEvent(call: CallState, loss: Loss): EventBody {
  const { turnId, plan } = call;
  const { toolCallId } = plan;
  return { type: 'tool_lost', turnId, toolCallId, run: runOf(call), reason: loss.message };
}

/** The tool was asked what its lost run did. */
export function reconciledEvents(
  call: CallState,
  outcome: ReconcileToolResult,
): readonly EventBody[] {
  const { turnId, plan } = call;
  const { toolCallId } = plan;
  const event: EventBody = {
    type: 'tool_reconciled',
    turnId,
    toolCallId,
    run: runOf(call),
    outcome: outcome.outcome,
    ...(outcome.outcome === 'unknown' ? { reason: outcome.reason } : {}),
  };
  if (outcome.outcome !== 'happened') return [event];
  return [event, resultEvent(call, ranResult(plan, { envelope: outcome.envelope }))];
}

/** Folds what the code of a tool did: shaped a request, was lost, said what happened, asked. */
export function runChanged(
  state: ConversationState,
  event: Stamped<
    CallPrepared | ToolLostEvent | ToolReconciledEvent | ToolAskedEvent | AnswerChecked
  >,
): ConversationState {
  switch (event.type) {
    case 'call_prepared':
      return callPrepared(state, event);
    case 'tool_lost':
      return toolLost(state, event);
    case 'tool_reconciled':
      return toolReconciled(state, event);
    case 'tool_asked':
      return toolAsked(state, event);
    case 'answer_checked':
      return answerChecked(state, event);
  }
}

function toolLost(state: ConversationState, event: Stamped<ToolLostEvent>): ConversationState {
  return withCall(state, event.toolCallId, (call) => ({
    ...call,
    status: 'outcome_unknown',
    lost: {},
  }));
}

function toolReconciled(
  state: ConversationState,
  event: Stamped<ToolReconciledEvent>,
): ConversationState {
  const { toolCallId, outcome, run } = event;
  return withCall(state, toolCallId, (call) => {
    const attempts = attemptsOf(call);
    if (outcome !== 'not_happened' || attempts >= call.plan.maxAttempts)
      return { ...call, lost: { outcome } };
    const { lost: _settled, ...rest } = call;
    return { ...rest, status: 'running', runsEnded: run, reruns: attempts };
  });
}

/** Who asks for a call whose turn is gone. */
export const UNKNOWN_REQUESTER: StampedActor = {
  id: 'unknown',
  verified: false,
  channel: 'system',
};

/** What a run of the call is given, wherever it runs. */
export function runInputOf(state: ConversationState, call: CallState): RunToolInput {
  const { tenant, conversationId, agent, turn } = state;
  const { plan, turnId, step, approver } = call;
  const { toolCallId, name, effects, timeouts, maxAttempts, mcp, input, raw, definition } = plan;
  return {
    tenant,
    conversationId,
    agent,
    turnId,
    step,
    call: {
      ...{ toolCallId, name, effects, timeouts, maxAttempts },
      ...(mcp === undefined ? {} : { mcp }),
      input: input ?? null,
      ...(raw === undefined ? {} : { raw }),
      ...(definition === undefined ? {} : { definition }),
    },
    idempotencyKey: idempotencyKeyFor(state, { ...plan, turnId, step }),
    requester: call.asker?.requester ?? turn?.requester ?? UNKNOWN_REQUESTER,
    ...(approver === undefined ? {} : { approver }),
    ...entryOf(call),
  };
}

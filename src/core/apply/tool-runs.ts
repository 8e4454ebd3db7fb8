/** Folds the events of tool runs: prepared, lost, reconciled, asked. Pure. */
import type {
  AnswerChecked,
  CallPrepared,
  ToolAskedEvent,
  ToolLostEvent,
  ToolReconciledEvent,
} from '../../protocol/log/events.js';
import { attemptsOf } from '../decide/tool-runs.js';
import type { AskState, ConversationState } from '../state/state.js';
import type { Stamped } from '../state/update.js';
import { withCall } from '../state/update.js';

/**
 * Folds the outcome of a tool's code: a prepared request, a lost run, its reconciliation, a question, a checked answer.
 */
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

export function toolAsked(
  state: ConversationState,
  event: Stamped<ToolAskedEvent>,
): ConversationState {
  const { toolCallId, run, ask: ordinal, argsDigest, question, recheck } = event;
  return withCall(state, toolCallId, (call) => {
    const { answer: _used, declined: _done, warned: _before, reopenUntil: _old, ...rest } = call;
    const earlier = call.ask === undefined ? [] : [...call.ask.earlier, call.ask.argsDigest];
    const ask: AskState = { ordinal, argsDigest, question, earlier, ...(recheck && { recheck }) };
    return { ...rest, runsEnded: run, ask };
  });
}

export function answerChecked(state: ConversationState, event: AnswerChecked): ConversationState {
  return withCall(state, event.toolCallId, (call) =>
    call.answer === undefined ? call : { ...call, answer: { ...call.answer, checked: true } },
  );
}

export function callPrepared(
  state: ConversationState,
  event: Stamped<CallPrepared>,
): ConversationState {
  const { payload, argsDigest, toolCallId } = event;
  return withCall(state, toolCallId, (call) => ({ ...call, prepared: { payload, argsDigest } }));
}

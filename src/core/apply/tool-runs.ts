/** Folds the events of tool runs: prepared, lost, reconciled, asked. Pure. */
import type {
  AnswerChecked,
  CallPrepared,
  ToolAskedEvent,
  ToolLostEvent,
  ToolReconciledEvent,
} from '../../protocol/log/events.js';
import { attemptsOf } from '../decide/tool-runs.js';
import type { AskState, CallState } from '../state/calls.js';
import type { ConversationState } from '../state/state.js';
import type { Stamped } from '../state/update.js';
import { withCall } from '../state/update.js';

export function toolLost(
  state: ConversationState,
  event: Stamped<ToolLostEvent>,
): ConversationState {
  return withCall(state, event.toolCallId, (call) =>
    call.result === undefined && call.suspension === undefined
      ? { ...call, status: 'outcome_unknown', lost: {} }
      : call,
  );
}

export function toolReconciled(
  state: ConversationState,
  event: Stamped<ToolReconciledEvent>,
): ConversationState {
  const { toolCallId, outcome, run } = event;
  return withCall(state, toolCallId, (call) => {
    if (call.result !== undefined || call.suspension !== undefined) return call;
    if (call.lost === undefined) return call;
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
  return withCall(state, event.toolCallId, (call) => askedCall(call, event));
}

/** The call with the next question of its tool. */
export function askedCall(call: CallState, event: ToolAskedEvent): CallState {
  const { run, ask: ordinal, argsDigest, question, recheck } = event;
  const { answer: _used, declined: _done, warned: _before, reopenUntil: _old, ...rest } = call;
  const earlier = call.ask === undefined ? [] : [...call.ask.earlier, call.ask.argsDigest];
  const ask: AskState = { ordinal, argsDigest, question, earlier, ...(recheck && { recheck }) };
  return { ...rest, runsEnded: run, ask };
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

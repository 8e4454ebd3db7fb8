/**
 * `decide(state)`: all work that should be under way now, as data. Pure: depends on the state alone, so the driver can
 * call it again at any time, after any kill. The driver (workflow shell or test harness) compares the answer with its
 * running work, starts the missing effects and stops those that are no longer wanted.
 */

import { relaxedSchema } from '../../json-schema/relaxed.js';
import { mayHaveUnknownKeys } from '../../json-schema/unknown-keys.js';
import { isRunByWorker, rowOf } from '../../protocol/calls/executors.js';
import type { PlannedCall } from '../../protocol/calls/plan.js';
import type { Resolution } from '../../protocol/calls/resolutions.js';
import type { ToolResult, ToolResultError } from '../../protocol/calls/results.js';
import type { Suspension } from '../../protocol/calls/suspensions.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import { SYSTEM_ACTOR } from '../../protocol/values/actors.js';
import type { Json } from '../../protocol/values/json.js';
import { dueInBackground } from '../calls/busy.js';
import { warningAt } from '../calls/clocks.js';
import { isToBeChecked } from '../calls/definitions.js';
import { backgroundCalls, detachResult, isOpenLate } from '../calls/detached.js';
import { needsPreflight } from '../calls/preflight.js';
import { ruleFor } from '../calls/remembered-decisions.js';
import { answeredResult, errorResult } from '../calls/results.js';
import { limitOf, turnDeadline } from '../calls/turn-limits.js';
import { isDone, orphans } from '../children/children.js';
import { needsOffload } from '../context/request-window.js';
import type { AttendedCall, CallState, SuspendedCall } from '../state/calls.js';
import { hasEnded, isAttended } from '../state/calls.js';
import { inboxTurnAfter } from '../state/inbox-turns.js';
import type { ConversationState, TurnState } from '../state/state.js';
import { isSequential, isStopping, stepCalls } from '../state/state.js';
import type { Effect, TimerEffect } from './effects.js';
import { decideSummary } from './summaries.js';
import { decidePreflight, decideServerCall } from './tool-runs.js';

/** The effects that should be under way in this state, in a stable order. */
export function decide(state: ConversationState): readonly Effect[] {
  if (state.closed) return [];
  const beside = backgroundCalls(state).flatMap(
    (call) => ruledCall(state, call) ?? decideCall(call),
  );
  const patches: readonly Effect[] =
    state.duePatches === undefined ? [] : [{ type: 'apply_patches' }];
  return [
    ...patches,
    ...decideAttended(state),
    ...beside,
    ...decideChildren(state),
    ...decideSummary(state),
  ];
}

/**
 * A start that is under way is never stopped: the conversation may have begun already, and is then closed in order.
 */
function decideChildren(state: ConversationState): readonly Effect[] {
  const { children } = state;
  if (children === undefined) return [];
  const starting = children.filter(({ status }) => status === 'starting');
  return [
    ...starting.map(({ childId }) => ({ type: 'start_child' as const, childId })),
    ...orphans(state).map(({ childId }) => ({ type: 'stop_child' as const, childId })),
  ];
}

/** The effects that the running turn waits for, or the start of the next turn. */
function decideAttended(state: ConversationState): readonly Effect[] {
  const { turn } = state;
  if (turn === undefined) {
    const [next] = state.queue;
    if (next !== undefined) return [{ type: 'start_turn', turnId: next.turnId }];
    if (state.inbox !== undefined && state.inboxHeld !== true) return [decideInbox(state)];
    return isDone(state) ? [{ type: 'close_child' }] : [];
  }
  const deadline = turnDeadline(state, turn);
  const effects = decideTurn(state, turn);
  return deadline === undefined
    ? effects
    : [...effects, { type: 'await_turn_limit', turnId: turn.turnId, deadline }];
}

function decideInbox(state: ConversationState): Effect {
  const { inboxPausedUntil } = state;
  if (inboxPausedUntil !== undefined)
    return { type: 'await_inbox_turn', deadline: inboxPausedUntil };
  const until = inboxTurnAfter(state);
  return until === undefined ? { type: 'start_inbox_turn' } : { type: 'pause_inbox', until };
}

function decideTurn(state: ConversationState, turn: TurnState): readonly Effect[] {
  const { turnId, step } = turn;
  if (turn.failure !== undefined) return [{ type: 'fail_turn', turnId }];
  switch (turn.phase) {
    case 'ending':
      return [{ type: 'end_turn', turnId }];
    case 'model': {
      if (isStopping(turn)) return [{ type: 'abort_model', turnId, step }];
      const limit = limitOf(state, turn);
      if (limit !== undefined) return [{ type: 'stop_at_limit', turnId, limit }];
      return [{ type: needsOffload(state) ? 'offload_transcript' : 'call_model', turnId, step }];
    }
    case 'tools':
      return turn.stop === undefined
        ? decideStep(state)
        : [{ type: 'stop_at_limit', turnId, limit: turn.stop }];
  }
}

function decideStep(state: ConversationState): readonly Effect[] {
  const background = dueInBackground(state);
  return background.length === 0
    ? dueCalls(state).flatMap((call) => stepEffects(state, call))
    : background.map(({ plan: { toolCallId } }) => ({ type: 'move_to_background', toolCallId }));
}

/**
 * The calls without a result that may proceed: all, or in sequential mode the first. Detached calls do not belong to
 * the step any more.
 */
function dueCalls(state: ConversationState): readonly AttendedCall[] {
  const calls = stepCalls(state).filter(isAttended);
  return isSequential(state) ? calls.slice(0, 1) : calls;
}

function stepEffects(state: ConversationState, call: AttendedCall): readonly Effect[] {
  const { plan } = call;
  if (plan.unplanned !== undefined) return decideCall(call);
  if (plan.mode !== 'detach' || plan.error !== undefined)
    return ruledCall(state, call) ?? decideCall(call);
  const { toolCallId } = plan;
  return [{ type: 'record_result', toolCallId, result: detachResult(state, call) }];
}

function ruledCall(state: ConversationState, call: CallState): readonly Effect[] | undefined {
  // An approval is for the prepared payload, so the preflight comes first.
  const rule = needsPreflight(call) ? undefined : ruleFor(state, call);
  if (rule === undefined) return undefined;
  return [{ type: 'apply_rule', toolCallId: call.plan.toolCallId, rule }];
}

/** The effects that one call needs now. */
export function decideCall(call: CallState): readonly Effect[] {
  if (hasEnded(call) || isOpenLate(call)) return [];
  if (call.suspension !== undefined) return decideWait(call);
  const { plan } = call;
  const { toolCallId } = plan;
  if (plan.unplanned !== undefined) return [{ type: 'plan_call', toolCallId }];
  if (plan.error !== undefined)
    return [
      {
        type: 'record_result',
        toolCallId,
        result: plannedErrorResult(plan.error),
      },
    ];
  if (call.changed !== undefined) return [{ type: 'check_definition', toolCallId }];
  if (needsPreflight(call)) return decidePreflight(call);
  if (plan.approval.needed && call.approver === undefined) {
    if (call.edit !== undefined)
      return [{ type: 'check_edit', toolCallId, requestId: call.edit.requestId }];
    return [{ type: 'open_suspension', toolCallId, kind: 'approval' }];
  }
  return decideExecution(call);
}

function decideWait(call: SuspendedCall): readonly Effect[] {
  const { toolCallId, kind, name, deadline } = call.suspension;
  const end = endTimer(call.suspension);
  const warnAt = warningAt(call);
  if (warnAt === undefined) return [end];
  return [end, { type: 'await_warning', toolCallId, kind, name, deadline: warnAt, ends: deadline }];
}

/** The result for an error of the plan. The actor of a policy's denial is the system. */
export function plannedErrorResult(error: ToolResultError): ToolResult {
  return error.code === 'denied'
    ? errorResult('denied', error, SYSTEM_ACTOR)
    : errorResult('errored', error);
}

function decideExecution(call: CallState): readonly Effect[] {
  const { toolCallId, executor } = call.plan;
  if (isRunByWorker(executor)) return decideServerCall(call);
  return isToBeChecked(call) ? [{ type: 'check_definition', toolCallId }] : decideOffer(call);
}

/** The effects of a call whose definition is known to be unchanged. */
export function decideOffer(call: CallState): readonly Effect[] {
  const { toolCallId, executor, input } = call.plan;
  const row = rowOf(executor);
  switch (row.result) {
    case 'activity':
      return decideServerCall(call);
    case 'input':
      return [
        {
          type: 'record_result',
          toolCallId,
          result: {
            status: 'resolved',
            envelope: { ok: true, result: { success: true, args: input ?? null } },
            provenance: 'trusted',
          },
        },
      ];
    case 'outside': {
      const { answer } = call;
      if (answer === undefined) return [{ type: 'open_suspension', toolCallId, kind: row.wait }];
      if (needsCheck(call.plan, answer.value))
        return [{ type: 'check_answer', toolCallId, requestId: answer.requestId }];
      return [{ type: 'record_result', toolCallId, result: answeredResult(answer, answer.value) }];
    }
    case 'model_call':
      // The provider ran it inside the model call: there is nothing to dispatch, and its plan carries no wait.
      return [
        {
          type: 'record_result',
          toolCallId,
          result: errorResult('errored', {
            code: 'not_available',
            message: TEXTS.noLongerAvailable(call.plan.name),
          }),
        },
      ];
  }
}

/** Whether a worker still has to check the resolution that was just accepted for a call. */
export function isUnchecked({ plan, ask }: CallState, resolution: Resolution): boolean {
  switch (resolution.type) {
    case 'approve':
      return resolution.input !== undefined;
    case 'answer':
    case 'result':
      return ask === undefined
        ? needsCheck(plan, resolution.value)
        : ask.recheck === true || ask.question.byCode === true;
    case 'deny':
    case 'decline':
    case 'error':
    case 'outcome':
      return false;
  }
}

/** Whether the resolution that was accepted under a request id still waits for a worker's check. */
export function awaitsCheck(call: CallState, requestId: string): boolean {
  const { answer, edit, ask } = call;
  if (hasEnded(call)) return false;
  if (edit !== undefined) return edit.requestId === requestId;
  if (answer?.requestId !== requestId) return false;
  const isChecked = answer.checked === true && ask?.question.byCode !== true;
  return !isChecked && isUnchecked(call, { type: 'answer', value: answer.value });
}

/**
 * Whether a worker has to check an answer again: because the workflow's schema cannot judge all of it, or because the
 * tool's own schema may change the value.
 */
function needsCheck(plan: PlannedCall, value: Json): boolean {
  const { recheckAnswer, recheckOnly, answerSchema } = plan;
  if (recheckAnswer !== true) return false;
  const judged = answerSchema === undefined ? undefined : relaxedSchema(answerSchema);
  return recheckOnly !== 'unknown_keys' || mayHaveUnknownKeys(judged, value);
}

/** The timer that ends the wait in this state. Only one, because each timer costs history. */
function endTimer({ toolCallId, kind, name, claimBy, deadline }: Suspension): TimerEffect {
  const wait = { toolCallId, kind, name };
  return claimBy === undefined || Date.parse(claimBy) >= Date.parse(deadline)
    ? { type: 'await_deadline', ...wait, deadline }
    : { type: 'await_claim', ...wait, deadline: claimBy };
}

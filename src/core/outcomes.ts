/**
 * From outcomes to events: what is written into the log when a decision is carried out or something outside has happened.
 * Pure functions of (state, outcome, time); the machine commits what they return.
 */
import type { CheckAnswerResult, RunToolResult } from '../protocol/activities.js';
import type { StampedActor } from '../protocol/actors.js';
import { SYSTEM_ACTOR } from '../protocol/actors.js';
import type { EventBody, ResolutionEvent } from '../protocol/events.js';
import { isRecord } from '../protocol/json.js';
import { FOREIGN_QUEUE_TIMEOUT_MS } from '../protocol/limits.js';
import type { Resolution } from '../protocol/resolutions.js';
import type { Rule } from '../protocol/rules.js';
import type { Suspension, SuspensionKind } from '../protocol/suspensions.js';
import { TEXTS } from '../protocol/texts.js';
import type { PlannedCall, ToolErrorCode, ToolResult } from '../protocol/tools.js';
import { detachResult } from './aside.js';
import {
  answerRefusedEvents,
  askCheckedEvents,
  askedEvents,
  decideAsk,
  entersOnDecline,
} from './asks.js';
import { answeredResult } from './decide.js';
import type { InternalEffect } from './effects.js';
import { cancelledResults } from './endings.js';
import { errorResult, ranResult, resultEvent, turnEndedEvent } from './event-bodies.js';
import { endOfWait } from './holding.js';
import { suspensionEvent } from './open-suspension.js';
import { rememberedEvents } from './rules.js';
import { isHeld, lossTold, lostEvent } from './server-calls.js';
import type { CallState, ConversationState } from './state.js';
import { limitEvents, toolFailedEvent, withinBounds } from './turn-limits.js';

/** Carries out a decision that needs nobody outside. */
export function internalEvents(
  state: ConversationState,
  effect: InternalEffect,
  nowMs: number,
): readonly EventBody[] {
  switch (effect.type) {
    case 'start_turn': {
      const message = state.queue.find((entry) => entry.turnId === effect.turnId);
      return message === undefined
        ? []
        : [{ type: 'turn_started', turnId: effect.turnId, messageId: message.messageId }];
    }
    case 'start_inbox_turn':
      // The machine does it: a turn's id takes a token.
      return [];
    case 'open_suspension': {
      const call = state.calls[effect.toolCallId];
      return call === undefined ? [] : [suspensionEvent(call, effect.kind, nowMs)];
    }
    case 'apply_rule': {
      const call = state.calls[effect.toolCallId];
      return call === undefined ? [] : ruledEvents(call, effect.rule);
    }
    case 'record_result': {
      const call = state.calls[effect.toolCallId];
      if (call === undefined) return [];
      // Judged again: calls of the same step may have taken the room meanwhile.
      const { result } = effect;
      const now = result.status === 'detached' ? detachResult(state, call.plan) : result;
      return [resultEvent(call, now)];
    }
    case 'stop_at_limit':
      return state.turn === undefined
        ? []
        : [
            ...cancelledResults(state, SYSTEM_ACTOR),
            ...limitEvents(state, state.turn, effect.limit),
          ];
    case 'fail_turn':
      return state.turn === undefined
        ? []
        : [...cancelledResults(state, SYSTEM_ACTOR), toolFailedEvent(state.turn)];
    case 'end_turn':
      return state.turn === undefined ? [] : [turnEndedEvent(state.turn, { status: 'completed' })];
  }
}

/** A rule decides: recorded like the resolution that its author would have sent, with the rule's name. */
function ruledEvents(call: CallState, rule: Rule): readonly EventBody[] {
  const { decision, reason, actor, ruleId } = rule;
  const { name, executor, toolCallId, mode } = call.plan;
  const detached = mode === 'detach' ? { detached: true as const } : {};
  const resolution: Resolution =
    decision === 'approve'
      ? { type: 'approve' }
      : { type: 'deny', ...(reason === undefined ? {} : { reason }) };
  const requestId = `${ruleId}:${toolCallId}`;
  const by = { kind: 'approval' as const, resolution, requestId, actor };
  return acceptedEvents(call, { ...by, rule: { ruleId, name, executor, ...detached } });
}

/** A resolution was accepted; denials, declines and errors are the call's result at once. */
export function resolutionEvents(
  state: ConversationState,
  call: CallState,
  accepted: Accepted,
): readonly EventBody[] {
  const [event, ...results] = acceptedEvents(call, accepted);
  return [
    ...(event === undefined ? [] : [event]),
    ...rememberedEvents(state, call, accepted),
    ...results,
  ];
}

type Accepted = Omit<ResolutionEvent, 'type' | 'turnId' | 'toolCallId'>;

function acceptedEvents(call: CallState, accepted: Accepted): readonly EventBody[] {
  const { toolCallId } = call.plan;
  const event: EventBody = { type: 'resolution', turnId: call.turnId, toolCallId, ...accepted };
  const goesOn = entersOnDecline(call, accepted.resolution);
  const result = goesOn ? undefined : resultOfResolution(accepted);
  if (result === undefined) return [event];
  const { executionMs } = accepted;
  const timed = executionMs === undefined ? result : { ...result, executionMs };
  return [event, resultEvent(call, timed)];
}

function resultOfResolution(accepted: {
  readonly kind: SuspensionKind;
  readonly resolution: Resolution;
  readonly actor: StampedActor;
}): ToolResult | undefined {
  const { kind, resolution, actor } = accepted;
  switch (resolution.type) {
    case 'deny':
      return errorResult(
        'denied',
        { code: 'denied', message: resolution.reason ?? TEXTS.deniedDefault },
        actor,
      );
    case 'decline':
      return {
        ...errorResult(
          'errored',
          { code: 'declined', message: resolution.reason ?? TEXTS.declinedDefault },
          actor,
        ),
        provenance: 'untrusted',
      };
    case 'error':
      return {
        ...errorResult(
          'errored',
          {
            code: kind === 'external_execution' ? 'external_error' : 'client_error',
            message: resolution.message,
          },
          actor,
        ),
        provenance: 'untrusted',
      };
    case 'outcome':
      return {
        ...(resolution.error === undefined
          ? {
              status: 'resolved' as const,
              envelope: { ok: true as const, result: resolution.value ?? null },
              actor,
            }
          : errorResult('errored', { code: 'tool_error', message: resolution.error }, actor)),
        provenance: 'untrusted',
      };
    case 'approve':
    case 'answer':
    case 'result':
      return undefined;
  }
}

/** Nobody answered in time. Expiry acts as the system, and is neither a denial nor a cancel. */
export function expiryEvents(call: CallState): readonly EventBody[] {
  const { suspension, plan, turnId } = call;
  if (suspension === undefined) return [];
  const { toolCallId } = plan;
  const { kind, limitedBy, claimBy } = suspension;
  const isUnclaimed = claimBy !== undefined;
  const expired: EventBody = {
    type: 'expired',
    turnId,
    toolCallId,
    kind,
    deadline: endOfWait(suspension),
    ...(limitedBy === undefined || isUnclaimed ? {} : { limitedBy }),
    ...(isUnclaimed ? { unclaimed: true as const } : {}),
  };
  const fallback = plan.onExpireDefault;
  if (kind !== 'approval' && fallback !== undefined)
    return [
      expired,
      resultEvent(call, {
        status: 'expired',
        envelope: { ok: true, result: fallback.value },
        provenance: 'trusted',
        actor: SYSTEM_ACTOR,
      }),
    ];
  const error = { code: expiryCode(suspension), message: expiryText(plan, suspension) };
  return [expired, resultEvent(call, errorResult('expired', error, SYSTEM_ACTOR))];
}

function expiryCode({ kind, claimBy }: Suspension): ToolErrorCode {
  if (kind === 'outcome') return 'outcome_unknown';
  return claimBy === undefined ? 'expired' : 'unclaimed';
}

function expiryText(plan: PlannedCall, suspension: Suspension): string {
  const { kind, openedAt, deadline, limitedBy, claimBy } = suspension;
  if (claimBy !== undefined)
    return TEXTS.unclaimed(plan.name, Date.parse(claimBy) - Date.parse(openedAt));
  if (kind === 'outcome') return TEXTS.outcomeUnknown(plan.name);
  const { totalMs } = plan.timeouts;
  if (limitedBy === 'total' && totalMs !== undefined)
    return kind === 'approval' ? TEXTS.expiredTotalApproval(totalMs) : TEXTS.expiredTotal(totalMs);
  switch (kind) {
    case 'approval':
      return TEXTS.expiredApproval;
    case 'elicitation':
    case 'client_execution':
      return TEXTS.expired;
    case 'external_execution':
      return TEXTS.timeout(Date.parse(deadline) - Date.parse(openedAt));
  }
}

/** A worker has checked an accepted answer. A bad one re-opens the call under its old deadline. */
export function answerCheckedEvents(
  call: CallState,
  outcome: CheckAnswerResult,
): readonly EventBody[] {
  const asked = call.plan.executor === 'server';
  if (asked && decideAsk(call)?.type !== 'check_answer') return [];
  if (outcome.ok && asked) return askCheckedEvents(call);
  if (outcome.ok) return [resultEvent(call, answeredResult(call, outcome.value))];
  return [
    {
      type: 'resolution_reverted',
      requestId: call.answer?.requestId ?? '',
      turnId: call.turnId,
      toolCallId: call.plan.toolCallId,
      problems: outcome.problems,
    },
  ];
}

/** A tool run is over. */
export function toolFinishedEvents(call: CallState, outcome: RunToolResult): readonly EventBody[] {
  if (!isToolEnd(outcome)) {
    const error = { code: 'tool_error' as const, message: TEXTS.faultyEnd(call.plan.name) };
    return [resultEvent(call, errorResult('errored', error))];
  }
  if ('ask' in outcome) return askedEvents(call, outcome.ask);
  if ('refused' in outcome) return answerRefusedEvents(call, outcome.refused);
  const loss = lossTold(call, outcome);
  if (loss !== undefined) return toolLostEvents(call, loss);
  return [resultEvent(call, ranResult(call.plan, outcome))];
}

/** Workers in any language end calls, and what they say stands in the history: a wrong form must not fail the task for ever. */
function isToolEnd(outcome: unknown): boolean {
  if (!isRecord(outcome)) return false;
  const { envelope } = outcome;
  if ('ask' in outcome || 'refused' in outcome) return true;
  if (!isRecord(envelope)) return false;
  const { ok, result, error } = envelope;
  if (ok === true) return result !== undefined;
  return (
    isRecord(error) && typeof error['code'] === 'string' && typeof error['message'] === 'string'
  );
}

/** How the run of a tool was lost. */
export interface Loss {
  readonly timedOut: boolean;
  /** No worker ever took it: it certainly had no effect. */
  readonly neverStarted?: boolean;
  readonly message: string;
}

/** The run of a tool was lost (worker death, time-out): infrastructure failed, not the tool. */
export function toolLostEvents(call: CallState, loss: Loss): readonly EventBody[] {
  const { plan } = call;
  if (loss.neverStarted === true) {
    const message = TEXTS.notTaken(plan.name, FOREIGN_QUEUE_TIMEOUT_MS);
    return [resultEvent(call, errorResult('errored', { code: 'not_available', message }))];
  }
  if (isHeld(plan)) return [lostEvent(call, loss)];
  if (plan.effects === 'once')
    return [
      resultEvent(
        call,
        errorResult('errored', {
          code: 'outcome_unknown',
          message: TEXTS.outcomeUnknown(plan.name),
        }),
      ),
    ];
  const error = loss.timedOut
    ? { code: 'timeout' as const, message: TEXTS.timeout(plan.timeouts.runMs) }
    : { code: 'tool_crashed' as const, message: TEXTS.toolCrashed(loss.message) };
  return [resultEvent(call, errorResult('errored', error))];
}

/** The turn of a call has come, and a worker has validated and gated it. Bounds are looked at now. */
export function plannedEvents(
  state: ConversationState,
  call: CallState,
  plan: PlannedCall,
): readonly EventBody[] {
  const { turn } = state;
  if (turn === undefined || call.plan.unplanned === undefined) return [];
  const { toolCallId } = call.plan;
  const { unplanned: _due, ...planned } = { ...plan, toolCallId };
  return withinBounds(state, turn, [planned]).map((bounded) => ({
    type: 'call_planned' as const,
    turnId: call.turnId,
    step: call.step,
    call: bounded,
  }));
}

export function notPlannedEvents(call: CallState, { message }: Loss): readonly EventBody[] {
  if (call.plan.unplanned === undefined) return [];
  const error = { code: 'tool_crashed' as const, message: TEXTS.toolCrashed(message) };
  return [resultEvent(call, errorResult('errored', error))];
}

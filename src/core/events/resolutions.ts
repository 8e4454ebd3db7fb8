/**
 * Events that end a wait: a resolution, a remembered decision, a deadline, and a worker's check of an answer. Pure
 * functions; the machine commits the events.
 */

import { isRunByWorker } from '../../protocol/calls/executors.js';
import type { PlannedCall } from '../../protocol/calls/plan.js';
import type { Resolution } from '../../protocol/calls/resolutions.js';
import type { ToolErrorCode, ToolResult } from '../../protocol/calls/results.js';
import type { Rule } from '../../protocol/calls/rules.js';
import type { Suspension, SuspensionKind } from '../../protocol/calls/suspensions.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import type { EventBody, ResolutionEvent } from '../../protocol/log/events.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import { SYSTEM_ACTOR } from '../../protocol/values/actors.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import type { CheckAnswerResult, CheckEditResult } from '../../protocol/workflow/activities.js';
import { runsAgainOnDecline } from '../calls/ask.js';
import { outsideReason, requestersOf } from '../calls/audience.js';
import { endOfWait } from '../calls/claim.js';
import { offerChangedEvent } from '../calls/definitions.js';
import { answeredResult, errorResult } from '../calls/results.js';
import { isUnchecked } from '../decide/decide.js';
import { decideAsk } from '../decide/tool-runs.js';
import { PATH } from '../judge/resolution-fields.js';
import type { CallState, SuspendedCall } from '../state/calls.js';
import type { ConversationState } from '../state/state.js';
import { resultEvent } from './results.js';

/**
 * Events of a rule's decision, in the form of the resolution that its author would have sent, with the id of the rule.
 */
export function ruledEvents(call: CallState, rule: Rule): readonly EventBody[] {
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

/** Events of an accepted resolution; denials, declines and errors become the call's result at once. */
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
  const unchecked = isUnchecked(call, accepted.resolution) ? { checked: false as const } : {};
  const event: EventBody = {
    type: 'resolution',
    ...{ turnId: call.turnId, toolCallId },
    ...accepted,
    ...unchecked,
  };
  const continues = runsAgainOnDecline(call, accepted.resolution);
  const result = continues ? undefined : resultOfResolution(accepted);
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

/** Events of an unanswered wait. Expiry has the system as its actor, and is neither a denial nor a cancel. */
export function expiryEvents(call: SuspendedCall): readonly EventBody[] {
  const { suspension, plan, turnId } = call;
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

/** Events of a worker's check of an accepted answer. A refused answer reopens the call under its old deadline. */
export function answerCheckedEvents(
  call: CallState,
  outcome: CheckAnswerResult,
): readonly EventBody[] {
  const { plan, turnId, answer } = call;
  if (answer === undefined) return [];
  const asked = isRunByWorker(plan.executor);
  if (asked && decideAsk(call)?.type !== 'check_answer') return [];
  const about = { turnId, toolCallId: plan.toolCallId, requestId: answer.requestId };
  if (outcome.ok && asked) return [{ type: 'answer_checked', ...about }];
  if (outcome.ok) return [resultEvent(call, answeredResult(answer, outcome.value))];
  if ('ended' in outcome) return [resultEvent(call, errorResult('errored', outcome.ended))];
  const { problems, offer } = outcome;
  return [
    { type: 'resolution_reverted', ...about, problems },
    ...(offer === undefined || asked ? [] : [offerChangedEvent(call, offer)]),
  ];
}

/** The rule that an accepted decision creates, recorded after it. */
function rememberedEvents(
  state: ConversationState,
  call: CallState,
  accepted: { readonly resolution: Resolution; readonly actor: StampedActor },
): readonly EventBody[] {
  const { resolution, actor } = accepted;
  if (resolution.type !== 'approve' && resolution.type !== 'deny') return [];
  const { remember } = resolution;
  if (remember === undefined) return [];
  const rule: Omit<Rule, 'at'> = {
    // The decision of the rule gets the next `seq`, so no other rule of this chain can have the same id.
    ruleId: `rule_${state.chain}_${state.lastSeq + 1}`,
    tool: call.plan.name,
    decision: resolution.type,
    ...(resolution.type === 'deny' && resolution.reason !== undefined
      ? { reason: resolution.reason }
      : {}),
    ...remember,
    actor,
    ...(remember.for === 'turn' ? { turnId: call.turnId } : {}),
  };
  return [{ type: 'rule_remembered', rule }];
}

/**
 * Events of a worker's check of an edit. The policy may require another approver for the edited input than the actor
 * that made the edit.
 */
export function editCheckedEvents(
  state: ConversationState,
  call: CallState,
  outcome: CheckEditResult,
): readonly EventBody[] {
  const { edit, plan, turnId } = call;
  if (edit === undefined) return [];
  const { toolCallId, name, executor } = plan;
  const { requestId } = edit;
  const revert = (problems: readonly FieldProblem[]): readonly EventBody[] => [
    { type: 'resolution_reverted', turnId, toolCallId, requestId, problems },
  ];
  if (!outcome.ok && 'ended' in outcome)
    return [resultEvent(call, errorResult('errored', outcome.ended))];
  if (!outcome.ok) return revert(outcome.problems);
  const { approval, input, argsDigest, definition } = outcome;
  const audience = approval.needed ? approval.audience : undefined;
  const outside =
    audience === undefined
      ? undefined
      : outsideReason(audience, edit.actor, requestersOf(state, call));
  if (outside !== undefined) return revert([{ path: PATH, message: `as edited, ${outside}` }]);
  const beside = call.background === 'detached' ? { detached: true as const } : {};
  const edited = { ...beside, turnId, toolCallId, name, executor, requestId, input, argsDigest };
  const judgedBy = definition === undefined ? {} : { definition };
  return [{ type: 'input_edited', ...edited, ...judgedBy }];
}

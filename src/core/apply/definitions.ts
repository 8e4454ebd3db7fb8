/** Folds the events of calls whose tool has changed. Pure. */
import type { DefinitionChanged, InputMigrated } from '../../protocol/calls/definitions.js';
import type { PlannedCall } from '../../protocol/calls/plan.js';
import { callKey } from '../state/requests.js';
import type { ConversationState } from '../state/state.js';
import type { Stamped } from '../state/update.js';
import { withCall } from '../state/update.js';

export function definitionChanged(
  state: ConversationState,
  { toolCallId, definition }: Stamped<DefinitionChanged>,
): ConversationState {
  return withCall(state, toolCallId, (call) => ({
    ...call,
    ...(definition === undefined ? {} : { changed: { definition } }),
  }));
}

export function inputMigrated(
  state: ConversationState,
  event: Stamped<InputMigrated>,
): ConversationState {
  const { toolCallId, seq } = event;
  // The earlier approval is void: a repeat of it gets a verdict about the suspension that is open now.
  const key = callKey(toolCallId);
  const requests = state.requests.filter(
    (row) => row.operation !== 'resolution' || row.call !== key,
  );
  return withCall({ ...state, requests }, toolCallId, (call) => {
    const { changed: _judged, approver: _before, prepared: _old, edit: _done, ...rest } = call;
    const { resolvedBy: _by, resolvedAt: _at, gateWaited: _waited, ...open } = rest;
    return { ...open, plan: planWith(call.plan, event), since: seq, revised: true };
  });
}

function planWith(plan: PlannedCall, event: InputMigrated): PlannedCall {
  const { raw: _old, answerAudience: _before, ...rest } = plan;
  const { input, raw, argsDigest, definition, approval, answerAudience } = event;
  return {
    ...rest,
    ...{ input, argsDigest, definition, approval },
    ...(raw === undefined ? {} : { raw }),
    ...(answerAudience === undefined ? {} : { answerAudience }),
  };
}

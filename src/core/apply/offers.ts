/** Folds the events that offer a waiting call anew. Pure. */
import type { AnswerOffer, SuspensionChanged } from '../../protocol/calls/definitions.js';
import type { PlannedCall } from '../../protocol/calls/plan.js';
import { withOffer } from '../calls/definitions.js';
import type { CallState } from '../state/calls.js';
import type { ConversationState } from '../state/state.js';
import type { Stamped } from '../state/update.js';
import { withCall } from '../state/update.js';

export function suspensionChanged(
  state: ConversationState,
  event: Stamped<SuspensionChanged>,
): ConversationState {
  const { offer, argsDigest } = event;
  return withCall(state, event.toolCallId, (call) => {
    const offered =
      offer === undefined
        ? askedAs(call, event)
        : { plan: planWith(call.plan, offer), offerDigest: argsDigest };
    return call.suspension === undefined
      ? { ...call, ...offered }
      : { ...call, ...offered, suspension: withOffer(call.suspension, event) };
  });
}

function planWith(plan: PlannedCall, offer: AnswerOffer): PlannedCall {
  const {
    answerSchema: _a,
    recheckAnswer: _b,
    recheckOnly: _c,
    onExpireDefault: _d,
    ...rest
  } = plan;
  const { definition, ...judged } = offer;
  return { ...rest, ...judged, answerDefinition: definition };
}

function askedAs(
  { ask }: CallState,
  { form, argsDigest, recheck, byCode }: SuspensionChanged,
): Pick<CallState, 'ask'> {
  if (ask === undefined || form === undefined) return {};
  const { byCode: _before, ...asked } = ask.question;
  const { recheck: _checked, ...rest } = ask;
  const question = { ...asked, form, ...(byCode === undefined ? {} : { byCode }) };
  return { ask: { ...rest, argsDigest, question, ...(recheck === undefined ? {} : { recheck }) } };
}

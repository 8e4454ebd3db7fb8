/** Questions about a call whose tool may have changed since the call was planned. Pure. */
import type {
  AnswerOffer,
  SuspensionChanged,
  ToolChanged,
} from '../../protocol/calls/definitions.js';
import type { ToolResultError } from '../../protocol/calls/results.js';
import type { Suspension, SuspensionKind } from '../../protocol/calls/suspensions.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import { canonicalJson, fingerprint, isRecord } from '../../protocol/values/json.js';
import type { CallState } from '../state/calls.js';
import type { Loss } from './results.js';

/**
 * Whether a worker has to check the definition before the call is offered. Concerns calls that no worker runs: the
 * offer takes the place of their first run.
 */
export function isToBeChecked(call: CallState): boolean {
  const { plan, gateWaited, answer, reopenUntil } = call;
  const isOffered = answer !== undefined || reopenUntil !== undefined;
  return plan.definition !== undefined && gateWaited === true && !isOffered;
}

/**
 * Whether a worker has reported a changed tool in a form that can be recorded; workers may be written in any language.
 */
export function isToolChanged(outcome: object): outcome is ToolChanged {
  const { changed } = outcome as { readonly changed?: unknown };
  return isRecord(changed) && typeof changed['definition'] === 'string';
}

/** Problems of an approval that may be meant for the call before it was carried over. */
export function revisedDigestProblems(
  { revised }: Suspension,
  argsDigest: unknown,
): readonly FieldProblem[] {
  if (revised !== true || argsDigest !== undefined) return [];
  const message =
    'must be given: the tool was changed and the call carried over, and without the digest of the pending one the approval may be meant for what it was before';
  return [{ path: '/argsDigest', message }];
}

/** No worker that received the work serves the agent. */
export function isAgentGone({ code }: Loss): boolean {
  return code === 'unknown_agent';
}

/** The error for a lost run; names the agent where no worker serves it. */
export function lossError(name: string, loss: Loss): ToolResultError {
  return isAgentGone(loss)
    ? { code: 'not_available', message: TEXTS.agentNotServed(name, loss.message) }
    : { code: 'tool_crashed', message: TEXTS.toolCrashed(loss.message) };
}

const ANSWERED: readonly SuspensionKind[] = [
  'elicitation',
  'client_execution',
  'external_execution',
];

/** The definition that checks answers to a suspension; absent for approvals, and for questions of a tool's code. */
export function offeredDefinition(
  { plan, ask }: CallState,
  kind: SuspensionKind,
): Pick<Suspension, 'definition'> {
  const { answerDefinition } = plan;
  const isOurs = ANSWERED.includes(kind) && ask === undefined;
  return isOurs && answerDefinition !== undefined ? { definition: answerDefinition } : {};
}

/** The event that offers the call in another form from now on. */
export function offerChangedEvent(call: CallState, offer: AnswerOffer): SuspensionChanged {
  const { plan, turnId } = call;
  const { toolCallId } = plan;
  const argsDigest = `offer:${fingerprint(canonicalJson([toolCallId, plan.argsDigest, offer]))}`;
  return { type: 'suspension_changed', turnId, toolCallId, argsDigest, offer };
}

/** The suspension as readers see it after the change. */
export function withOffer<Wait extends Suspension>(wait: Wait, event: SuspensionChanged): Wait {
  const { answerSchema: _before, ...rest } = wait;
  const { offer, form, argsDigest } = event;
  const answerSchema = form === undefined ? offer?.answerSchema : form;
  return {
    ...rest,
    argsDigest,
    ...(answerSchema === undefined ? {} : { answerSchema }),
    ...(offer === undefined ? {} : { definition: offer.definition }),
  } as Suspension as Wait;
}

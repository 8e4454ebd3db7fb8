/**
 * How answers are judged once the tool that waits for them has changed. One schema judges at a time: the one that the call was
 * offered with, until the call is offered with another. It stays the same call; only its digest is new. Pure.
 */

import type { AnswerRefused } from '../../protocol/activities.js';
import { isRelaxed, jsonSchemaProblems } from '../../protocol/answer-schema.js';
import type {
  AnswerOffer,
  ChangeSuspensionReply,
  SuspensionChanged,
} from '../../protocol/definitions/changes.js';
import {
  canonicalJson,
  fingerprint,
  isBoundedJson,
  isRecord,
  utf8Bytes,
} from '../../protocol/json.js';
import { MAX_ANSWER_DEPTH, MAX_OFFER_BYTES } from '../../protocol/limits.js';
import type { Verdict } from '../../protocol/resolutions.js';
import type { Suspension, SuspensionKind } from '../../protocol/suspensions.js';
import type { PlannedCall } from '../../protocol/tools.js';
import { type Stamped, withCall } from '../fold.js';
import { plainInput } from '../input.js';
import type { ConversationMachine } from '../machine.js';
import { questionProblem } from '../questions.js';
import type { CallState, ConversationState } from '../state.js';

const ANSWERED: readonly SuspensionKind[] = [
  'elicitation',
  'client_execution',
  'external_execution',
];

/** The definition that judges answers of a wait; absent for approvals, and for what the code of a tool asks. */
export function offeredDefinition(
  { plan, ask }: CallState,
  kind: SuspensionKind,
): Pick<Suspension, 'definition'> {
  const { answerDefinition } = plan;
  const isOurs = ANSWERED.includes(kind) && ask === undefined;
  return isOurs && answerDefinition !== undefined ? { definition: answerDefinition } : {};
}

/** The call as it is offered from here on. */
export function offerChangedEvent(call: CallState, offer: AnswerOffer): SuspensionChanged {
  const { plan, turnId } = call;
  const { toolCallId } = plan;
  const argsDigest = `offer:${fingerprint(canonicalJson([toolCallId, plan.argsDigest, offer]))}`;
  return { type: 'suspension_changed', turnId, toolCallId, argsDigest, offer };
}

/** The question of a tool's code, in the form that has refused its answer. None where that is the form which was asked. */
export function formChangedEvents(
  { plan, turnId, ask }: CallState,
  { form, byCode }: Pick<AnswerRefused, 'form' | 'byCode'>,
): readonly SuspensionChanged[] {
  if (ask === undefined || form === undefined) return [];
  const { question, ordinal } = ask;
  if (canonicalJson(form) === canonicalJson(question.form)) return [];
  // What cannot be asked is not: the form of before stays.
  if (questionProblem({ form }) !== undefined) return [];
  const { toolCallId } = plan;
  const content = canonicalJson([toolCallId, form, question.state]);
  return [
    {
      type: 'suspension_changed',
      ...{ turnId, toolCallId, form },
      argsDigest: `ask:${ordinal}:${fingerprint(content)}`,
      ...(isRelaxed(form) ? { recheck: true as const } : {}),
      ...(byCode === true ? { byCode } : {}),
    },
  ];
}

export function suspensionChanged(
  state: ConversationState,
  event: Stamped<SuspensionChanged>,
): ConversationState {
  const { offer, argsDigest } = event;
  return withCall(state, event.toolCallId, (call) => {
    const { suspension } = call;
    const shown = suspension === undefined ? {} : { suspension: withOffer(suspension, event) };
    if (offer === undefined) return { ...call, ...askedAs(call, event), ...shown };
    return { ...call, ...shown, plan: planWith(call.plan, offer), offerDigest: argsDigest };
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

/** The wait as readers see it from here on. */
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

export type OfferRefusal = Extract<Verdict, { verdict: 'stale' | 'unknown' | 'invalid' }>;

/** Why the call cannot be offered like that, or undefined. What is offered so already is refused, so repeats are safe. */
export function refuseOffer(
  { state }: ConversationMachine,
  received: unknown,
): OfferRefusal | undefined {
  const judged = judgeOffer(state, received);
  return 'verdict' in judged ? judged : undefined;
}

/** Offers the call as it is told, or says why not. Synchronous and total. */
export function changeSuspension(
  machine: ConversationMachine,
  received: unknown,
): ChangeSuspensionReply | OfferRefusal {
  const judged = judgeOffer(machine.state, received);
  if ('verdict' in judged) return judged;
  return { changed: true, seq: machine.record([judged]) };
}

function judgeOffer(state: ConversationState, received: unknown): SuspensionChanged | OfferRefusal {
  const input = plainInput(received);
  const { toolCallId, offer } = isRecord(input) ? input : {};
  const call =
    typeof toolCallId === 'string' && Object.hasOwn(state.calls, toolCallId)
      ? state.calls[toolCallId]
      : undefined;
  if (call === undefined) return { verdict: 'unknown', what: 'tool_call' };
  const { suspension, status } = call;
  const offered = suspension?.definition;
  // Whoever holds the call works by what it was offered with.
  if (suspension === undefined || offered === undefined || suspension.claim !== undefined)
    return { verdict: 'stale', why: 'other_kind', status };
  const known = offerOf(offer);
  if (known === undefined)
    return { verdict: 'invalid', problems: [{ path: '/offer', message: 'is no offer' }] };
  if (known.definition === offered) return { verdict: 'stale', why: 'already_resolved', status };
  return offerChangedEvent(call, known);
}

/** Known fields only. Undefined for what could not be carried out. */
function offerOf(offer: unknown): AnswerOffer | undefined {
  if (!isRecord(offer) || !isBoundedJson(offer, MAX_ANSWER_DEPTH)) return undefined;
  if (utf8Bytes(JSON.stringify(offer)) > MAX_OFFER_BYTES) return undefined;
  const { definition, answerSchema, recheckAnswer, recheckOnly, onExpireDefault } = offer;
  if (typeof definition !== 'string' || definition === '') return undefined;
  const isSchema =
    answerSchema === undefined ||
    (isRecord(answerSchema) && jsonSchemaProblems(answerSchema).length === 0);
  const isDefault =
    onExpireDefault === undefined || (isRecord(onExpireDefault) && 'value' in onExpireDefault);
  if (!isSchema || !isDefault) return undefined;
  const value = isRecord(onExpireDefault) ? onExpireDefault['value'] : undefined;
  return {
    definition,
    ...(answerSchema === undefined ? {} : { answerSchema }),
    ...(recheckAnswer === true ? { recheckAnswer } : {}),
    ...(recheckOnly === 'unknown_keys' ? { recheckOnly } : {}),
    ...(value === undefined ? {} : { onExpireDefault: { value } }),
  };
}

/** Judges a request to offer a waiting call anew after the definition of its tool has changed. Pure; never throws. */
import { jsonSchemaProblems } from '../../json-schema/relaxed.js';
import type { AnswerOffer, SuspensionChanged } from '../../protocol/calls/definitions.js';
import type { Verdict } from '../../protocol/calls/resolutions.js';
import { MAX_ANSWER_DEPTH, MAX_OFFER_BYTES } from '../../protocol/limits/limits.js';
import { isBoundedJson, isRecord, utf8Bytes } from '../../protocol/values/json.js';
import { offerChangedEvent } from '../calls/definitions.js';
import type { PlainRecord } from '../input/plain-input.js';
import type { ConversationState } from '../state/state.js';
import { callOf } from '../state/state.js';
import { invalid, type Judged } from './judged.js';

export type OfferRefusal = Extract<Verdict, { verdict: 'stale' | 'unknown' | 'invalid' }>;

/** An offer that is already in place is refused, so repeats are safe. */
export function judgeOffer(
  state: ConversationState,
  { toolCallId, offer }: PlainRecord,
): Judged<SuspensionChanged, OfferRefusal> {
  const call = typeof toolCallId === 'string' ? callOf(state, toolCallId) : undefined;
  if (call === undefined) return { refusal: { verdict: 'unknown', what: 'tool_call' } };
  const { suspension, status } = call;
  const offered = suspension?.definition;
  // The holder of a claimed call relies on the offer that it claimed.
  if (suspension === undefined || offered === undefined || suspension.claim !== undefined)
    return { refusal: { verdict: 'stale', why: 'other_kind', status } };
  const known = offerOf(offer);
  if (known === undefined) return { refusal: invalid('/offer', 'is not a valid offer') };
  if (known.definition === offered)
    return { refusal: { verdict: 'stale', why: 'already_resolved', status } };
  return { accepted: offerChangedEvent(call, known) };
}

/** Copies known fields only; undefined for an offer that could not be carried out. */
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

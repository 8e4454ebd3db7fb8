/** The events that record refused signals. Pure. */
import type { Verdict } from '../../protocol/calls/resolutions.js';
import { MAX_REASON_CHARS, MAX_REQUEST_ID_CHARS } from '../../protocol/limits/limits.js';
import type { MessageRefused, ResolutionRefused } from '../../protocol/log/events.js';
import { actorFrom } from '../../protocol/values/actors.js';
import { wellFormedJson } from '../../protocol/values/well-formed.js';
import { fieldsOf } from '../input/plain-input.js';
import type { Refusal } from '../judge/judged.js';
import { resolutionRequestId } from '../judge/resolutions.js';

/** Ids of calls that are longer are cut: no call has such an id, and the record only has to be recognised. */
const MAX_RECORDED_ID_CHARS = 200;

export function refusedMessage(input: unknown, refusal: Refusal): MessageRefused | undefined {
  const { requestId, actor } = fieldsOf(input);
  return refusedInput({ requestId, actor }, refusal);
}

export function refusedInboxEvent(input: unknown, refusal: Refusal): MessageRefused | undefined {
  const { eventId, actor } = fieldsOf(input);
  return refusedInput({ requestId: eventId, actor }, refusal);
}

export function refusedCancel(input: unknown, refusal: Refusal): MessageRefused | undefined {
  const refused = refusedMessage(input, refusal);
  return refused && { ...refused, request: 'cancel' };
}

function refusedInput(
  { requestId, actor }: { readonly requestId: unknown; readonly actor: unknown },
  { code }: Refusal,
): MessageRefused | undefined {
  if (code === 'duplicate') return undefined;
  return wellFormedJson({
    type: 'message_refused',
    requestId: typeof requestId === 'string' ? requestId.slice(0, MAX_REQUEST_ID_CHARS) : '',
    code,
    actor: actorFrom(actor),
  });
}

export function refusedResolution(input: unknown, verdict: Verdict): ResolutionRefused | undefined {
  if (verdict.verdict === 'duplicate') return undefined;
  const { toolCallId, actor } = fieldsOf(input);
  return wellFormedJson({
    type: 'resolution_refused',
    toolCallId: typeof toolCallId === 'string' ? toolCallId.slice(0, MAX_RECORDED_ID_CHARS) : '',
    verdict: verdict.verdict,
    requestId: resolutionRequestId(input),
    actor: actorFrom(actor),
    detail: JSON.stringify(verdict).slice(0, MAX_REASON_CHARS),
  });
}

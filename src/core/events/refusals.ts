/** Events of refused signals. Signals have no reply, so the refusal is written to the log. Pure. */

import type { Verdict } from '../../protocol/calls/resolutions.js';
import { MAX_REASON_CHARS, MAX_REQUEST_ID_CHARS } from '../../protocol/limits/limits.js';
import type { MessageRefused, ResolutionRefused } from '../../protocol/log/events.js';
import { actorFrom } from '../../protocol/values/actors.js';
import { isRecord } from '../../protocol/values/json.js';
import { resolutionRequestId, resolverOf } from '../judge/resolutions.js';

/** Limit of ids from outside; longer ones are cut. */
const MAX_ID_CHARS = 200;

export function messageRefusedEvent(plain: unknown, code: MessageRefused['code']): MessageRefused {
  const { requestId, actor } = isRecord(plain) ? plain : {};
  return {
    type: 'message_refused',
    requestId: typeof requestId === 'string' ? requestId.slice(0, MAX_REQUEST_ID_CHARS) : '',
    code,
    actor: actorFrom(actor),
  };
}

export function resolutionRefusedEvent(plain: unknown, verdict: Verdict): ResolutionRefused {
  const toolCallId = isRecord(plain) ? plain['toolCallId'] : undefined;
  return {
    type: 'resolution_refused',
    toolCallId: typeof toolCallId === 'string' ? toolCallId.slice(0, MAX_ID_CHARS) : '',
    verdict: verdict.verdict,
    requestId: resolutionRequestId(plain).slice(0, MAX_ID_CHARS),
    actor: resolverOf(plain),
    detail: JSON.stringify(verdict).slice(0, MAX_REASON_CHARS),
  };
}

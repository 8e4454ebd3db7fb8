/** Reads and judges a request to cancel a turn. Where nothing is left to cancel, the reply reports it. Pure. */
import type { CancelTurnReply } from '../../protocol/conversation/conversation.js';
import { MAX_REASON_CHARS } from '../../protocol/limits/limits.js';
import type { CancelRequested } from '../../protocol/log/events.js';
import { actorFrom } from '../../protocol/values/actors.js';
import { REUSED, usableRequestId } from '../../protocol/values/ids.js';
import { cutText } from '../../protocol/values/well-formed.js';
import { aText, optional, recordOf } from '../input/form.js';
import { fieldsOf, type PlainRecord } from '../input/plain-input.js';
import { rememberedCancel } from '../memory/memory.js';
import { type ConversationState, isSince } from '../state/state.js';
import { invalidRequest, type Judged, type Parsed, type Refusal } from './judged.js';

export type JudgedCancel =
  | { readonly reply: CancelTurnReply }
  | { readonly cancel: Omit<CancelRequested, 'type'> };

const CANCEL = recordOf({ turnId: optional(aText) });

/** No input is a request for the running turn. One that cannot be read must not cancel that. */
export function parseCancel(input: unknown): Parsed<PlainRecord, Refusal> {
  const problem = CANCEL(input ?? {});
  return problem === undefined
    ? { request: fieldsOf(input) }
    : invalidRequest(`the cancel is invalid: ${problem}`);
}

/**
 * The reply when nothing is left to cancel; otherwise the fields of the event to record. Refused: a request id that has
 * stopped another turn than the named one.
 */
export function judgeCancel(
  state: ConversationState,
  request: PlainRecord,
): Judged<JudgedCancel, Refusal> {
  const { turnId, requestId } = request;
  const known = rememberedCancel(state, requestId);
  if (known === undefined) return { accepted: newCancel(state, request) };
  return turnId === undefined || turnId === known.turnId
    ? { accepted: { reply: { cancelled: true, ...known } } }
    : invalidRequest('The cancel breaks a rule', [REUSED]);
}

function newCancel(
  state: ConversationState,
  { turnId, requestId, reason, actor }: PlainRecord,
): JudgedCancel {
  const { turn, queue } = state;
  const wanted = turnId === undefined ? turn?.turnId : turnId;
  const isRunning = turn?.turnId === wanted;
  const isOurs = isRunning || queue.some((entry) => entry.turnId === wanted);
  if (typeof wanted !== 'string' || !isOurs) return { reply: { cancelled: false } };
  const named = usableRequestId(requestId);
  // One with an id is recorded also while its turn is stopped: a late copy must not stop the next turn.
  const isRecorded = named !== undefined && turnId === undefined && isSince(state, 3);
  if (isRunning && turn?.cancel !== undefined && !isRecorded)
    return { reply: { cancelled: true, turnId: wanted } };
  return {
    cancel: {
      turnId: wanted,
      actor: actorFrom(actor),
      ...(named === undefined ? {} : { requestId: named }),
      ...(typeof reason === 'string' ? { reason: cutText(reason, MAX_REASON_CHARS) } : {}),
    },
  };
}

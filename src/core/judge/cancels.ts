/** Judges a request to cancel a turn. Never refuses: where nothing is left to cancel, the reply reports it. Pure. */
import type { CancelTurnReply } from '../../protocol/conversation/conversation.js';
import { MAX_REASON_CHARS } from '../../protocol/limits/limits.js';
import type { CancelRequested } from '../../protocol/log/events.js';
import { actorFrom } from '../../protocol/values/actors.js';
import { requestIdProblem } from '../../protocol/values/ids.js';
import { isRecord } from '../../protocol/values/json.js';
import { cutText } from '../../protocol/values/well-formed.js';
import { rememberedCancel } from '../memory/memory.js';
import type { ConversationState } from '../state/state.js';

export type JudgedCancel =
  | { readonly reply: CancelTurnReply }
  | { readonly cancel: Omit<CancelRequested, 'type'> };

/** The reply when nothing is left to cancel; otherwise the fields of the event to record. */
export function judgeCancel(state: ConversationState, input: unknown): JudgedCancel {
  const fields = input ?? {};
  // An unreadable request, or one for an unknown turn, must not cancel the running turn.
  if (!isRecord(fields)) return { reply: { cancelled: false } };
  const { turnId, requestId, reason, actor } = fields;
  const known = rememberedCancel(state, requestId);
  if (known !== undefined) return { reply: { cancelled: true, ...known } };
  const { turn, queue } = state;
  const wanted = turnId === undefined ? turn?.turnId : turnId;
  const isOurs = turn?.turnId === wanted || queue.some((entry) => entry.turnId === wanted);
  if (typeof wanted !== 'string' || !isOurs) return { reply: { cancelled: false } };
  if (turn?.turnId === wanted && turn.cancel !== undefined)
    return { reply: { cancelled: true, turnId: wanted } };
  return {
    cancel: {
      turnId: wanted,
      actor: actorFrom(actor),
      ...(requestIdProblem('requestId', requestId) === undefined
        ? { requestId: String(requestId) }
        : {}),
      ...(typeof reason === 'string' ? { reason: cutText(reason, MAX_REASON_CHARS) } : {}),
    },
  };
}

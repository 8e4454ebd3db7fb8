/** What a request to stop a turn means. Takes `unknown`, never throws. */
import { actorFrom } from '../protocol/actors.js';
import type { CancelTurnReply } from '../protocol/conversation.js';
import type { CancelRequested } from '../protocol/events.js';
import { requestIdProblem } from '../protocol/ids.js';
import { isRecord } from '../protocol/json.js';
import { MAX_REASON_CHARS } from '../protocol/limits.js';
import { cutText } from '../protocol/well-formed.js';
import { plainInput } from './input.js';
import { rememberedCancel } from './memory.js';
import type { ConversationState } from './state.js';

export type JudgedCancel =
  | { readonly reply: CancelTurnReply }
  | { readonly cancel: Omit<CancelRequested, 'type'> };

/** The reply, when there is nothing (more) to stop; else what is to be recorded. */
export function judgeCancel(state: ConversationState, input: unknown): JudgedCancel {
  const plain = plainInput(input) ?? {};
  // Something that cannot be read, or names no turn of ours, must not stop whichever runs.
  if (!isRecord(plain)) return { reply: { cancelled: false } };
  const { turnId, requestId, reason, actor } = plain;
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

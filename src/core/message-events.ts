/** From an accepted message to its event. Pure; the machine commits what this returns. */
import { actorFrom } from '../protocol/actors.js';
import type { UserMessageEvent } from '../protocol/events.js';
import { turnIdFor } from '../protocol/ids.js';
import { isRecord, type JsonSchema } from '../protocol/json.js';
import { messageParts } from './attachments.js';
import { canWait, onBusyOf } from './busy.js';
import type { ConversationState } from './state.js';

/** Reason of a cancel that a message with `onBusy: 'interrupt'` brought about. */
export const INTERRUPTED = 'interrupted by a new message';

/** `input` has been judged; what it does to a running turn is written into the event only where one runs. */
export function messageEvent(
  state: ConversationState,
  input: unknown,
  turnToken: (() => string) | undefined,
): UserMessageEvent {
  const fields = isRecord(input) ? input : {};
  const { chain, turnCount, turn, lastSeq } = state;
  const onBusy = onBusyOf(state, fields);
  // A turn that is being stopped reads nothing more.
  const isSteering = onBusy === 'steer' && turn !== undefined && turn.cancel === undefined;
  const turnId = isSteering ? turn.turnId : turnIdFor(chain, turnCount + 1, turnToken?.());
  const messageId = isSteering ? `${turnId}.user.${lastSeq + 1}` : `${turnId}.user`;
  const { requestId } = fields;
  return {
    type: 'user_message',
    turnId,
    messageId,
    requestId: typeof requestId === 'string' ? requestId : `unnamed:${messageId}`,
    parts: messageParts(fields),
    actor: actorFrom(fields['actor']),
    ...(fields['output'] === undefined ? {} : { output: fields['output'] as JsonSchema | false }),
    ...(isSteering ? { onBusy: 'steer' as const } : {}),
    ...(onBusy === 'interrupt' && turn !== undefined ? { onBusy: 'interrupt' as const } : {}),
    ...(turn !== undefined && canWait(fields) ? { onBusy: 'queue' as const } : {}),
  };
}

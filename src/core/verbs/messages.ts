/** Records accepted messages and inbox events. Pure. */
import type { SendMessageReply } from '../../protocol/conversation/conversation.js';
import type { InboxEventReply } from '../../protocol/conversation/inbox.js';
import type { InboxEvent } from '../../protocol/log/events.js';
import { actorFrom } from '../../protocol/values/actors.js';
import { cancelEvents, INTERRUPTED, messageEvent } from '../events/turns.js';
import type { PlainRecord } from '../input/plain-input.js';
import { rememberedMessage } from '../memory/memory.js';
import type { ConversationState } from '../state/state.js';
import type { Recorded, TurnToken } from './verb.js';

/** The message; where it interrupts a running turn, also the cancel of that turn. */
export function recordMessage(
  state: ConversationState,
  input: PlainRecord,
  token: TurnToken,
): Recorded<SendMessageReply> {
  const message = messageEvent(state, input, token);
  const { turnId, messageId, requestId, actor, onBusy } = message;
  const { turn } = state;
  const interrupts = onBusy === 'interrupt' && turn !== undefined && turn.cancel === undefined;
  return {
    events: [
      message,
      ...(interrupts
        ? cancelEvents(state, { turnId: turn.turnId, actor, reason: INTERRUPTED })
        : []),
    ],
    reply: (after, seq) =>
      rememberedMessage(after, requestId)?.reply ?? { turnId, messageId, seq, ahead: 0 },
  };
}

export function recordInboxEvent(
  _: ConversationState,
  input: PlainRecord,
): Recorded<InboxEventReply> {
  const eventId = String(input['eventId']);
  const kind = String(input['kind']);
  const payload = input['payload'] as NonNullable<InboxEvent['payload']>;
  const actor = actorFrom(input['actor']);
  return {
    events: [{ type: 'inbox_event', eventId, kind, payload, actor }],
    reply: (__, seq) => ({ eventId, seq }),
  };
}

/** Lets the machine accept inbox events. Pure. */
import type { InboxEventReply } from '../../protocol/conversation/inbox.js';
import { MAX_REQUEST_ID_CHARS } from '../../protocol/limits/limits.js';
import type { InboxEvent } from '../../protocol/log/events.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import { actorFrom } from '../../protocol/values/actors.js';
import { isRecord } from '../../protocol/values/json.js';
import { plainInput } from '../input/plain-input.js';
import type { InboxRefusal } from '../judge/inbox.js';
import { judgeInbox } from '../judge/inbox.js';
import type { ConversationMachine } from './machine.js';

export type InboxOutcome =
  | { readonly accepted: true; readonly reply: InboxEventReply }
  | { readonly accepted: false; readonly refusal: InboxRefusal };

/** Records an event of another system, or returns the refusal. Synchronous and total. */
export function takeInboxEvent(machine: ConversationMachine, received: unknown): InboxOutcome {
  const input = plainInput(received);
  const refusal = judgeInbox(machine.state, input);
  if (refusal !== undefined || !isRecord(input))
    return { accepted: false, refusal: refusal ?? { code: 'invalid_request', message: '' } };
  const eventId = String(input['eventId']);
  const actor: StampedActor = actorFrom(input['actor']);
  const payload = input['payload'] as NonNullable<InboxEvent['payload']>;
  const kind = String(input['kind']);
  const seq = machine.record([{ type: 'inbox_event', eventId, kind, payload, actor }]);
  return { accepted: true, reply: { eventId, seq } };
}

/**
 * Accepts an inbox event that came as a signal. Signals have no reply, so a refusal is written to the log, like that of
 * a message; a duplicate is dropped.
 */
export function takeInboxSignal(machine: ConversationMachine, received: unknown): void {
  const input = plainInput(received);
  const outcome = takeInboxEvent(machine, input);
  if (outcome.accepted || outcome.refusal.code === 'duplicate' || machine.state.closed) return;
  const { eventId, actor } = isRecord(input) ? input : {};
  machine.refuse({
    type: 'message_refused',
    requestId: typeof eventId === 'string' ? eventId.slice(0, MAX_REQUEST_ID_CHARS) : '',
    code: outcome.refusal.code,
    actor: actorFrom(actor),
  });
}

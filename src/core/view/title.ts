/** The title under which lists show a conversation. */
import { textOf } from '../../protocol/conversation/messages.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import { titleOfText } from '../../protocol/log/title.js';

/** One line of at most 80 characters; undefined for an event that is not a message with text. */
export function titleOf(event: CanonicalEvent): string | undefined {
  return event.type === 'user_message' ? titleOfText(textOf(event.parts)) : undefined;
}

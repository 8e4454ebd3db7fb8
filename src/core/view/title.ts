/** The title under which lists show a conversation: the beginning of its first message. */
import { textOf } from '../../protocol/conversation/messages.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';

const MAX_CHARS = 80;
/** Longer texts are cut before they are looked at. */
const READ_CHARS = 400;

/** One line of at most 80 characters; undefined for an event that is not a message with text. */
export function titleOf(event: CanonicalEvent): string | undefined {
  if (event.type !== 'user_message') return undefined;
  const text = textOf(event.parts);
  const line = text
    .slice(0, READ_CHARS)
    .replaceAll(/[\s\p{Cc}\p{Cs}\p{Bidi_C}]+/gu, ' ')
    .trim();
  if (line === '') return undefined;
  const characters = Array.from(line);
  if (characters.length <= MAX_CHARS && text.length <= READ_CHARS) return line;
  return `${characters
    .slice(0, MAX_CHARS - 1)
    .join('')
    .trimEnd()}…`;
}

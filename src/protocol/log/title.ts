/** The title of a conversation, in lists and in Temporal: the beginning of its first message. Runs anywhere. */

const MAX_CHARS = 80;
/** Longer texts are cut before they are looked at. */
const READ_CHARS = 400;

/** One line of at most 80 characters; undefined for a text without any that can be seen. */
export function titleOfText(text: string): string | undefined {
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

/** Long texts are folded: a reader sees the beginning, and opens the rest. Pure. */

/** Texts with at most so many characters, and lines, are shown whole. */
const MAX_CHARS = 3_000;
const MAX_LINES = 60;
/** The beginning that is shown of longer ones. */
const SHOWN_CHARS = 1_500;
const SHOWN_LINES = 30;

/** The beginning of a long text, to the end of a paragraph or line where one is near; undefined for a short text. */
export function foldedText(text: string): string | undefined {
  const lines = text.split('\n', MAX_LINES + 1);
  if (text.length <= MAX_CHARS && lines.length <= MAX_LINES) return undefined;
  const begun = lines.slice(0, SHOWN_LINES).join('\n').slice(0, SHOWN_CHARS);
  const ends = [begun.lastIndexOf('\n\n'), begun.lastIndexOf('\n'), begun.lastIndexOf(' ')];
  const end = ends.find((place) => place > begun.length / 2) ?? begun.length;
  // Half of a surrogate pair is no character.
  return begun.slice(0, end).replace(/[\uD800-\uDBFF]$/, '');
}

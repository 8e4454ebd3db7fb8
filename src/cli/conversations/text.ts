/** Texts of models, tools and callers on a terminal: every character is visible, and none moves the cursor. */
import { cutText } from '../../protocol/values/well-formed.js';
import { shellQuote, visible } from '../../protocol/workflow/shown-text.js';

/** One line, with what was left out at its end. */
export function oneLine(text: string, maxChars = 200): string {
  const flat = text.replaceAll(/\s+/gu, ' ').trim();
  const kept = flat.length > maxChars ? cutText(flat, maxChars) : flat;
  const left = flat.length - kept.length;
  return `${visible(kept)}${left > 0 ? ` … ${left} more characters` : ''}`;
}

/** Keeps the line breaks. */
export function lines(text: string): string {
  return visible(text.replaceAll('\r\n', '\n'));
}

export function shortJson(value: unknown, maxChars = 200): string {
  return oneLine(JSON.stringify(value ?? null), maxChars);
}

/** Columns as wide as their widest cell; the last one is not padded. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const lineOf = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return all.map(lineOf).join('\n');
}

/** A command for a POSIX shell. Words are quoted where the shell would read them as anything but themselves. */
export function commandOf(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w%/.-][\w.~%:@/+-]*$/.test(word) ? word : shellQuote(word)))
    .join(' ');
}

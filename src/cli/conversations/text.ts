/** Texts of models, tools and callers on a terminal: every character is visible, and none moves the cursor. */

import { cutText } from '../../protocol/values/well-formed.js';

/** All that a terminal could interpret or that no reader sees, apart from the plain space. */
const UNSEEN = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu;

/** One line, with what was left out at its end. */
export function oneLine(text: string, maxChars = 200): string {
  const flat = text.replaceAll(/\s+/gu, ' ').trim();
  const kept = flat.length > maxChars ? cutText(flat, maxChars) : flat;
  const left = flat.length - kept.length;
  return `${escaped(kept)}${left > 0 ? ` … ${left} more characters` : ''}`;
}

/** Keeps the line breaks. */
export function lines(text: string): string {
  return text
    .split(/\r?\n/u)
    .map((line) => escaped(line))
    .join('\n');
}

export function shortJson(value: unknown, maxChars = 200): string {
  return oneLine(JSON.stringify(value ?? null), maxChars);
}

function escaped(text: string): string {
  return text.replaceAll(UNSEEN, (found) =>
    Array.from({ length: found.length }, (_, index) => {
      const unit = found.charCodeAt(index).toString(16);
      return `\\u${unit.padStart(4, '0')}`;
    }).join(''),
  );
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

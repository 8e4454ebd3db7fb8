// Finds lines of prose that are too wide to read beside the code: more than 120 columns. Tables and code blocks cannot
// be wrapped; neither can a line that is one link.

const MAX_COLUMNS = 120;
const LINK_ONLY = /^\s*(?:[-*]\s+|\d+\.\s+)?\[[^\]]*\]\([^)]*\)[.,;]?\s*$/;

/** The faults of a document's lines, each `{line, message}`. */
export function widthFaults(lines) {
  let fenced = false;
  return lines.flatMap((text, index) => {
    const isFence = /^\s*(```|~~~)/.test(text);
    if (isFence) fenced = !fenced;
    const isProse = !fenced && !isFence && !/^\s*\|/.test(text) && !LINK_ONLY.test(text);
    const columns = [...text].length;
    if (!isProse || columns <= MAX_COLUMNS) return [];
    return [{ line: index + 1, message: `${columns} columns of prose; at most ${MAX_COLUMNS}` }];
  });
}

/** A paragraph in lines of at most 120 columns. Code in backticks stays on one line. */
export function wrapped(paragraph) {
  const words = paragraph.match(/(?:`[^`]*`|[^\s`])+/g) ?? [];
  const lines = [];
  for (const word of words) {
    const longer = lines.length === 0 ? word : `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && longer.length <= MAX_COLUMNS) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.join('\n');
}

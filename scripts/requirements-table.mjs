// The tables of docs/requirements.md: which rows they have, and what is wrong with them. Pure; check-docs.mjs adds whether
// the tests exist that they name.

/** Prefix of the ids, and how many there are. */
const RANGES = [
  ['S', 50],
  ['A', 57],
  ['H', 57],
  ['C', 42],
  ['X', 50],
];
/** Of lists that stand here in part: `N` are rules that the promises imply, `T` such of Temporal, and sections of one of the sources. */
const OTHERS = [
  '2.A.2',
  '2.A.5',
  '2.A.7',
  'N8',
  'N9',
  'N10',
  'N11',
  'N22',
  'N25',
  'N28',
  'N29',
  'T12',
  'T13',
];
/** Shorter ones explain nothing. */
const MIN_REASON_CHARS = 20;
const MARK = /\b(not applicable|later): (.*)$/s;

/**
 * Rows of all tables whose first column is "Id": where they stand, their ids (several may share a row, with commas), the
 * tests that they name, and the mark with its reason, if any.
 */
export function requirementRows(markdown) {
  const rows = [];
  let inTable = false;
  markdown.split('\n').forEach((text, index) => {
    if (!text.trimStart().startsWith('|')) {
      inTable = false;
      return;
    }
    const cells = splitRow(text).map((cell) => cell.trim());
    if (!inTable) {
      inTable = cells[0] === 'Id';
      return;
    }
    if (cells.every((cell) => /^:?-+:?$/.test(cell))) return;
    const proof = cells.at(-1) ?? '';
    const bare = proof.replaceAll(/`[^`]*`/g, '');
    const mark = MARK.exec(bare);
    rows.push({
      line: index + 1,
      ids: cells[0].split(',').map((id) => id.trim()),
      columns: cells.length,
      tests: [...proof.matchAll(/`([^`]+)`/g)].map((match) => match[1]),
      ...(mark === null ? {} : { mark: mark[1], reason: mark[2].trim() }),
      rest: bare.replace(MARK, '').replaceAll(/[\s,;]/g, ''),
    });
  });
  return rows;
}

/** What is wrong with the rows; each `{line, message}`. Every id stands in exactly one row, with a test or a marked reason. */
export function requirementFaults(rows) {
  const faults = [];
  const wanted = new Set([...RANGES.flatMap(([prefix, count]) => idsOf(prefix, count)), ...OTHERS]);
  const seen = new Set();
  for (const { line, ids, columns, tests, mark, reason, rest } of rows) {
    const fault = (message) => faults.push({ line, message: `${ids.join(', ')}: ${message}` });
    if (columns !== 3) fault(`this row has ${columns} cells, not 3`);
    for (const id of ids) {
      if (!wanted.has(id)) fault(`there is no requirement "${id}"`);
      else if (seen.has(id)) fault(`"${id}" has a row already`);
      seen.add(id);
    }
    if (tests.length === 0 && mark === undefined)
      fault('names no test, and is marked neither "not applicable: ..." nor "later: ..."');
    if (mark !== undefined && reason.length < MIN_REASON_CHARS)
      fault(`"${mark}" has no reason of at least ${MIN_REASON_CHARS} characters`);
    if (mark === 'not applicable' && tests.length > 0) fault('names tests, so it is applicable');
    if (rest !== '') fault(`"${rest}" is neither a test nor a marked reason`);
  }
  for (const id of wanted)
    if (!seen.has(id)) faults.push({ line: 1, message: `no row has requirement ${id}` });
  return faults;
}

function idsOf(prefix, count) {
  return Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`);
}

/** Cells of a table row; a `|` inside backticks or after a backslash does not part cells. */
export function splitRow(text) {
  const inner = text.trim().replace(/^\|/, '').replace(/\|$/, '');
  return inner.match(/(?:`[^`]*`|\\.|[^|`\\])+|(?<=\|)(?=\||$)/g) ?? [];
}

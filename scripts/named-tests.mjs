// Tests that the documents name, as `file.test.ts > describe > title [rows]`, and whether they exist and ran. Two sources
// say so: the source of the test file, at once and approximately; the report of a run of vitest, exactly.
//
// Placeholders of a table's title (%s, %i, $name, ${...}) stand for any text. Such a name promises a number of rows, `[8]`;
// a name in which they are filled in promises that one row.
import ts from 'typescript';

const PLACEHOLDER = /%[sidfjoO#$]|\$\{[^}]*\}|\$[A-Za-z_][\w.]*/;
const ANY = '%s';

/** The parts of a name in a document; undefined where it is not of that form. */
export function parseName(text) {
  const [file = '', ...titles] = text.split(' > ').map((part) => part.trim());
  const last = titles.at(-1);
  if (!file.endsWith('.test.ts') || last === undefined) return undefined;
  const counted = /^(.*) \[(\d+)\]$/s.exec(last);
  const all = [...titles.slice(0, -1), counted?.[1] ?? last];
  return {
    file,
    titles: all,
    isTable: all.some((title) => PLACEHOLDER.test(title)),
    ...(counted === null ? {} : { rows: Number(counted[2]) }),
  };
}

/** What the source of a test file says against a name; undefined where it says nothing. */
export function faultInSource(source, named) {
  if (named.isTable && (named.rows ?? 0) < 1)
    return 'is the title of a table: fill in one row, or say how many rows there are, `... [8]`';
  const found = suitesIn(source).filter((suite) => matches(suite, named));
  const last = named.titles.at(-1);
  if (found.length === 0) return `has no test "${last}"`;
  if (found.every(({ isSkipped }) => isSkipped)) return `skips "${last}"`;
  const most = found.reduce((sum, { rows }) => sum + rows, 0);
  if (named.rows !== undefined && most < named.rows)
    return `has ${most} rows of "${last}", not ${named.rows}`;
  return undefined;
}

/**
 * What a report of vitest (`--reporter=json`) says against a name; undefined where the test, or each row that is promised, has
 * passed, and where the report has no such file and `isWhole` is false.
 */
export function faultInReport(report, named, { isWhole }) {
  const files = report.testResults.filter(({ name }) => name.endsWith(`/${named.file}`));
  if (files.length === 0) return isWhole ? 'did not run' : undefined;
  const wanted = new RegExp(
    `(?:^| > )${named.titles.map(pattern).join(' > (?:.* > )?')}(?:$| > )`,
    's',
  );
  const found = files
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ ancestorTitles, title }) => wanted.test([...ancestorTitles, title].join(' > ')));
  const last = named.titles.at(-1);
  if (found.length === 0) return `did not run "${last}"`;
  const skipped = found.find(({ status }) => status !== 'passed' && status !== 'failed');
  if (skipped !== undefined) return `skipped "${skipped.title}"`;
  if (named.rows !== undefined && found.length < named.rows)
    return `ran ${found.length} rows of "${last}", not ${named.rows}`;
  return undefined;
}

function pattern(title) {
  return title
    .split(new RegExp(PLACEHOLDER, 'g'))
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*?');
}

/** The named titles, the last of them its own, in the order in which the suite and what is around it have them. */
function matches(suite, { titles }) {
  const path = [...suite.around, suite.title];
  if (!fits(suite.title, titles.at(-1))) return false;
  let at = 0;
  for (const title of path) if (at < titles.length && fits(title, titles[at])) at += 1;
  return at === titles.length;
}

/** Equal, or the one is a row of the other's table. */
function fits(written, title) {
  const bare = (text) => text.replaceAll(new RegExp(PLACEHOLDER, 'g'), ANY);
  if (bare(written) === bare(title)) return true;
  return written.includes(ANY) && new RegExp(`^${pattern(written)}$`, 's').test(title);
}

const known = new Map();

/** Calls with a title: `it`, `test`, `describe` with all their forms, and helpers that are given one. */
function suitesIn(source) {
  const before = known.get(source);
  if (before !== undefined) return before;
  const file = ts.createSourceFile('x.ts', source, ts.ScriptTarget.Latest, true);
  const tables = new Map();
  const suites = [];
  const visit = (node, around) => {
    if (
      ts.isVariableDeclaration(node) &&
      node.initializer !== undefined &&
      ts.isIdentifier(node.name)
    )
      tables.set(node.name.text, node.initializer);
    const suite = ts.isCallExpression(node) ? suiteOf(node, { around, tables }) : undefined;
    if (suite !== undefined) suites.push(suite);
    const inside = suite === undefined ? around : [...around, suite];
    ts.forEachChild(node, (child) => visit(child, inside));
  };
  visit(file, []);
  known.set(source, suites);
  return suites;
}

function suiteOf(call, { around, tables }) {
  const [first] = call.arguments;
  const title = first === undefined ? undefined : textOf(first);
  if (title === undefined) return undefined;
  const { words, table } = chainOf(call.expression);
  const isSuite = ['it', 'test', 'describe'].includes(words[0]);
  // A helper that makes tests of a table completes the title that it is given.
  const isOpen = !isSuite && !title.includes(ANY);
  return {
    title: isOpen ? `${title} ${ANY}` : title,
    around: around.map((suite) => suite.title),
    isSkipped:
      words.some((word) => ['skip', 'todo'].includes(word)) ||
      around.some((suite) => suite.isSkipped),
    // A template is written in a loop, over what the source need not say.
    rows:
      isSuite && ts.isStringLiteralLike(first)
        ? around.reduce((product, { rows }) => product * rows, rowsOf(table, tables))
        : Number.POSITIVE_INFINITY,
  };
}

/** `it.each(table)` is the words `it`, `each`, and its table. */
function chainOf(expression) {
  if (ts.isIdentifier(expression)) return { words: [expression.text] };
  if (ts.isPropertyAccessExpression(expression)) {
    const { words, table } = chainOf(expression.expression);
    return { words: [...words, expression.name.text], table };
  }
  if (ts.isCallExpression(expression)) {
    const { words, table } = chainOf(expression.expression);
    return {
      words,
      table: ['each', 'for'].includes(words.at(-1)) ? expression.arguments[0] : table,
    };
  }
  return { words: [''] };
}

/** How many rows a table has: 1 without a table, and without a bound where its source does not say. */
function rowsOf(table, tables) {
  if (table === undefined) return 1;
  if (ts.isIdentifier(table)) {
    const initializer = tables.get(table.text);
    return initializer === undefined ? Number.POSITIVE_INFINITY : rowsOf(initializer, new Map());
  }
  if (ts.isAsExpression(table) || ts.isSatisfiesExpression(table))
    return rowsOf(table.expression, tables);
  const isListed = ts.isArrayLiteralExpression(table) && !table.elements.some(ts.isSpreadElement);
  return isListed ? table.elements.length : Number.POSITIVE_INFINITY;
}

function textOf(node) {
  if (ts.isStringLiteralLike(node)) return node.text.replaceAll(new RegExp(PLACEHOLDER, 'g'), ANY);
  if (ts.isTemplateExpression(node))
    return (
      node.head.text + node.templateSpans.map(({ literal }) => `${ANY}${literal.text}`).join('')
    );
  return undefined;
}

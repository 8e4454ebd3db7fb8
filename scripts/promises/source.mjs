// Finds the tags of tests in the source of a test file: `promise('G12', 'A34')` among the options of a test, of a
// group, or of a helper with a title. The counts are upper bounds, because a loop, a computed table or a helper may
// make any number of tests.
import ts from 'typescript';

const PLACEHOLDER = /%[sidfjoO#$]|\$\{[^}]*\}|\$[A-Za-z_][\w.]*/g;
const RUNNERS = ['it', 'test', 'describe'];
const MODES = ['concurrent', 'fails', 'only', 'sequential', 'skip', 'todo'];
/** Calls in a group that make no test. */
const NO_TESTS = /^(?:(?:before|after)(?:Each|All)|vi|expect|promise)$/;

/**
 * The tags of one file: `tags` with `{id, titles, line, isSkipped}`, in the order of the source, the titles of a group with
 * `...`; `most`, a Map from an id to the largest number of tests that may have it; `faults` with `{line, message}`.
 */
export function tagsIn(source, { isShared = false, hasMarkup = false } = {}) {
  const name = hasMarkup ? 'x.tsx' : 'x.ts';
  const file = ts.createSourceFile(name, source, ts.ScriptTarget.Latest, true);
  const found = { tags: [], most: new Map(), faults: [] };
  const line = (node) => file.getLineAndCharacterOfPosition(node.getStart()).line + 1;
  const tables = new Map();
  const visit = (node, around) => {
    if (ts.isVariableDeclaration(node) && node.initializer && ts.isIdentifier(node.name))
      tables.set(node.name.text, node.initializer);
    if (isPromise(node) && !isOption(node))
      found.faults.push({ line: line(node), message: 'promise(...) is not an option of a test' });
    const suite = ts.isCallExpression(node) ? suiteOf(node, tables) : undefined;
    if (suite === undefined && isHelper(node)) addTests(found, around, Number.POSITIVE_INFINITY);
    if (suite !== undefined) addSuite(found, { suite, around, line: line(node), isShared });
    ts.forEachChild(node, (child) =>
      visit(child, suite === undefined ? around : [...around, suite]),
    );
  };
  visit(file, []);
  return found;
}

function addSuite(found, { suite, around, line, isShared }) {
  const path = [...around, suite];
  const isSkipped = path.some((each) => each.isSkipped);
  if (suite.fault !== undefined) found.faults.push({ line, message: suite.fault });
  const titles = [...around.filter(({ isWritten }) => isWritten), suite].map(({ title }) => title);
  if (suite.kind !== 'test') titles.push('...');
  for (const id of suite.ids) found.tags.push({ id, titles, line, isSkipped });
  if (suite.kind === 'group' || isSkipped) return;
  const rows = path.reduce((product, each) => product * each.rows, 1);
  addTests(found, path, isShared || suite.kind === 'helper' ? Number.POSITIVE_INFINITY : rows);
}

/** A test counts once for an id, even if several groups around it have that id. */
function addTests({ most }, path, rows) {
  for (const id of new Set(path.flatMap(({ ids }) => ids)))
    most.set(id, (most.get(id) ?? 0) + rows);
}

/** A test, a group, or a helper with a title and tags; undefined for every other call. */
function suiteOf(call, tables) {
  const { words, table } = chainOf(call.expression);
  const isRunner = RUNNERS.includes(words[0]);
  const written = call.arguments.length === 0 ? undefined : textOf(call.arguments[0]);
  const title = written ?? (isRunner && makesTests(call.expression) ? '%s' : undefined);
  if (title === undefined) return undefined;
  const tags = call.arguments.flatMap((argument) => promisesIn(argument));
  if (!isRunner && tags.length === 0) return undefined;
  const ids = tags.flatMap((tag) => tag.arguments.map((each) => each.text ?? each.getText()));
  return {
    kind: isRunner ? (words[0] === 'describe' ? 'group' : 'test') : 'helper',
    title,
    isWritten: written !== undefined,
    ids,
    isSkipped: words.some((word) => ['skip', 'todo'].includes(word)),
    rows:
      written === undefined || isRepeated(call) ? Number.POSITIVE_INFINITY : rowsOf(table, tables),
    fault: faultOf(tags, title),
  };
}

/** Whether a call of it makes tests. `it.each(table)` does not; the call of its result does. */
function makesTests(callee) {
  return !ts.isPropertyAccessExpression(callee) || MODES.includes(callee.name.text);
}

function faultOf(tags, title) {
  const ids = tags.flatMap((tag) => tag.arguments);
  if (tags.some((tag) => tag.arguments.length === 0) || !ids.every(ts.isStringLiteral))
    return `"${title}": promise(...) takes ids, each written out`;
  const texts = ids.map(({ text }) => text);
  const twice = texts.find((id, index) => texts.indexOf(id) < index);
  return twice === undefined ? undefined : `"${title}" has ${twice} twice`;
}

/** Whether the call is inside a loop or a function, which may run more than once, and not only inside groups. */
function isRepeated(call) {
  let node = call.parent;
  while (!ts.isSourceFile(node)) {
    if (ts.isFunctionLike(node)) {
      const isBody = ts.isCallExpression(node.parent) && node.parent.arguments.includes(node);
      return !isBody || !RUNNERS.includes(chainOf(node.parent.expression).words[0]);
    }
    if (ts.isIterationStatement(node, false)) return true;
    node = node.parent;
  }
  return false;
}

/** A call without a title, as a statement of a group. It may make tests. */
function isHelper(node) {
  if (!ts.isExpressionStatement(node) || !ts.isCallExpression(node.expression)) return false;
  const [word] = chainOf(node.expression.expression).words;
  if (RUNNERS.includes(word) || NO_TESTS.test(word)) return false;
  const body = node.parent.parent;
  const group = ts.isFunctionLike(body) ? body.parent : undefined;
  return (
    group !== undefined &&
    ts.isCallExpression(group) &&
    chainOf(group.expression).words[0] === 'describe'
  );
}

/** The tags in an option of a call: `promise(...)`, or an object with `...promise(...)`. */
function promisesIn(argument) {
  if (isPromise(argument)) return [argument];
  if (!ts.isObjectLiteralExpression(argument)) return [];
  return argument.properties
    .filter(ts.isSpreadAssignment)
    .map(({ expression }) => expression)
    .filter(isPromise);
}

function isPromise(node) {
  return (
    ts.isCallExpression(node) &&
    ts.isIdentifier(node.expression) &&
    node.expression.text === 'promise'
  );
}

/** Whether `promisesIn` finds the call as an option of a call with a title. */
function isOption(node) {
  const option = ts.isSpreadAssignment(node.parent) ? node.parent.parent : node;
  const call = option.parent;
  return (
    ts.isCallExpression(call) && call.arguments.includes(option) && call.arguments[0] !== option
  );
}

/** Splits `it.each(table)` into the words `it` and `each`, and its table. */
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

/** The number of rows of a table: 1 without a table, Infinity if the source does not show it. */
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

/** The text of a title, with `%s` for each placeholder. */
function textOf(node) {
  if (ts.isStringLiteralLike(node)) return node.text.replaceAll(PLACEHOLDER, '%s');
  if (ts.isTemplateExpression(node))
    return node.head.text + node.templateSpans.map(({ literal }) => `%s${literal.text}`).join('');
  return undefined;
}

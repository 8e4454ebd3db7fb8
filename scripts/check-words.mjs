// Checks the words of comments, messages, documents and promises: standard English of the field, with a thing in the code
// as the subject of each sentence.
// Without arguments it checks the paths in CHECKED; `node scripts/check-words.mjs src/core` checks the given ones.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Paths whose texts follow the rules. No path is taken from this list. */
const CHECKED = [
  'AGENTS.md',
  'CHANGELOG.md',
  'README.md',
  'bench',
  'docs',
  'examples',
  'scripts',
  'src/activities',
  'src/cli',
  'src/client',
  'src/compat',
  'src/core',
  'src/define',
  'src/engine',
  'src/http',
  'src/json-schema',
  'src/logs',
  'src/model',
  'src/net',
  'src/projection',
  'src/protocol',
  'src/react',
  'src/spaces',
  'src/store',
  'src/testing',
  'src/tool-worker',
  'src/tools',
  'src/watchdog',
  'src/worker',
  'src/workflows',
  'temporal-dev.sh',
  'test/activities',
  'test/bundle',
  'test/attack',
  'test/docs',
  'test/alone',
  'test/e2e',
  'test/http',
  'test/linearizability',
  'test/postgres',
  'test/promises',
  'test/real-model',
  'test/replay',
  'test/types',
  'test/storm',
  'test/support',
  'test/time',
  'test/unit',
  'test/workflows',
  'web',
];

/** Files with texts. The pages of docs/generated repeat texts of other files. */
const SOURCE =
  /^(?!.*(?:node_modules|docs\/generated)\/).*\.(?:tsx?|mjs|mts|sh|md)$|^test\/promises\/.*\.json$/;
/** Sentences with these starts have no subject, or a person instead of a thing in the code. */
const SENTENCE_STARTS = /^(?:What|Who|Whoever|Whose|Whatever|Of|Nobody|Somebody|Everybody)\b/;
/** At the start of a comment these words have no antecedent. */
const COMMENT_STARTS = /^(?:It|They|As it|That|None where|So often)\b/;
/** Words without a standard meaning in Temporal, agents or TypeScript. */
const PRIVATE_WORDS =
  /\b(?:told|tells?|telling|doors?|set aside|aside|nobody|somebody|whoever|whatever|untold|spill(?:ed|s)?|stand-ins?|looks? for whom|makes? room|make_room)\b/i;

const named = process.argv.slice(2);
const folders = named.length > 0 ? named : CHECKED;
let problems = 0;
for (const file of folders.flatMap((folder) => filesIn(folder))) checkFile(file);
console.error(
  problems === 0 ? `words: ${folders.length} paths checked` : `words: ${problems} problems`,
);
process.exitCode = problems === 0 ? 0 : 1;

function filesIn(path) {
  if (SOURCE.test(path)) return [path];
  return readdirSync(join(root, path), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => relative(root, join(parentPath, name)))
    .filter((file) => SOURCE.test(file));
}

function checkFile(file) {
  const text = readFileSync(join(root, file), 'utf8');
  const report = (position, message) => {
    problems += 1;
    const line = text.slice(0, position).split('\n').length;
    console.error(`${file}:${line}: ${message}`);
  };
  if (file.endsWith('.sh')) {
    for (const comment of shellComments(text)) checkComment(comment, report);
    return;
  }
  if (/\.(?:md|json)$/.test(file)) {
    const parts = file.endsWith('.md') ? blocksOf(text) : valuesOf(text);
    for (const part of parts) checkProse(part, report);
    return;
  }
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  for (const comment of commentsOf(source, text)) checkComment(comment, report);
  checkStrings(source, report, file.startsWith('test/') ? isTitle : isText);
}

/** Paragraphs, items, headings and rows of a Markdown file, without its code blocks. */
function blocksOf(text) {
  const prose = text.replaceAll(/^ *(```|~~~)[\s\S]*?^ *\1.*$/gm, (code) =>
    code.replaceAll(/\S/g, ' '),
  );
  return [...prose.matchAll(/^[ \t]*\S.*(?:\n(?![ \t]*(?:[-*|#>]|\d+\. |$)).*)*/gm)].map(
    ({ 0: block, index }) => ({
      words: withoutCode(
        block
          .replace(/^\W+/, '')
          .replaceAll(/\]\([^)]*\)/g, ']')
          .replaceAll('**', '')
          .replaceAll(/[A-Z][^.?|]*\?/g, 'Question?'),
      ),
      pos: index,
      isHeading: /^#/.test(block),
    }),
  );
}

/** The texts of a file of promises. */
function valuesOf(text) {
  return [...text.matchAll(/: ("(?:[^"\\]|\\.)*")/g)].map(({ 1: value, index }) => ({
    words: withoutCode(JSON.parse(value)),
    pos: index,
  }));
}

/** Comments of a shell script on lines of their own; adjacent ones are one. */
function shellComments(text) {
  return [...text.matchAll(/^(?:[ \t]*#(?!!).*\n)+/gm)].map(({ 0: lines, index }) => ({
    words: lines
      .replaceAll(/^[ \t]*#[ \t]?/gm, '')
      .replaceAll(/\s+/g, ' ')
      .trim(),
    pos: index,
  }));
}

/** The comments of a file. Adjacent line comments are merged into one. */
function commentsOf(source, text) {
  const found = new Map();
  const take = (ranges) => {
    for (const { pos, end, kind } of ranges ?? []) found.set(pos, { pos, end, kind });
  };
  (function visit(node) {
    take(ts.getLeadingCommentRanges(text, node.getFullStart()));
    take(ts.getTrailingCommentRanges(text, node.getEnd()));
    node.getChildren(source).forEach(visit);
  })(source);
  const comments = [];
  for (const range of [...found.values()].sort((a, b) => a.pos - b.pos)) {
    const words = plain(text.slice(range.pos, range.end));
    const last = comments.at(-1);
    const isNext =
      last !== undefined &&
      last.isLine &&
      range.kind === ts.SyntaxKind.SingleLineCommentTrivia &&
      /^\s*$/.test(text.slice(last.end, range.pos)) &&
      !/\n\s*\n/.test(text.slice(last.end, range.pos));
    if (isNext) Object.assign(last, { words: `${last.words} ${words}`, end: range.end });
    else
      comments.push({
        ...{ words, pos: range.pos, end: range.end },
        isLine: range.kind === ts.SyntaxKind.SingleLineCommentTrivia,
      });
  }
  return comments;
}

/** The text of a comment without its marks, and without code and URLs. */
function plain(comment) {
  return withoutCode(
    comment
      .replaceAll(/^\/\*\*?|\*\/$|^\s*\*\s?|^\s*\/\/\s?/gm, '')
      .replaceAll(/@\w+(?:\s+\{[^}]*\})?/g, '.'),
  );
}

function withoutCode(text) {
  return text
    .replaceAll(/`[^`]*`/g, 'code')
    .replaceAll(/https?:\S+/g, 'address')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

function checkComment({ words, pos }, report) {
  if (/^(?:biome-ignore|eslint-|@ts-|v8 ignore)/.test(words)) return;
  const start = COMMENT_STARTS.exec(words);
  if (start !== null) report(pos, `a comment starts with "${start[0]}", which refers to nothing`);
  checkProse({ words, pos }, report);
}

function checkProse({ words, pos, isHeading = false }, report) {
  for (const sentence of words.split(/(?<=[.:;?!|])\s+/)) {
    const first = SENTENCE_STARTS.exec(sentence);
    if (first !== null && !isHeading)
      report(pos, `a sentence starts with "${first[0]}": make a thing of the code its subject`);
  }
  const word = PRIVATE_WORDS.exec(words);
  if (word !== null)
    report(
      pos,
      `"${word[0]}" is not a word of the field: "${words.slice(Math.max(0, word.index - 30), word.index + 40)}"`,
    );
}

/**
 * Checks the texts that people and models read: strings of several words. In tests these are the titles only; other
 * strings there are data.
 */
function checkStrings(source, report, isChecked) {
  (function visit(node) {
    if (isChecked(node) && node.text.trim().split(/\s+/).length > 3) {
      const word = PRIVATE_WORDS.exec(node.text);
      if (word !== null)
        report(node.getStart(source), `"${word[0]}" in a text: "${node.text.slice(0, 80)}"`);
    }
    ts.forEachChild(node, visit);
  })(source);
}

function isText(node) {
  const isLiteral =
    ts.isStringLiteralLike(node) ||
    ts.isTemplateHead(node) ||
    ts.isTemplateMiddle(node) ||
    ts.isTemplateTail(node);
  return isLiteral && !ts.isImportDeclaration(node.parent);
}

/** Matches `describe('title', ...)`, also with `.each(...)` and the like in between, and the label of `until`. */
function isTitle(node) {
  const literal = ts.isTemplateExpression(node.parent ?? node) ? node.parent : templateOf(node);
  const call = literal.parent;
  return (
    isText(node) &&
    call !== undefined &&
    ts.isCallExpression(call) &&
    call.arguments[0] === literal &&
    /^(?:describe|it|test|until)\b/.test(call.expression.getText())
  );
}

/** The whole template of its middle or tail. */
function templateOf(node) {
  return ts.isTemplateMiddle(node) || ts.isTemplateTail(node) ? node.parent.parent : node;
}

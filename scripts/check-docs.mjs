// Checks the claims of the documents: promises have their tests, links resolve, code blocks equal their sources, the
// table of imports is that of the lint, lines of prose have at most 120 columns, budgets are kept.
// `--write` writes the pages of docs/generated first. `--report <file>` checks only that every promise had its tests,
// by the JSON report of vitest; `--whole` states that the report covers a complete run. `npm test` does this with its
// own report.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { importTableFaults } from './docs/import-table.mjs';
import { widthFaults } from './docs/prose-width.mjs';
import { promisesInReport, promisesInSource } from './promises/index.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const failures = [];
const fail = (file, line, message) => failures.push(`${file}:${line}: ${message}`);
const linesOf = (file) => readFileSync(join(root, file), 'utf8').split('\n');
/** The page of promises is meant to be read at once; the long tables are in docs/generated. */
const MAX_GUARANTEES_BYTES = 12 * 1024;
const SKIPPED = new Set(['node_modules', 'dist', 'coverage', '.colloquy', '.git']);
const everyFile = walk('').sort();

/** Shared tests are in files other than `*.test.ts` and `*.test.tsx`. */
const testFiles = everyFile.filter((file) => /^test\/.*\.tsx?$/.test(file));
const documents = everyFile.filter((file) => file.endsWith('.md'));
const reportFile = argument('--report');
const report = reportFile && JSON.parse(readFileSync(reportFile, 'utf8'));
if (report === undefined) {
  addFaults(promisesInSource(root, { testFiles, write: process.argv.includes('--write') }));
  for (const file of documents) {
    checkLinks(file);
    checkCode(file);
    addFaults(widthFaults(linesOf(file)).map((fault) => ({ file, ...fault })));
  }
  addFaults(importTableFaults(root));
  checkChangelog('CHANGELOG.md');
  checkBudgets();
} else {
  const isWhole = process.argv.includes('--whole');
  addFaults(promisesInReport(root, { testFiles, report, isWhole }));
}

for (const failure of failures) console.error(failure);
console.error(
  failures.length === 0
    ? `docs: ${report === undefined ? `${documents.length} documents checked` : 'every promise whose files ran has had its tests'}`
    : `docs: ${failures.length} problems`,
);
process.exitCode = failures.length === 0 ? 0 : 1;

function walk(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : walk(path);
    return entry.isFile() ? [path] : [];
  });
}

function addFaults(faults) {
  for (const { file, line, message } of faults) fail(file, line, message);
}

function argument(name) {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
}

function checkLinks(file) {
  let fenced = false;
  linesOf(file).forEach((text, index) => {
    if (/^\s*(```|~~~)/.test(text)) fenced = !fenced;
    if (fenced) return;
    const prose = text.replaceAll(/`[^`]*`/g, '');
    for (const match of prose.matchAll(
      /\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)|^\s*\[[^\]]+\]:\s+(\S+)/g,
    )) {
      checkLink(file, index + 1, match[1] ?? match[2]);
    }
  });
}

function checkLink(file, line, link) {
  if (/^[a-z][a-z+.-]*:/i.test(link)) return;
  const [path, anchor] = link.split('#');
  const target = path === '' ? file : normalize(join(dirname(file), decodeURIComponent(path)));
  if (target.startsWith('..') || !existsSync(join(root, target))) {
    fail(file, line, `the link ${link} does not resolve`);
    return;
  }
  if (anchor === undefined || !target.endsWith('.md') || statSync(join(root, target)).isDirectory())
    return;
  if (!headings(target).includes(anchor))
    fail(file, line, `the link ${link}: ${target} has no such heading`);
}

function headings(file) {
  const seen = new Map();
  let fenced = false;
  return linesOf(file).flatMap((text) => {
    if (/^\s*(```|~~~)/.test(text)) fenced = !fenced;
    const heading = fenced ? null : /^#{1,6}\s+(.*?)\s*#*$/.exec(text);
    if (heading === null) return [];
    const slug = heading[1]
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-');
    const before = seen.get(slug) ?? 0;
    seen.set(slug, before + 1);
    return [before === 0 ? slug : `${slug}-${before}`];
  });
}

/**
 * A comment `<!-- from examples/hello/run.ts#send -->` before a code block: the block must equal that region, or,
 * without `#`, the file.
 */
function checkCode(file) {
  const lines = linesOf(file);
  lines.forEach((text, index) => {
    const marker = /^\s*<!--\s*from\s+([^\s#]+)(?:#(\S+))?\s*-->\s*$/.exec(text);
    if (marker === null) return;
    const [, source, region] = marker;
    if (!existsSync(join(root, source))) {
      fail(file, index + 1, `there is no file ${source}`);
      return;
    }
    const expected = region === undefined ? linesOf(source) : regionOf(source, region);
    if (expected === undefined) {
      fail(
        file,
        index + 1,
        `${source} has no region ${region} (// #region ${region} ... // #endregion)`,
      );
      return;
    }
    const open = lines.findIndex((line, at) => at > index && line.trim() !== '');
    const close = lines.findIndex((line, at) => at > open && /^\s*```\s*$/.test(line));
    if (open < 0 || close < 0 || !/^\s*```/.test(lines[open])) {
      fail(file, index + 1, 'no code block follows');
      return;
    }
    const shown = lines.slice(open + 1, close);
    if (plain(shown) !== plain(expected)) {
      fail(
        file,
        firstDifference(shown, expected) + open + 2,
        `differs from ${source}${region ? `#${region}` : ''}`,
      );
    }
  });
}

function regionOf(source, name) {
  const lines = linesOf(source);
  const start = lines.findIndex((line) => {
    const marker = /#region\s+(\S+)\s*$/.exec(line);
    return marker !== null && marker[1] === name;
  });
  if (start < 0) return undefined;
  const length = lines.slice(start + 1).findIndex((line) => /#endregion\b/.test(line));
  return length < 0 ? undefined : lines.slice(start + 1, start + 1 + length);
}

/** The lines without common indentation, trailing blanks and empty ends. */
function plain(lines) {
  const indents = lines
    .filter((line) => line.trim() !== '')
    .map((line) => line.length - line.trimStart().length);
  const indent = Math.min(...indents, Number.MAX_SAFE_INTEGER);
  return lines
    .map((line) => line.slice(indent).trimEnd())
    .join('\n')
    .replace(/^\n+|\n+$/g, '');
}

function firstDifference(shown, expected) {
  const [left, right] = [plain(shown).split('\n'), plain(expected).split('\n')];
  const at = left.findIndex((line, index) => line !== right[index]);
  return at < 0 ? Math.max(0, shown.length - 1) : at;
}

/** A release has one section of each kind, so that related changes stand together. */
function checkChangelog(file) {
  let seen = new Set();
  linesOf(file).forEach((text, index) => {
    if (text.startsWith('## ')) seen = new Set();
    if (!text.startsWith('### ')) return;
    if (seen.has(text)) fail(file, index + 1, `has a second section "${text}" of this release`);
    seen.add(text);
  });
}

function checkBudgets() {
  const budgets = [
    ['README.md', 200],
    ['AGENTS.md', 120],
  ];
  for (const [file, most] of budgets) {
    if (!existsSync(join(root, file))) continue;
    const count = lengthOf(file);
    if (count > most) fail(file, count, `${count} lines; at most ${most}`);
  }
  const size = statSync(join(root, 'docs/guarantees.md')).size;
  if (size > MAX_GUARANTEES_BYTES)
    fail('docs/guarantees.md', 1, `${size} bytes; at most ${MAX_GUARANTEES_BYTES}`);
}

function lengthOf(file) {
  const lines = linesOf(file);
  return lines.at(-1) === '' ? lines.length - 1 : lines.length;
}

// Prints the files of `src` and their lines by folder, as rows of a table for a decision: all lines, and lines of code,
// which have more than comments. `npm run count:lines -- [commit]`; without a commit that of HEAD.
import { execFileSync } from 'node:child_process';
import ts from 'typescript';

const commit = process.argv[2] ?? 'HEAD';
const git = (...args) => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 1 << 28 });

const folders = new Map();
const paths = git('ls-tree', '-r', '--name-only', commit, 'src').trim().split('\n');
for (const path of paths.filter((name) => name.endsWith('.ts'))) {
  const [, first, ...rest] = path.split('/');
  const text = git('show', `${commit}:${path}`);
  const counted = { files: 1, lines: text.split('\n').length - 1, code: linesOfCode(text) };
  for (const name of [rest.length === 0 ? 'files of `src`' : `\`${first}\``, 'all']) {
    const sum = folders.get(name) ?? { files: 0, lines: 0, code: 0 };
    for (const key of Object.keys(sum)) sum[key] += counted[key];
    folders.set(name, sum);
  }
}
const all = folders.get('all');
folders.delete('all');
const shown = (number) => number.toLocaleString('en-US');
for (const [name, { files, lines, code }] of [...[...folders].sort(), ['all', all]])
  console.log(`| ${name} | ${shown(files)} | ${shown(lines)} | ${shown(code)} |`);

/** Lines that have a part of a token. */
function linesOfCode(text) {
  const source = ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest, true);
  const lines = new Set();
  const visit = (node) => {
    if (ts.isJSDoc(node)) return;
    const children = node.getChildren(source);
    if (children.length > 0) {
      children.forEach(visit);
      return;
    }
    if (node.end === node.getStart(source)) return;
    const first = source.getLineAndCharacterOfPosition(node.getStart(source)).line;
    const last = source.getLineAndCharacterOfPosition(node.end).line;
    for (let line = first; line <= last; line += 1) lines.add(line);
  };
  visit(source);
  return lines.size;
}

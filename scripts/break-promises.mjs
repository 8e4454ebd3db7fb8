// npm run break:promises [-- G310 C16 ...]: changes one line that keeps a promise or a requirement, in a copy of the
// project, and runs the tests of it, which must fail. Without ids: all of scripts/promises/breaks, which takes some minutes.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BREAKS } from './promises/breaks/index.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const ids = process.argv.slice(2);
const unknown = ids.filter((id) => !BREAKS.some(({ promise }) => promise === id));
if (unknown.length > 0) {
  console.error(`no line is known for ${unknown.join(', ')}`);
  process.exit(2);
}

const copy = mkdtempSync(join(tmpdir(), 'colloquy-breaks-'));
process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));
const LEFT_OUT = ['.git', 'node_modules', '.colloquy'];
cpSync(root, copy, {
  recursive: true,
  filter: (path) => !LEFT_OUT.includes(relative(root, path)),
});
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));

const wrong = [];
for (const broken of BREAKS) {
  if (ids.length > 0 && !ids.includes(broken.promise)) continue;
  const said = verdictOn(broken);
  console.log(`${broken.promise}  ${said}`);
  if (!said.startsWith('red')) wrong.push(broken.promise);
}
if (wrong.length > 0) console.error(`not shown by a test that fails: ${wrong.join(', ')}`);
process.exitCode = wrong.length > 0 ? 1 : 0;

function verdictOn({ promise, file, line, to = '', test, builds = false }) {
  const path = join(copy, file);
  const text = readFileSync(path, 'utf8');
  if (text.split(line).length !== 2) return `${file} does not have the line once`;
  writeFileSync(
    path,
    text.replace(line, () => to),
  );
  try {
    if (builds && !run('npm', ['run', '-s', 'build'])) return 'the broken line does not compile';
    const report = join(copy, 'report.json');
    rmSync(report, { force: true });
    const project = test.split('/')[1];
    run('npx', [
      ...['vitest', 'run', '--project', project, '--reporter=json', `--outputFile=${report}`],
      ...['--tags-filter', promise, test],
    ]);
    const { numFailedTests, numPassedTests } = JSON.parse(readFileSync(report, 'utf8'));
    if (numFailedTests + numPassedTests === 0) return `${test} has no test of it`;
    return numFailedTests > 0 ? `red: ${numFailedTests} failed in ${test}` : `GREEN: ${test}`;
  } finally {
    writeFileSync(path, text);
    if (builds) run('npm', ['run', '-s', 'build']);
  }
}

function run(command, args) {
  return spawnSync(command, args, { cwd: copy, encoding: 'utf8' }).status === 0;
}

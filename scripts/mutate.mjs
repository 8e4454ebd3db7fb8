// npm run mutate -- [folder of src/core, ...] [--slow report.json]: changes the code of the core, one place at a time, and
// counts the changes that no test notices. A folder takes up to an hour; without one, all are changed.
//
// `--slow report.json` runs only the changes that passed in an earlier report, against all tests of the core.
import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const REPORT = `${root}.colloquy/mutation.json`;
const given = process.argv.slice(2);
const slow = given.indexOf('--slow');
const before = slow < 0 ? undefined : given.splice(slow, 2)[1];
const folders = given.length === 0 ? ['*'] : given;
const places =
  before === undefined
    ? folders.map((folder) => `src/core/${folder}/**/*.ts`)
    : passedIn(before).map(({ file, start, end }) => `${file}:${place(start)}-${place(end)}`);

execFileSync('stryker', ['run', '--mutate', places.join(',')], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, ...(before === undefined ? {} : { COLLOQUY_MUTATE_SLOW: '1' }) },
});
const passed = passedIn(REPORT);
for (const { file, start, text } of passed) console.log(`${file}:${start.line} ${text}`);
console.log(`${scoreOf(REPORT)}; the report is in .colloquy/mutation.json`);
if (before !== undefined) copyFileSync(REPORT, `${root}.colloquy/mutation-slow.json`);

/** The changes that no test noticed. */
function passedIn(path) {
  const { files } = JSON.parse(readFileSync(path, 'utf8'));
  return Object.entries(files).flatMap(([file, { mutants }]) =>
    mutants
      .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
      .map(({ location: { start, end }, replacement, mutatorName }) => ({
        ...{ file, start, end },
        text: `${mutatorName}: ${replacement.replaceAll(/\s+/g, ' ').slice(0, 80)}`,
      })),
  );
}

/** Columns of a report begin with 1, those of the option with 0. */
function place({ line, column }) {
  return `${line}:${column - 1}`;
}

function scoreOf(path) {
  const { files } = JSON.parse(readFileSync(path, 'utf8'));
  const all = Object.values(files)
    .flatMap(({ mutants }) => mutants)
    .filter(({ status }) => status !== 'Ignored');
  const noticed = all.filter(({ status }) => status === 'Killed' || status === 'Timeout').length;
  return `${noticed} of ${all.length} changes were noticed (${((100 * noticed) / all.length).toFixed(1)} %)`;
}

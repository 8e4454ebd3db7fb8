// npm run mutate -- [folder of src/core, ...] [--slow report.json]: changes the code of the core, one place at a time,
// and lists the changes that no test notices, in test/mutation/<folder>.txt. A folder takes up to an hour; without one,
// all are changed.
//
// `--slow report.json` runs only the changes that passed in an earlier report, against all tests of the core, and counts
// those of both.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const LISTS = `${root}test/mutation/`;
const REPORT = `${root}.colloquy/mutation.json`;
const given = process.argv.slice(2);
const slow = given.indexOf('--slow');
const earlier = slow < 0 ? undefined : read(given.splice(slow, 2)[1]);
const missed = earlier === undefined ? [] : passedIn(earlier);
const folders = given.length === 0 ? ['*'] : given;
const places =
  earlier === undefined
    ? folders.map((folder) => `src/core/${folder}/**/*.ts`)
    : missed.map(({ file, start, end }) => `${file}:${place(start)}-${place(end)}`);

execFileSync('stryker', ['run', '--mutate', places.join(',')], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, ...(earlier === undefined ? {} : { COLLOQUY_MUTATE_SLOW: '1' }) },
});
const report = read(REPORT);
const passed = passedIn(report).filter(
  (change) => earlier === undefined || missed.some((other) => isSame(change, other)),
);
const all = earlier ?? report;
mkdirSync(LISTS, { recursive: true });
for (const folder of foldersIn(all)) {
  const isOf = ({ file }) => folderOf(file) === folder;
  const lines = passed.filter(isOf).map(({ file, start, text }) => {
    return `${file.replace(`src/core/${folder}/`, '')}:${start.line} ${text}`;
  });
  const list = [`${folder}: ${scoreOf(countIn(all, folder), lines.length)}`, ...lines];
  writeFileSync(`${LISTS}${folder}.txt`, `${list.join('\n')}\n`);
  console.log(list.join('\n'));
}
console.log('Written to test/mutation. The report of this run is in .colloquy/mutation.json');

function folderOf(file) {
  return file.split('/')[2];
}

function foldersIn({ files }) {
  return [...new Set(Object.keys(files).map(folderOf))];
}

function scoreOf(count, passes) {
  const noticed = count - passes;
  return `${noticed} of ${count} changes were noticed (${((100 * noticed) / count).toFixed(1)} %)`;
}

/** A place may have several changes, of which some were noticed before. */
function isSame(one, other) {
  return (
    one.file === other.file &&
    place(one.start) === place(other.start) &&
    place(one.end) === place(other.end) &&
    one.text === other.text
  );
}

/** The changes that no test noticed. */
function passedIn({ files }) {
  return Object.entries(files).flatMap(([file, { mutants }]) =>
    mutants
      .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
      .map(({ location: { start, end }, replacement, mutatorName }) => ({
        ...{ file, start, end },
        text: `${mutatorName}: ${replacement.replaceAll(/\s+/g, ' ').slice(0, 80)}`,
      })),
  );
}

function read(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** Columns of a report begin with 1, those of the option with 0. */
function place({ line, column }) {
  return `${line}:${column - 1}`;
}

function countIn({ files }, folder) {
  return Object.entries(files)
    .filter(([file]) => folderOf(file) === folder)
    .flatMap(([, { mutants }]) => mutants)
    .filter(({ status }) => status !== 'Ignored').length;
}

// npm test: builds, runs vitest with the given arguments, and ends with the line `N passed, N failed`.
//
// `--all` adds the tests that need Python: those on a real model, which fetch 350 MB at the first run, and those with
// Schemathesis. `--no-build` uses the existing build.
// The numbers are those of vitest's own report. The exit code is 0 only if tests ran and nothing went wrong.
// COLLOQUY_TEST_LOAD=4 keeps four processes busy beside the tests. The same report must also contain the tests of every
// promise.
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loopsWanted, startBusyLoops } from './busy-loops.mjs';
import { temporaryFolder } from './temporary-folder.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const given = process.argv.slice(2);
const skipBuild = given.includes('--no-build');
const own = given.filter((arg) => arg !== '--no-build' && arg !== '--all');
const isChosen = given.includes('--all') || own.some((arg) => arg.startsWith('--project'));
const args = isChosen ? own : ['--project=!real-model', '--project=!attack', ...own];

const loops = loopsWanted(process.env.COLLOQUY_TEST_LOAD);
if (loops > 0) console.error(`test: beside ${loops} busy loops`);
/** Options that exclude tests of a file, which the report then lists as skipped. */
const isPartOfFiles = own.some((arg) =>
  /^(-t|--testNamePattern|--tagsFilter|--tags-filter|--shard|--changed|--bail)\b|:\d+$/.test(arg),
);

const folder = mkdtempSync(join(temporaryFolder(), 'colloquy-test-'));
// Postgres runs as a user of its own, where root runs the tests, and has its data below.
chmodSync(folder, 0o711);
const report = join(folder, 'report.json');
let child;
let interrupted;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    interrupted = signal;
    child?.kill(signal === 'SIGHUP' ? 'SIGTERM' : signal);
  });
}

const built = skipBuild || (await run('npm', ['run', '-s', 'build'])) === 0;
let summary;
if (built && !interrupted) {
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const stopLoops = startBusyLoops(loops);
  const code = await run('vitest', ['run', ...reporters, ...args]);
  stopLoops();
  summary = summarize(code, readReport());
  await addPromises(summary);
} else {
  summary = { passed: 0, failed: 1, skipped: 0, notes: ['the build failed; no test was run'] };
}
// A process that the tests have ended may still write into the cache.
rmSync(folder, { recursive: true, force: true, maxRetries: 5 });

if (interrupted) {
  summary.notes.push(`interrupted by ${interrupted}`);
  summary.failed = Math.max(summary.failed, 1);
}
for (const note of summary.notes) console.error(`test: ${note}`);
const skipped = summary.skipped > 0 ? `, ${summary.skipped} skipped` : '';
const line = `${summary.passed} passed, ${summary.failed} failed${skipped}\n`;
process.exitCode = summary.failed > 0 ? 1 : 0;
process.stdout.write(line);

/** Counts the tests in the report, and turns every fault outside of a test into at least one failure. */
function summarize(code, json) {
  if (json === undefined) {
    return {
      passed: 0,
      failed: 1,
      skipped: 0,
      notes: [`vitest ended with ${code} and left no report`],
    };
  }
  const notes = [];
  const passed = json.numPassedTests;
  let failed = json.numFailedTests;
  const skipped = json.numPendingTests + (json.numTodoTests ?? 0);
  // A file that failed to load has no test that could fail.
  for (const file of json.testResults) {
    for (const test of file.assertionResults)
      if (test.status === 'failed') notes.push(failureOf(file, test));
    if (file.status !== 'failed' || file.assertionResults.some((test) => test.status === 'failed'))
      continue;
    failed += 1;
    notes.push(`${file.name} failed outside of a test`);
  }
  if (passed + failed === 0) {
    failed += 1;
    notes.push('no test was run');
  }
  if (code !== 0 && failed === 0) {
    failed += 1;
    notes.push(`vitest ended with ${code}: an unhandled error, or a failed setup or teardown`);
  }
  return { passed, failed, skipped, notes };
}

/** One line for each failed test, at the end of a long output: its file, its name and the first line of its error. */
function failureOf(file, test) {
  const [reason = 'no message'] = (test.failureMessages[0] ?? '').split('\n');
  return `FAILED ${relative(root, file.name)} > ${test.fullName}: ${reason.slice(0, 300)}`;
}

/** Promises whose tests were skipped or removed are at least one failure. */
async function addPromises(of) {
  if (isPartOfFiles || interrupted || readReport() === undefined) return;
  const whole = own.length === 0 ? ['--whole'] : [];
  const code = await run('node', ['scripts/check-docs.mjs', '--report', report, ...whole]);
  if (code === 0) return;
  of.failed += 1;
  of.notes.push('promises lack tests that ran: see above');
}

function readReport() {
  try {
    return JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    return undefined;
  }
}

function run(command, commandArgs) {
  return new Promise((resolve) => {
    child = spawn(command, commandArgs, { cwd: root, stdio: 'inherit', env: withBinaries() });
    child.once('error', (error) => {
      console.error(`test: cannot run ${command}: ${error.message}`);
      resolve('an error');
    });
    child.once('exit', (code, signal) => resolve(code ?? signal));
  });
}

/**
 * Adds the local binaries to PATH, for a direct start with `node scripts/test.mjs`, and a cache of compiled modules:
 * the tests start the same modules in a thousand processes. Temporary files go to the folder that is deleted at the end.
 */
function withBinaries() {
  return {
    NODE_COMPILE_CACHE: join(folder, 'compiled'),
    ...process.env,
    TMPDIR: folder,
    PATH: `${join(root, 'node_modules', '.bin')}:${process.env.PATH ?? ''}`,
  };
}

// npm run verify: every check that needs no server, the fastest first. Checks that need only the build run in two
// parallel lanes. --static leaves the tests out.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const withTests = !process.argv.includes('--static');
const PROJECTS = [
  ...['exhaustive', 'unit', 'types', 'activities', 'http', 'bundle', 'replay', 'docs'],
  'components*',
];
const serverless = PROJECTS.flatMap((name) => ['--project', name]);

const format = ['format', 'npm', ['run', '-s', 'format:check']];
const build = ['build', 'npm', ['run', '-s', 'build']];
// Takes as long as all the others together, on one core.
const lint = ['lint', 'npm', ['run', '-s', 'lint']];
const others = [
  ['types', 'npm', ['run', '-s', 'typecheck']],
  ['unused', 'npm', ['run', '-s', 'deps:check']],
  ['package', 'npm', ['run', '-s', 'package:check']],
  ['docs', 'npm', ['run', '-s', 'docs:check']],
  ['words', 'npm', ['run', '-s', 'words:check']],
];
const tests = ['tests', 'node', ['scripts/test.mjs', '--no-build', ...serverless]];

if (!existsSync(`${root}node_modules`)) {
  console.error('verify: node_modules is missing. Run: npm ci');
  process.exit(1);
}
const running = new Set();
// Each step leads a group of its own: ended alone, npm leaves what it has started behind.
const endAll = () => {
  for (const child of running) process.kill(-child.pid, 'SIGTERM');
};
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    endAll();
    process.exit(1);
  });
await lane([format, build]);
await Promise.all([lane([lint]), lane(others)]);
if (withTests) await lane([tests]);

/** Runs the steps one after the other; the first failure ends all lanes. */
async function lane(steps) {
  for (const [name, command, args] of steps) {
    const started = performance.now();
    const child = spawn(command, args, {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      detached: true,
    });
    running.add(child);
    const end = await new Promise((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('exit', (code, signal) => resolve(code === 0 ? 'ok' : (signal ?? `exit ${code}`)));
    });
    running.delete(child);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    if (end !== 'ok') {
      endAll();
      console.error(`verify: ${name} FAILED (${end}). Alone: ${command} ${args.join(' ')}`);
      process.exit(1);
    }
    console.error(`verify: ${name} ok (${seconds} s)`);
  }
}

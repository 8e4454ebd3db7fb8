// npm run verify: everything that needs no server, in the order of what fails fastest. --static leaves the tests out.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const withTests = !process.argv.includes('--static');
const serverless = ['unit', 'activities', 'http', 'bundle', 'replay', 'docs'].flatMap((name) => [
  '--project',
  name,
]);

const steps = [
  ['format', 'npm', ['run', '-s', 'format:check']],
  ['build', 'npm', ['run', '-s', 'build']],
  ['types', 'npm', ['run', '-s', 'typecheck']],
  ['lint', 'npm', ['run', '-s', 'lint']],
  ...(withTests ? [['tests', 'node', ['scripts/test.mjs', '--no-build', ...serverless]]] : []),
  ['unused', 'npm', ['run', '-s', 'deps:check']],
  ['package', 'npm', ['run', '-s', 'package:check']],
  ['docs', 'npm', ['run', '-s', 'docs:check']],
];

if (!existsSync(`${root}node_modules`)) {
  console.error('verify: node_modules is missing. Run: npm ci');
  process.exit(1);
}
for (const [name, command, args] of steps) {
  const started = performance.now();
  const { status, signal } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  if (status !== 0) {
    console.error(
      `verify: ${name} FAILED (${signal ?? `exit ${status}`}). Alone: ${command} ${args.join(' ')}`,
    );
    process.exit(1);
  }
  console.error(`verify: ${name} ok (${seconds} s)`);
}

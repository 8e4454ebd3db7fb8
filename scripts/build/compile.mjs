// Runs the native compiler of TypeScript 7 with the given arguments, and prints its duration. `typescript` itself stays
// at 6, because the linter needs its API. Both packages have a command named tsc, so this one is called by its path.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const started = performance.now();
const manifest = fileURLToPath(import.meta.resolve('typescript7/package.json'));
const tsc = join(dirname(manifest), 'bin', 'tsc');
process.stderr.write(`tsc ${process.argv.slice(2).join(' ')} ...\n`);
const { status } = spawnSync(process.execPath, [tsc, ...process.argv.slice(2)], {
  stdio: 'inherit',
});
if (status === 0)
  process.stderr.write(`tsc: done in ${((performance.now() - started) / 1_000).toFixed(1)} s\n`);
process.exitCode = status ?? 1;

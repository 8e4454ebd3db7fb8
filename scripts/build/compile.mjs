// Runs the native compiler of TypeScript 7 with the given arguments, and prints its duration. `typescript` itself stays
// at 6, because the linter needs its API. Both packages have a command named tsc, so this one is called by its path.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const started = performance.now();
const manifest = fileURLToPath(import.meta.resolve('typescript7/package.json'));
const tsc = join(dirname(manifest), 'bin', 'tsc');
process.stderr.write(`tsc ${process.argv.slice(2).join(' ')} ...\n`);
const { status } = spawnSync(process.execPath, [tsc, ...process.argv.slice(2)], {
  stdio: 'inherit',
});
// `npx colloquy` runs the file itself in a clone; where the package is installed, npm makes it executable.
const command = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
if (status === 0 && existsSync(command)) chmodSync(command, 0o755);
if (status === 0)
  process.stderr.write(`tsc: done in ${((performance.now() - started) / 1_000).toFixed(1)} s\n`);
process.exitCode = status ?? 1;

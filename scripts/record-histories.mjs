// npm run record:histories: runs the conversations of test/support/histories/scenarios on a real server, and keeps the
// histories that test/replay/histories does not have yet, with their SHA-256 sums. Kept histories are never overwritten.
// `-- --renew --out <folder>` records all of them into a folder that is empty or does not exist, for a comparison:
// `npm run compare:histories -- <old folder> <new folder>`. `-t <name>` records a part.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const SUMS = 'SHA256SUMS';
const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({
  options: {
    renew: { type: 'boolean', default: false },
    out: { type: 'string' },
    t: { type: 'string', short: 't' },
  },
});
if (values.renew !== (values.out !== undefined)) fail('--renew and --out <folder> go together');
const folder = values.renew ? resolve(values.out) : join(root, 'test', 'replay', 'histories');
mkdirSync(folder, { recursive: true });
if (values.renew && readdirSync(folder).length > 0) fail(`${folder} is not empty`);

const before = new Set(readdirSync(folder));
const bin = join(root, 'node_modules', '.bin');
const tests = [
  ...['--project', 'workflows', 'test/workflows/history/histories.test.ts'],
  ...(values.t === undefined ? [] : ['-t', values.t]),
];
const child = spawn(join(bin, 'vitest'), ['run', ...tests], {
  cwd: root,
  stdio: 'inherit',
  env: {
    ...process.env,
    PATH: `${bin}:${process.env.PATH ?? ''}`,
    COLLOQUY_RECORD_HISTORIES: folder,
  },
});
child.once('exit', (code) => {
  const added = readdirSync(folder).filter((name) => !before.has(name) && name !== SUMS);
  addSums(added);
  console.log(added.length === 0 ? 'nothing new to record' : `recorded ${added.join(', ')}`);
  process.exitCode = code ?? 1;
});

/** Adds lines as `sha256sum` writes them. The lines of kept histories stay as they are. */
function addSums(added) {
  const lines = before.has(SUMS) ? readFileSync(join(folder, SUMS), 'utf8').trim().split('\n') : [];
  for (const name of added) {
    const sum = createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
    lines.push(`${sum}  ${name}`);
  }
  lines.sort((one, other) => (one.slice(66) < other.slice(66) ? -1 : 1));
  writeFileSync(join(folder, SUMS), `${lines.join('\n')}\n`);
}

function fail(message) {
  console.error(message);
  process.exit(2);
}

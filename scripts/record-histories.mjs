// npm run record:histories: runs the conversations of test/workflows/history/histories.test.ts on a real server, and
// keeps the histories that test/replay/histories does not have yet. Kept histories are never overwritten.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'test', 'replay', 'histories');
const before = new Set(readdirSync(folder));
const bin = join(root, 'node_modules', '.bin');
const child = spawn(
  join(bin, 'vitest'),
  ['run', '--project', 'workflows', 'test/workflows/history/histories.test.ts'],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      PATH: `${bin}:${process.env.PATH ?? ''}`,
      COLLOQUY_RECORD_HISTORIES: '1',
    },
  },
);
child.once('exit', (code) => {
  const added = readdirSync(folder).filter((name) => !before.has(name));
  console.log(added.length === 0 ? 'nothing new to record' : `recorded ${added.join(', ')}`);
  process.exitCode = code ?? 1;
});

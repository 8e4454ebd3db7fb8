// Processes that each keep one core busy, for tests on a loaded machine. They end with the process that started them, however
// that ends: each looks whether its parent is still there, many times a second.
import { spawn } from 'node:child_process';

const LOOP = `const isOrphan = () => process.ppid !== Number(process.argv[1]);
while (!isOrphan()) for (let n = 0; n < 1e7; n += 1);`;
/** More would say nothing that these do not, and might stop the machine. */
const MOST = 64;

/** Starts this many loops; returns what ends them. */
export function startBusyLoops(count) {
  const loops = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', LOOP, String(process.pid)], { stdio: 'ignore' }),
  );
  return () => {
    for (const loop of loops) loop.kill('SIGKILL');
  };
}

/** The number in COLLOQUY_TEST_LOAD; 0 when it is not set. @throws in words when it is no number of loops. */
export function loopsWanted(text = '') {
  const count = text === '' ? 0 : Number(text);
  if (!Number.isInteger(count) || count < 0 || count > MOST)
    throw new Error(`COLLOQUY_TEST_LOAD=${text} is not a number of busy loops from 0 to ${MOST}`);
  return count;
}

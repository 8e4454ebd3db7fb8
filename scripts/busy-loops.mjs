// Processes that each keep one core busy, for tests on a loaded machine. Each checks for its parent many times a
// second, so all of them end with the process that started them, also when that is killed.
import { spawn } from 'node:child_process';

const LOOP = `const isOrphan = () => process.ppid !== Number(process.argv[1]);
while (!isOrphan()) for (let n = 0; n < 1e7; n += 1);`;
/** More loops would show nothing further, and might stop the machine. */
const MOST = 64;

/** Starts this many loops, and returns a function that ends them. */
export function startBusyLoops(count) {
  const loops = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', LOOP, String(process.pid)], { stdio: 'ignore' }),
  );
  return () => {
    for (const loop of loops) loop.kill('SIGKILL');
  };
}

/** The number in COLLOQUY_TEST_LOAD; 0 when unset. @throws when it is not a number of loops */
export function loopsWanted(text = '') {
  const count = text === '' ? 0 : Number(text);
  if (!Number.isInteger(count) || count < 0 || count > MOST)
    throw new Error(`COLLOQUY_TEST_LOAD=${text} is not a number of busy loops from 0 to ${MOST}`);
  return count;
}

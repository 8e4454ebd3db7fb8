/** Processes that do nothing but keep a core busy each. */
import { type ChildProcess, spawn } from 'node:child_process';

export interface BusyLoops {
  stop(): void;
}

export function startBusyLoops(count: number): BusyLoops {
  const loops: ChildProcess[] = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  const stop = (): void => {
    for (const loop of loops) loop.kill('SIGKILL');
    process.off('exit', stop);
  };
  process.once('exit', stop);
  return { stop };
}

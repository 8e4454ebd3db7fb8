/** Child processes that run a TypeScript file of the tests and talk by lines of JSON. Killed when the test ends. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { onTestFinished } from 'vitest';

export interface Child {
  readonly pid: number;
  /** Every line of JSON that the child has printed. */
  readonly lines: readonly unknown[];
  readonly errors: readonly string[];
  tell(value: unknown): void;
  kill(signal: NodeJS.Signals): void;
  /** Resolves with the exit code when it has ended. */
  readonly ended: Promise<number | null>;
}

/** `env`: added to the environment of this process. */
export function startChild(
  file: URL,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Child {
  const hooks = new URL('../typescript-hooks.mjs', import.meta.url);
  const child = spawn(process.execPath, ['--import', hooks.href, fileURLToPath(file), ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  const lines: unknown[] = [];
  const errors: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line)));
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return {
    pid: child.pid ?? 0,
    lines,
    errors,
    ended,
    tell: (value) => child.stdin.write(`${JSON.stringify(value)}\n`),
    kill: (signal) => child.kill(signal),
  };
}

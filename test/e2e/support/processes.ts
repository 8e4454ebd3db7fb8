/** Commands as a user runs them, and the processes that they leave behind. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { PATIENT_API } from '../../support/patience.js';
import { until } from '../../support/until.js';
import { DEV_SECRET } from './api.js';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
export const MAIN = `${ROOT}dist/cli/main.js`;

export interface Command {
  readonly pid: number;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** The exit code, or the signal that ended the command. */
  readonly ended: Promise<number | NodeJS.Signals>;
  kill(signal: NodeJS.Signals): void;
  /** Resolves with the whole output once it matches. @throws when the command ends first, or takes too long */
  prints(pattern: RegExp): Promise<string>;
}

const PATIENCE_MS = 60_000;

/** Starts a command, which is killed when the test ends. The command does not inherit settings of this process. */
export function start(
  executable: string,
  args: readonly string[],
  options: {
    readonly env?: NodeJS.ProcessEnv;
    readonly cwd?: string;
    /** Makes the command lead a process group of its own, so that a signal can reach the whole group. */
    readonly leads?: boolean;
  } = {},
): Command {
  const child = spawn(executable, args, {
    cwd: options.cwd ?? ROOT,
    detached: options.leads ?? false,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...cleanEnvironment(),
      ...PATIENT_API,
      COLLOQUY_DEV_SECRET: DEV_SECRET,
      ...options.env,
    },
  });
  const ended = endOf(child);
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const output = (): string => `${stdout()}${stderr()}`;
  return {
    pid: child.pid ?? 0,
    stdout,
    stderr,
    ended,
    kill: (signal) => child.kill(signal),
    prints: async (pattern) => {
      const look = (): string => {
        if (isOver && !pattern.test(output()))
          throw new Error(`ended without ${String(pattern)}:\n${output()}`);
        return output();
      };
      const what = `${args.join(' ')} prints ${String(pattern)}`;
      return await until(what, look, {
        holds: (text) => pattern.test(text),
        timeoutMs: PATIENCE_MS,
      });
    },
  };
}

/** Runs `colloquy` with the Node that runs the tests. */
export function colloquy(args: readonly string[], env: NodeJS.ProcessEnv = {}): Command {
  return start(process.execPath, [MAIN, ...args], { env });
}

/** Returns the stderr of a command that must fail. */
export async function failure(command: Command): Promise<string> {
  expect(await command.ended).toBe(1);
  expect(command.stdout()).toBe('');
  // A message, not an internal stack trace.
  expect(command.stderr()).not.toMatch(/^\s+at /m);
  return command.stderr();
}

/** All processes that inherited this variable, for any parent: leaving the process group does not hide them. */
export function processesWith(variable: string): readonly string[] {
  if (existsSync('/proc/self/environ'))
    return readdirSync('/proc')
      .filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid)
      .flatMap((pid) => {
        try {
          const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
          const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
          return environment.includes(variable) ? [`${pid} ${words}`] : [];
        } catch {
          // Ended in the meantime, or owned by another user.
          return [];
        }
      });
  const listed = execFileSync('ps', ['-A', '-E', '-ww', '-o', 'pid=,command='], {
    encoding: 'utf8',
  });
  return listed.split('\n').filter((line) => line.includes(variable));
}

/** Resolves when no process has the variable any more. */
export async function untilNoneLeft(variable: string): Promise<void> {
  await until('no process is left behind', () => processesWith(variable), {
    holds: (left) => left.length === 0,
  });
}

function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(COLLOQUY|TEMPORAL|OPENAI|DEMO|E2E)_|^(VITEST|NODE_ENV|TEST)/.test(name),
    ),
  );
}

function collect(stream: NodeJS.ReadableStream): () => string {
  let text = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    text += chunk;
  });
  return () => text;
}

async function endOf(child: ChildProcess): Promise<number | NodeJS.Signals> {
  return await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      resolve(signal ?? code ?? 1);
    });
  });
}

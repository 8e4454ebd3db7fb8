/** A process of the stack as its parent handles it: readiness, output lines, end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isRecord } from '../../protocol/values/json.js';

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));

export interface ChildOptions {
  readonly name: string;
  /** Arguments of the `colloquy` command, or of the script when `script` is set. */
  readonly args: readonly string[];
  readonly script?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly onLine?: (line: string, from: 'stdout' | 'stderr') => void;
  /** Answers a request of the process: a message with an `id`. Its rejection is the answer, too. */
  readonly onRequest?: (message: Readonly<Record<string, unknown>>) => Promise<object>;
}

export interface Child {
  readonly pid: number;
  /** The newest lines of its output, for error messages. */
  output(): string;
  /** Its exit code, or the signal that ended it; never rejects. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** True until the process has ended. */
  alive(): boolean;
  /** SIGKILL, like a crash. Resolves when the process is gone. */
  kill(): Promise<void>;
  /** SIGTERM, and SIGKILL after the grace period. Safe to repeat. */
  stop(graceMs?: number): Promise<void>;
}

const READY_TIMEOUT_MS = 90_000;
const KEPT_LINES = 60;

/** Starts a process and waits until it reports that it is ready. @throws when it ends or is silent for too long. */
export async function startChild(options: ChildOptions): Promise<Child> {
  const child = spawn(process.execPath, [options.script ?? MAIN, ...options.args], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...process.env, ...options.env },
  });
  const lines: string[] = [];
  for (const from of ['stdout', 'stderr'] as const) {
    const stream = child[from];
    if (stream === null) continue;
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      if (lines.length > KEPT_LINES) lines.shift();
      options.onLine?.(line, from);
    });
  }
  const output = (): string => lines.join('\n');
  if (options.onRequest !== undefined) answerRequests(child, options.onRequest);
  const handle = handleOf(child, output);
  try {
    await readiness(child);
  } catch (error) {
    await handle.kill();
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${options.name} did not start (${reason}):\n${output()}`, { cause: error });
  }
  return handle;
}

function answerRequests(
  child: ChildProcess,
  onRequest: NonNullable<ChildOptions['onRequest']>,
): void {
  child.on('message', (message) => {
    if (!isRecord(message) || typeof message['id'] !== 'string') return;
    const { id } = message;
    const send = (answer: object): void => {
      if (child.connected) child.send({ id, ...answer });
    };
    onRequest(message).then(send, (error: unknown) => {
      send({ error: error instanceof Error ? error.message : String(error) });
    });
  });
}

async function readiness(child: ChildProcess): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`not ready after ${READY_TIMEOUT_MS / 1_000} s`));
    }, READY_TIMEOUT_MS);
    const done = (action: () => void): void => {
      clearTimeout(timer);
      action();
    };
    child.once('message', () => {
      done(resolve);
    });
    child.once('error', (error) => {
      done(() => {
        reject(error);
      });
    });
    child.once('exit', (code, signal) => {
      done(() => {
        reject(new Error(`ended with ${signal ?? `code ${String(code)}`}`));
      });
    });
  });
}

function handleOf(child: ChildProcess, output: () => string): Child {
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('exit', (code, signal) => {
      resolve(signal ?? code ?? 1);
    });
    child.once('error', () => {
      resolve(1);
    });
  });
  const alive = (): boolean => child.exitCode === null && child.signalCode === null;
  return {
    pid: child.pid ?? 0,
    output,
    ended,
    alive,
    kill: async () => {
      if (alive()) child.kill('SIGKILL');
      await ended;
    },
    stop: async (graceMs = 10_000) => {
      if (alive()) child.kill('SIGTERM');
      await Promise.race([ended, delay(graceMs, undefined, { ref: false })]);
      if (alive()) child.kill('SIGKILL');
      await ended;
    },
  };
}

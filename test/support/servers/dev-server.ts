/** Real Temporal dev servers for tests and benchmarks: on loopback, with a database file, killable and restartable. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Connection } from '@temporalio/client';
import { PATIENCE } from '../patience.js';

export interface DevServerOptions {
  /** Default: one in a temporary folder, removed by `stop` or at the end of the process; `kill` leaves it for a restart. */
  readonly dbFile?: string;
  /** Default: a free one. Give the one of the first server to restart where clients expect it. */
  readonly port?: number;
  /** Default: no UI. */
  readonly uiPort?: number;
  /** Such as `{ 'limit.historyCount.suggestContinueAsNew': 50 }`, beside the project's own values. */
  readonly dynamicConfig?: Readonly<Record<string, unknown>>;
}

export interface DevServer {
  /** `127.0.0.1:<port>` */
  readonly address: string;
  readonly port: number;
  readonly pid: number;
  readonly dbFile: string;
  /** Asks the server to end and waits until it has. */
  stop(): Promise<void>;
  /** `kill -9`, and waits until the process is gone. */
  kill(): Promise<void>;
}

const READY_MS = 30_000 * PATIENCE;
const STOP_MS = 10_000;

/** A server that ends at once, such as one whose port was taken meanwhile, is started a second time. */
export async function startDevServer(options: DevServerOptions = {}): Promise<DevServer> {
  try {
    return await startOnce(options);
  } catch (error) {
    if (!(error instanceof EndedAtOnce) || options.port !== undefined) throw error;
    return await startOnce(options);
  }
}

class EndedAtOnce extends Error {}

async function startOnce(options: DevServerOptions): Promise<DevServer> {
  const ownFolder =
    options.dbFile === undefined ? mkdtempSync(join(tmpdir(), 'colloquy-temporal-')) : undefined;
  const dbFile = options.dbFile ?? join(ownFolder ?? tmpdir(), 'temporal.db');
  const port = options.port ?? (await freePort());
  const child = spawn(temporalDev('--print-binary'), serverArgs(port, dbFile, options), {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const end = endOf(child);
  const onExit = (): void => {
    child.kill('SIGKILL');
    if (ownFolder !== undefined) rmSync(ownFolder, { recursive: true, force: true });
  };
  process.once('exit', onExit);
  const release = (): void => {
    process.off('exit', onExit);
    if (ownFolder !== undefined) rmSync(ownFolder, { recursive: true, force: true });
  };
  const address = `127.0.0.1:${String(port)}`;
  try {
    await untilReady(address, end);
  } catch (error) {
    child.kill('SIGKILL');
    release();
    throw error;
  }
  return {
    address,
    port,
    pid: child.pid ?? 0,
    dbFile,
    async stop() {
      child.kill('SIGTERM');
      const killer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await end.promise;
      clearTimeout(killer);
      release();
    },
    async kill() {
      child.kill('SIGKILL');
      await end.promise;
    },
  };
}

/** Runs `temporal-dev.sh`, which owns versions, checksums and the arguments of every dev server of the project. */
export function temporalDev(question: `--print-${string}`): string {
  const script = join(projectRoot(), 'temporal-dev.sh');
  return execFileSync(script, [question], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim();
}

/** Below the ports that Linux, macOS and Windows give to outgoing connections, so that none of those takes it. */
const FIRST_PORT = 12_000;
const LAST_PORT = 31_000;
/** A Temporal server that `npm start` runs serves its UI at its port plus this. */
const UI_OFFSET = 1_000;

/** A port of loopback that is free, and so is the one of the Temporal UI beside it. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    if ((await isFree(port)) && (await isFree(port + UI_OFFSET))) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}

function serverArgs(port: number, dbFile: string, options: DevServerOptions): string[] {
  const ui = options.uiPort === undefined ? ['--headless'] : ['--ui-port', String(options.uiPort)];
  const extra = Object.entries(options.dynamicConfig ?? {}).flatMap(([key, value]) => [
    '--dynamic-config-value',
    `${key}=${JSON.stringify(value)}`,
  ]);
  return [
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), ...ui],
    ...['--log-level', 'error', '--db-filename', dbFile],
    ...temporalDev('--print-server-args').split('\n'),
    ...extra,
  ];
}

interface ProcessEnd {
  readonly promise: Promise<void>;
  readonly done: () => boolean;
  readonly output: () => string;
}

function endOf(child: ChildProcess): ProcessEnd {
  let output = '';
  let done = false;
  const keep = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-4_000);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  const promise = new Promise<void>((resolve) => {
    const finish = (): void => {
      done = true;
      resolve();
    };
    child.once('exit', finish);
    child.once('error', (error) => {
      output += error.message;
      finish();
    });
  });
  return { promise, done: () => done, output: () => output };
}

async function untilReady(address: string, end: ProcessEnd): Promise<void> {
  const deadline = Date.now() + READY_MS;
  let last: unknown;
  while (Date.now() < deadline) {
    if (end.done()) throw new EndedAtOnce(`the Temporal dev server ended at once: ${end.output()}`);
    try {
      // First the bare port: a refused gRPC connection is tried again only after a second.
      await untilOpen(address);
      const connection = await Connection.connect({ address, connectTimeout: 1_000 });
      try {
        await connection.workflowService.describeNamespace({ namespace: 'default' });
        return;
      } finally {
        await connection.close();
      }
    } catch (error) {
      last = error;
      await sleep(50);
    }
  }
  throw new Error(
    `the Temporal dev server at ${address} was not ready after ${String(READY_MS)} ms: ${String(last)}\n${end.output()}`,
  );
}

async function untilOpen(address: string): Promise<void> {
  const [host, port] = address.split(':');
  const socket = connect({ host, port: Number(port) });
  try {
    await once(socket, 'connect');
  } finally {
    socket.destroy();
  }
}

/** The folder with `package.json`, from the source as from the compiled file. */
function projectRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
}

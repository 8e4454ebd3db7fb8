/**
 * The processes of a run: one Temporal server, the engine's stack as users run it, the floor's worker, the load
 * generator.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Child, startChild, startStack } from 'colloquy/dev';
import { startDevServer } from '../../test/support/servers/dev-server.js';
import { collectable } from '../engine/collected.js';
import type { LoadConfig, LoadReply, LoadRequest } from '../shared/cells.js';

export interface Bench {
  /** @throws the load generator's message when a measurement failed */
  ask<Result>(request: LoadRequest): Promise<Result>;
  /** Kills the engine's worker and starts another. Returns when that one polls. */
  restartWorker(): Promise<void>;
  stop(): Promise<void>;
}

export interface BenchOptions {
  /** Environment of the engine's worker and API processes, such as NODE_OPTIONS=--cpu-prof. */
  readonly engineEnv?: NodeJS.ProcessEnv;
  readonly onLine?: (line: string, from: string) => void;
}

const AGENTS = fileURLToPath(new URL('../engine/agents.js', import.meta.url));
const FLOOR_WORKER = fileURLToPath(new URL('../floor/worker.js', import.meta.url));
const FLOOR_API = fileURLToPath(new URL('../floor/api.js', import.meta.url));
const LOAD = fileURLToPath(new URL('../load/main.js', import.meta.url));

/** Starts everything, and stops the started parts when one of them fails. */
export async function startBench(options: BenchOptions = {}): Promise<Bench> {
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (let next = stops.pop(); next !== undefined; next = stops.pop()) await next();
  };
  try {
    const dataDir = await mkdtemp(join(tmpdir(), 'colloquy-bench-'));
    stops.push(() => rm(dataDir, { recursive: true, force: true }));
    const server = await startDevServer({ dbFile: join(dataDir, 'temporal.db') });
    stops.push(() => server.stop());
    const stack = await startStack({
      agentsModule: AGENTS,
      dataDir,
      apiPort: 0,
      temporalAddress: server.address,
      env: { ...collectable(dataDir), ...options.engineEnv },
      ...(options.onLine === undefined ? {} : { onLine: options.onLine }),
    });
    stops.push(() => stack.stop());
    const startFloor = async (name: string, script: string): Promise<Child> => {
      const child = await startChild({
        name,
        args: [],
        script,
        env: { TEMPORAL_ADDRESS: server.address },
        onLine: (line) => options.onLine?.(line, name),
      });
      stops.push(() => child.stop());
      return child;
    };
    const floor = await startFloor('floor worker', FLOOR_WORKER);
    const floorApi = await startFloor('floor api', FLOOR_API);
    const load = await startLoad({
      address: server.address,
      apiUrl: stack.apiUrl,
      apiHeaders: stack.apiHeaders,
      floorUrl: `http://127.0.0.1:${floorApi.output().trim()}`,
      logFile: join(dataDir, 'log.db'),
      pids: {
        server: server.pid,
        worker: stack.worker().pid,
        api: stack.api.pid,
        floorWorker: floor.pid,
        floorApi: floorApi.pid,
      },
    });
    stops.push(() => endOf(load));
    const restartWorker = async (): Promise<void> => {
      await stack.worker().kill();
      const { pid } = await stack.startWorker();
      await ask(load, { type: 'pid', name: 'worker', pid });
    };
    return { ask: (request) => ask(load, request), restartWorker, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startLoad(config: LoadConfig): Promise<ChildProcess> {
  const child = fork(LOAD, [JSON.stringify(config)]);
  await nextReply(child);
  return child;
}

async function ask<Result>(load: ChildProcess, request: LoadRequest): Promise<Result> {
  const answered = nextReply(load);
  load.send(request);
  const reply = await answered;
  if (reply.type === 'failed') throw new Error(reply.message);
  if (reply.type !== 'result') throw new Error(`the load generator said ${reply.type}`);
  return reply.result as Result;
}

function nextReply(child: ChildProcess): Promise<LoadReply> {
  return new Promise((resolve, reject) => {
    const ended = (): void => {
      reject(new Error('the load generator ended'));
    };
    child.once('exit', ended);
    child.once('message', (reply) => {
      child.off('exit', ended);
      resolve(reply as LoadReply);
    });
  });
}

async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => {
      resolve();
    });
  });
  child.disconnect();
  const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await ended;
  clearTimeout(timer);
}

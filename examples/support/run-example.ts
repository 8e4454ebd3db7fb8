/** Starts the surroundings of an example for one run: Temporal, an event log, a worker and the HTTP API. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { ConversationClient } from 'colloquy/client';
import { ensureTemporal } from 'colloquy/dev';
import {
  type MakeRoutes,
  type OpenedColloquy,
  openColloquy,
  type ServedAgents,
} from 'colloquy/engine';
import { developmentIdentity, serve } from 'colloquy/http';

export interface ExampleApp {
  readonly colloquy: OpenedColloquy;
  readonly client: ConversationClient;
  /** Address of the HTTP API, without a slash at its end. */
  readonly api: string;
  /** Headers of requests to it. */
  readonly headers: Readonly<Record<string, string>>;
  /** The id of a conversation, which no earlier run on the same Temporal server has used. */
  readonly idOf: (name: string) => string;
  readonly note: (text: string) => void;
}

/** Beside the agents, routes of the example in the API. */
export type Served<Services> = ServedAgents<Services> & { readonly routes?: MakeRoutes };

/**
 * Runs an example from start to end, and stops everything that it has started. The process ends with 1 when the scene
 * throws.
 */
export async function runExample<Services>(
  { routes, ...served }: Served<Services>,
  scene: (app: ExampleApp) => Promise<void>,
): Promise<void> {
  // Without its lines about the start and the end of the worker.
  Runtime.install({ logger: new DefaultLogger('WARN') });
  const folder = await mkdtemp(join(tmpdir(), 'colloquy-example-'));
  const closers = [() => rm(folder, { recursive: true, force: true })];
  try {
    const temporal = await ensureTemporal({ dbFile: join(folder, 'temporal.db') });
    closers.unshift(() => temporal.stop({ discards: true }));
    const colloquy = await openColloquy({
      store: join(folder, 'log.db'),
      temporal: { address: temporal.address },
      taskQueue: `colloquy-example-${process.pid}`,
      actor: { id: 'example' },
      // Above 1 where the machine is slow.
      patience: Number(process.env['COLLOQUY_PATIENCE'] ?? 1),
      retryForMs: 5_000,
    });
    closers.unshift(() => colloquy.close());
    const working = await startWorker(colloquy, served);
    closers.unshift(working.stop);
    const secret = randomBytes(24).toString('base64url');
    const identity = developmentIdentity({ secret });
    const api = await serve(await colloquy.app({ ...identity, routes }), { port: 0 });
    closers.unshift(() => api.close());
    const headers = { authorization: `Bearer ${secret}` };
    const app = { colloquy, client: colloquy.client, api: api.url, headers, idOf, note };
    await Promise.race([scene(app), working.failed]);
    note('ok');
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  } finally {
    for (const close of closers) await close();
  }
}

async function startWorker<Services>(colloquy: OpenedColloquy, served: ServedAgents<Services>) {
  const worker = await colloquy.worker(served);
  const running = worker.run();
  const failed = running.then(() => {
    throw new Error('the worker has stopped');
  });
  failed.catch(() => undefined);
  return {
    failed,
    stop: async () => {
      worker.shutdown();
      await running.catch(() => undefined);
    },
  };
}

const begun = Date.now();

function idOf(name: string): string {
  return `${name}-${begun.toString(36)}`;
}

function note(text: string): void {
  console.log(`${((Date.now() - begun) / 1_000).toFixed(1).padStart(5)} s  ${text}`);
}

/** Asks until the answer is not undefined any more. @throws after 30 seconds */
export async function eventually<Value>(
  what: string,
  ask: () => Promise<Value | undefined>,
): Promise<Value> {
  const giveUpAt = Date.now() + 30_000;
  for (;;) {
    const value = await ask();
    if (value !== undefined) return value;
    if (Date.now() > giveUpAt) throw new Error(`${what}: not within 30 seconds`);
    await sleep(100);
  }
}

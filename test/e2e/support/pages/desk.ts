/** The example `space-page` as an installation: Temporal, a worker and the site with its API, each a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CanonicalEvent } from 'colloquy/client';
import { type Child, startChild } from 'colloquy/dev';
import { PATIENT_API } from '../../../support/patience.js';
import { freePort, startDevServer } from '../../../support/servers/dev-server.js';
import { until } from '../../../support/until.js';
import { call } from '../api.js';
import { ROOT } from '../processes.js';

const EXAMPLE = join(ROOT, 'dist', 'examples', 'space-page');
const TOKEN = 'token-of-the-tests-with-32-characters';

export interface Desk {
  /** Address of the page, with the token of the person. */
  readonly address: string;
  readonly worker: Kept;
  readonly site: Kept;
  /** The texts of the space that have woken an agent. */
  received(agent: 'support' | 'analyst'): Promise<readonly string[]>;
  /** Refunds that were made, one for each run of the tool. */
  refunds(): Promise<number>;
  stop(): Promise<void>;
}

/** A process that can be killed and started again. */
export interface Kept {
  kill(): Promise<void>;
  start(): Promise<void>;
}

export async function startDesk(): Promise<Desk> {
  const folder = await mkdtemp(join(tmpdir(), 'colloquy-desk-'));
  const closers = [() => rm(folder, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    const server = await startDevServer({ dbFile: join(folder, 'temporal.db') });
    closers.push(() => server.stop());
    const ledger = join(folder, 'refunds.jsonl');
    const env = {
      ...PATIENT_API,
      TEMPORAL_ADDRESS: server.address,
      COLLOQUY_DATA: folder,
      COLLOQUY_LOG_LEVEL: 'warn',
      SPACE_PAGE_LEDGER: ledger,
    };
    const worker = workerWith(env);
    closers.push(() => worker.kill());
    const siteEnv = {
      ...env,
      PORT: String(await freePort()),
      SPACE_PAGE_TOKEN: TOKEN,
      SPACE_PAGE_STORE: join(folder, 'log.db'),
    };
    const site = siteWith(siteEnv);
    closers.push(() => site.kill());
    await worker.start();
    await site.start();
    const refunds = async (): Promise<number> =>
      (await readFile(ledger, 'utf8').catch(() => '')).split('\n').length - 1;
    const received: Desk['received'] = (agent) => textsIn(new URL(site.address()).origin, agent);
    return { address: site.address(), worker, site, received, refunds, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function textsIn(url: string, agent: string): Promise<readonly string[]> {
  const path = `${url}/v1/conversations/desk-${agent}/events?limit=1000`;
  const { body } = await call(path, { headers: { authorization: `Bearer ${TOKEN}` } });
  return (body['events'] as readonly CanonicalEvent[]).flatMap((event) =>
    event.type === 'inbox_event' ? [(event.payload as { readonly text: string }).text] : [],
  );
}

function workerWith(env: Readonly<Record<string, string>>): Kept {
  let running: Child | undefined;
  return {
    kill: async () => await running?.kill(),
    start: async () => {
      const args = ['worker', '--agents', join(EXAMPLE, 'agents.js')];
      running = await startChild({ name: 'worker', args, env });
    },
  };
}

function siteWith(
  env: Readonly<Record<string, string>>,
): Kept & { readonly address: () => string } {
  let end: (() => Promise<void>) | undefined;
  let address = '';
  return {
    address: () => address,
    kill: async () => await end?.(),
    start: async () => {
      const child = spawn(process.execPath, [join(EXAMPLE, 'server.js')], {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, ...env },
      });
      const ended = once(child, 'exit');
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (chunk: string) => {
          output += chunk;
        });
      end = async () => {
        child.kill('SIGKILL');
        await ended;
      };
      await until('the site prints its address', () => {
        if (child.exitCode !== null) throw new Error(`the site has ended:\n${output}`);
        return /^open (\S+)$/m.test(output);
      });
      address = /^open (\S+)$/m.exec(output)?.[1] ?? '';
    },
  };
}

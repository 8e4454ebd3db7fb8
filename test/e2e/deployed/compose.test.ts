/**
 * The processes of deploy/compose.yaml with its commands and variables, without Docker: two workers and two API
 * processes on one Postgres, and the health checks of the file.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type ComposeService, composeServices } from '../../support/networks/compose.js';
import { startTestPostgres } from '../../support/networks/postgres-server.js';
import { patient } from '../../support/patience.js';
import { freePort, startDevServer } from '../../support/servers/dev-server.js';
import { temporaryFolder } from '../../support/temporary.js';
import { until } from '../../support/until.js';
import { DEV_SECRET } from '../support/api.js';
import { type Command, colloquy, ROOT } from '../support/processes.js';
import { Talk } from '../support/talk.js';

const AGENTS = join(ROOT, 'dist', 'examples', 'getting-started', 'agents.js');

interface Running {
  readonly name: string;
  readonly command: Command;
  /** Runs the health check of the file, at the port that the process has here. */
  readonly isHealthy: () => boolean;
  readonly port: number;
}

/** Starts a process of the file. Only the addresses differ: here all share one machine. */
async function started(
  name: string,
  service: ComposeService,
  addresses: { readonly temporal: string; readonly database: string },
): Promise<Running> {
  const { command: words = [], environment = {}, healthcheck } = service;
  const port = await freePort();
  const env: Record<string, string> = {};
  for (const [variable, value] of Object.entries(environment))
    if (value !== null) env[variable] = value;
  const place = 'COLLOQUY_HEALTH_PORT' in env ? 'COLLOQUY_HEALTH_PORT' : 'COLLOQUY_PORT';
  const metrics = 'COLLOQUY_METRICS' in env ? 'COLLOQUY_METRICS' : 'COLLOQUY_API_METRICS';
  const own = env[place] ?? '';
  Object.assign(env, {
    TEMPORAL_ADDRESS: addresses.temporal,
    COLLOQUY_DATABASE_URL: addresses.database,
    COLLOQUY_DATA: temporaryFolder(),
    COLLOQUY_DEV_SECRET: DEV_SECRET,
    [place]: String(port),
    [metrics]: `127.0.0.1:${await freePort()}`,
  });
  const args = words.map((word) => (word === 'agents.ts' ? AGENTS : word));
  const [, executable = '', ...check] = healthcheck.test;
  const here = check.map((word) => word.replace(`:${own}/`, `:${port}/`));
  expect(executable).toBe('node');
  return {
    name,
    command: colloquy(args, env),
    isHealthy: () => spawnSync(process.execPath, here).status === 0,
    port,
  };
}

it('two workers and two API processes share one Postgres, are healthy, and stop in order', {
  timeout: patient(180_000),
}, async () => {
  const postgres = await startTestPostgres();
  onTestFinished(() => postgres.stop());
  const server = await startDevServer();
  onTestFinished(() => server.stop());
  const addresses = { temporal: server.address, database: postgres.url };
  const running: Running[] = [];
  for (const [name, service] of Object.entries(composeServices()))
    if (service.build !== undefined) running.push(await started(name, service, addresses));
  expect(running.map(({ name }) => name).sort()).toEqual([
    'api-1',
    'api-2',
    'worker-1',
    'worker-2',
  ]);
  for (const { name, isHealthy } of running)
    await until(`${name} is healthy`, () => isHealthy(), { timeoutMs: 60_000 });

  const apis = running.filter(({ name }) => name.startsWith('api'));
  const [first, second] = apis.map(
    ({ port }) => new Talk('shared', () => `http://127.0.0.1:${port}`),
  );
  await first?.begin('support', 'My order arrived broken.');
  const [call] = (await second?.waitingCalls(1)) ?? [];
  const answer = await second?.resolve(call?.toolCallId ?? '', { type: 'approve' });
  expect(answer?.body).toMatchObject({ verdict: 'accepted' });
  expect(await first?.ended()).toMatchObject({ status: 'completed', text: 'You get 75.00 back.' });

  for (const { command } of running) command.kill('SIGTERM');
  expect(await Promise.all(running.map(({ command }) => command.ended))).toEqual([0, 0, 0, 0]);
});

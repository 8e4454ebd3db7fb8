/** Health ports and metrics of processes, as an orchestrator and Prometheus ask for them. */
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { promise } from '../../support/promise.js';
import { freePort, startDevServer } from '../../support/servers/dev-server.js';
import { temporaryFolder } from '../../support/temporary.js';
import { until } from '../../support/until.js';
import { IDENTIFIED } from '../support/api.js';
import { colloquy, ROOT } from '../support/processes.js';

const AGENTS = join(ROOT, 'dist', 'examples', 'demo', 'agents.js');

interface Seen {
  readonly status: number;
  readonly text: string;
}

const look = async (url: string): Promise<Seen> => {
  const response = await fetch(url, { headers: IDENTIFIED });
  return { status: response.status, text: await response.text() };
};

it('a worker is alive before Temporal is up, ready when it polls, and not ready when Temporal is gone', {
  ...promise('G345'),
}, async () => {
  const port = await freePort();
  const healthPort = await freePort();
  const env = {
    TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
    COLLOQUY_DATA: temporaryFolder(),
    COLLOQUY_HEALTH_PORT: String(healthPort),
    OPENAI_API_KEY: 'none',
    OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
  };
  const url = `http://127.0.0.1:${healthPort}`;
  const args = ['worker', '--agents', AGENTS, '--retry', '90'];
  const worker = colloquy(args, env);
  await worker.prints(/Trying again/);
  expect(await look(`${url}/healthz`)).toMatchObject({ status: 200 });
  const starting = await look(`${url}/readyz`);
  expect(starting).toEqual({ status: 503, text: expect.stringContaining('starting') as string });

  const server = await startDevServer({ port });
  onTestFinished(() => server.stop());
  await worker.prints(new RegExp(`^worker .*health ${url}`, 'm'));
  await until('it is ready', () => look(`${url}/readyz`), {
    holds: ({ status }) => status === 200,
  });
  const second = colloquy(args, { ...env, COLLOQUY_DATA: temporaryFolder() });
  expect(await second.ended).toBe(1);
  expect(second.stderr()).toContain(`127.0.0.1:${healthPort}`);
  expect(second.stderr()).toContain('COLLOQUY_HEALTH_PORT');

  await server.stop();
  const gone = await until('it is not ready', () => look(`${url}/readyz`), {
    holds: ({ status }) => status === 503,
  });
  expect(gone.text).toContain(`Temporal at 127.0.0.1:${port} does not answer`);
  expect((await look(`${url}/healthz`)).status).toBe(200);
});

it('an API serves its metrics at an address of their own, and says that it drains while it still serves', {
  ...promise('G346'),
}, async () => {
  const server = await startDevServer();
  onTestFinished(() => server.stop());
  const metrics = `127.0.0.1:${await freePort()}`;
  const env = {
    TEMPORAL_ADDRESS: server.address,
    COLLOQUY_DATA: temporaryFolder(),
    COLLOQUY_API_METRICS: metrics,
  };
  const api = colloquy(['serve', '--port', '0', '--drain', '600'], env);
  const [, url = ''] = /(http:\S+)/.exec(await api.prints(/^api +http/m)) ?? [];
  expect((await look(`${url}/readyz`)).status).toBe(200);
  expect((await look(`${url}/metrics`)).status).toBe(404);
  const { text } = await look(`http://${metrics}/metrics`);
  expect(text).toMatch(
    /^colloquy_http_requests_total\{method="GET",route="\/readyz",status="200"\} 1$/m,
  );
  expect(text).toMatch(/^colloquy_store_up 1$/m);
  expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds \S+$/m);
  const other = colloquy(['serve', '--port', '0'], { ...env, COLLOQUY_DATA: temporaryFolder() });
  expect(await other.ended).toBe(1);
  expect(other.stderr()).toContain(`COLLOQUY_API_METRICS: cannot listen on ${metrics}`);

  api.kill('SIGTERM');
  await until('it is not ready', () => look(`${url}/readyz`), {
    holds: ({ status, text: said }) => status === 503 && said.includes('draining'),
  });
  expect((await look(`${url}/v1/conversations`)).status).toBe(200);
  expect((await look(`http://${metrics}/metrics`)).status).toBe(200);
});

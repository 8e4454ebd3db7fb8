/** `colloquy serve` and `colloquy dev` with routes of the application beside those of the API. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { promise } from '../../support/promise.js';
import { type DevServer, startDevServer } from '../../support/servers/dev-server.js';
import { temporaryFolder } from '../../support/temporary.js';
import { call } from '../support/api.js';
import { colloquy, failure, ROOT } from '../support/processes.js';

/** Exports a catalog of agents, and the routes of Hsafa. */
const GATEWAY = join(ROOT, 'dist', 'examples', 'hsafa-gateway', 'agents.js');

let server: DevServer;
beforeAll(async () => {
  server = await startDevServer();
});
afterAll(() => server.stop());

const settings = (): NodeJS.ProcessEnv => ({
  TEMPORAL_ADDRESS: server.address,
  COLLOQUY_DATA: temporaryFolder(),
});

it('serves the routes of a module under the identity of the API, and its own routes', {
  ...promise('G425'),
}, async () => {
  const api = colloquy(['serve', '--port', '0', '--routes', GATEWAY], settings());
  const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(await api.prints(/^api {5}http/m)) ?? [];
  const agents = await call(`${url}/api/agents`);
  expect([agents.status, agents.body]).toEqual([200, { agents: [] }]);
  expect((await call(`${url}/api/agents`, { headers: { authorization: '' } })).status).toBe(401);
  const document = { name: 'clerk', model: 'scripted', systemPrompt: 'Take orders.' };
  const put = await call(`${url}/api/agents/clerk`, { method: 'PUT', body: document });
  expect([put.status, put.body['version']]).toEqual([200, 1]);
  expect((await call(`${url}/v1/agents`)).status).toBe(200);
  api.kill('SIGTERM');
  expect(await api.ended).toBe(0);
});

it('has them in the development stack as well', promise('G425'), async () => {
  const args = ['dev', '--agents', GATEWAY, '--routes', GATEWAY, '--port', '0', '--no-watch'];
  const stack = colloquy(args, settings());
  const [url = ''] =
    /http:\/\/127\.0\.0\.1:\d+(?= {2}\(development)/.exec(await stack.prints(/^Ctrl-C stops/m)) ??
    [];
  expect((await call(`${url}/api/agents`)).body).toEqual({ agents: [] });
  stack.kill('SIGINT');
  expect(await stack.ended).toBe(0);
});

it('does not start with a module that makes none', promise('G425'), async () => {
  const file = join(temporaryFolder(), 'routes.mjs');
  writeFileSync(file, 'export const routes = () => undefined;');
  const env = settings();
  const serve = (module: string) =>
    failure(colloquy(['serve', '--port', '0', '--routes', module], env));
  expect(await serve(file)).toContain(`routes() of ${file} must return an Express router`);
  expect(await serve(`${file}.missing`)).toContain(`cannot load ${file}.missing`);
});

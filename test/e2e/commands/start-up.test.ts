/** The messages of processes that cannot start: the attempted address, file or setting, and the next command. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { promise } from '../../support/promise.js';
import { type DevServer, freePort, startDevServer } from '../../support/servers/dev-server.js';
import { temporaryFolder } from '../../support/temporary.js';
import { until } from '../../support/until.js';
import { call } from '../support/api.js';
import { type Command, colloquy, failure, MAIN, ROOT, start } from '../support/processes.js';

const AGENTS = join(ROOT, 'dist', 'examples', 'demo', 'agents.js');
const MODEL = { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' };

let server: DevServer;
beforeAll(async () => {
  server = await startDevServer();
});
afterAll(() => server.stop());

/** Settings of a process on the shared server, with data and a task queue of its own. */
function settings(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const folder = temporaryFolder();
  return {
    ...MODEL,
    TEMPORAL_ADDRESS: server.address,
    COLLOQUY_DATA: folder,
    COLLOQUY_TASK_QUEUE: `queue-${folder.slice(-6)}`,
    ...more,
  };
}

function moduleWith(source: string): string {
  const file = join(temporaryFolder(), 'agents.mjs');
  // The package name cannot be resolved outside of the project.
  writeFileSync(file, source.replaceAll("'colloquy'", `'file://${ROOT}dist/index.js'`));
  return file;
}

describe('without a Temporal server', () => {
  it.each([
    ['worker', ['worker', '--agents', AGENTS, '--retry', '0']],
    ['API', ['serve', '--port', '0', '--retry', '0']],
  ])(
    'the %s ends within seconds, and prints the address and how to start a server',
    async (_, args) => {
      const address = `127.0.0.1:${await freePort()}`;
      const startedAt = Date.now();
      const said = await failure(colloquy(args, settings({ TEMPORAL_ADDRESS: address })));
      expect(said).toContain(`No Temporal server answers at ${address}`);
      expect(said).toContain('Start one: ./temporal-dev.sh');
      expect(said).toContain('TEMPORAL_ADDRESS');
      expect(Date.now() - startedAt).toBeLessThan(20_000);
    },
  );

  it('worker and API wait for a server if configured so, and serve as soon as it is up', {
    ...promise('G289'),
  }, async () => {
    const port = await freePort();
    const env = settings({ TEMPORAL_ADDRESS: `127.0.0.1:${port}` });
    const worker = colloquy(['worker', '--agents', AGENTS, '--retry', '90'], env);
    const api = colloquy(['serve', '--port', '0', '--retry', '90'], env);
    await Promise.all([worker.prints(/Trying again/), api.prints(/Trying again/)]);
    const late = await startDevServer({ port });
    onTestFinished(() => late.stop());
    await worker.prints(/^worker .*agents support/m);
    const url = await urlOf(api);
    expect(await call(`${url}/readyz`)).toMatchObject({ status: 200, body: { status: 'ready' } });
    worker.kill('SIGTERM');
    api.kill('SIGTERM');
    expect(await Promise.all([worker.ended, api.ended])).toEqual([0, 0]);
  });
});

describe('without a Postgres server', () => {
  it.each([
    ['worker', ['worker', '--agents', AGENTS]],
    ['API', ['serve', '--port', '0']],
    ['command on conversations', ['list']],
    ['command of an operator', ['delete', '--conversation', 'order-42']],
  ])('the %s tries again for as long as it may, then names the database', async (_, args) => {
    const port = await freePort();
    const env = { COLLOQUY_DATABASE_URL: `postgres://app:secret@127.0.0.1:${port}/talks` };
    const said = await failure(colloquy([...args, '--retry', '1'], settings(env)));
    expect(said).toContain('Trying again');
    expect(said).toMatch(new RegExp(`^colloquy: .*127\\.0\\.0\\.1:${port}/talks`, 'm'));
    expect(said).not.toContain('secret');
  });
});

describe('pages of other origins', () => {
  it('may use the API of a process that lists them', async () => {
    const env = settings({ COLLOQUY_CORS_ORIGINS: 'https://app.example' });
    const url = await urlOf(colloquy(['serve', '--port', '0'], env));
    const allowed = async (origin: string): Promise<string | null> => {
      const { headers } = await fetch(`${url}/v1/agents`, { headers: { origin } });
      return headers.get('access-control-allow-origin');
    };
    expect(await allowed('https://app.example')).toBe('https://app.example');
    expect(await allowed('https://other.example')).toBeNull();
  });
});

describe('without a worker', () => {
  it('a message to an agent that was never served is refused, with the next command', async () => {
    const api = colloquy(['serve', '--port', '0'], settings());
    const reply = await call(`${await urlOf(api)}/v1/conversations`, {
      body: { agent: 'support', message: 'hello' },
    });
    expect(reply).toMatchObject({ status: 404, body: { code: 'unknown_agent' } });
    expect(reply.body['detail']).toContain('start a worker (npx colloquy worker');
  });

  it('a message to a known agent is queued, with a warning that no worker polls the queue', {
    ...promise('G290'),
  }, async () => {
    const env = settings();
    const worker = colloquy(['worker', '--agents', AGENTS], env);
    await worker.prints(/^worker /m);
    worker.kill('SIGTERM');
    await worker.ended;
    // A queue that no worker ever polled.
    const api = colloquy(['serve', '--port', '0'], { ...env, COLLOQUY_TASK_QUEUE: 'nobody' });
    const reply = await call(`${await urlOf(api)}/v1/conversations`, {
      body: { agent: 'support', message: 'hello' },
    });
    expect(reply).toMatchObject({ status: 202, body: { status: 'queued' } });
    expect(reply.body['warning']).toBe(
      'No worker polls task queue "nobody" (the server has seen none lately). Start one: npx colloquy worker --agents <module> - unless Temporal was just restarted: running workers are back within about 10 s',
    );
  });
});

describe('a port that is taken', () => {
  it(
    'is named, with how to find the process that uses it and how to choose another port',
    promise('G288'),
    async () => {
      const other = createServer().listen(0, '127.0.0.1');
      await until('the port is taken', () => other.listening);
      onTestFinished(() => {
        other.close();
      });
      const { port } = other.address() as AddressInfo;
      const said = await failure(colloquy(['serve', '--port', String(port)], settings()));
      expect(said).toContain(`Port ${port} on 127.0.0.1 is taken`);
      expect(said).toContain(`ss -ltnp 'sport = :${port}'`);
      expect(said).toContain(`COLLOQUY_PORT=${port + 1}`);
    },
  );
});

describe('an agents module', () => {
  const agent = (name: string): string => `defineAgent({
    name: '${name}', model: { name: 'none', generate: () => { throw new Error('no model'); } }, instructions: 'x', tools: [],
  })`;
  const define = "import { defineAgent } from 'colloquy';";

  it.each([
    ['that does not exist', undefined, /Cannot load agents from .*nowhere\.mjs/],
    ['that throws', "throw new Error('no database');", /Cannot load agents from .*: no database/],
    ['without agents', 'export const answer = 42;', /exports no agent.*export const support = /],
    [
      'with two agents of one name',
      `${define} export const a = ${agent('twin')}; export const b = ${agent('twin')};`,
      /exports two agents named "twin"; names must be unique/,
    ],
    [
      'whose services cannot be made',
      `${define} export const a = ${agent('one')}; export const services = () => { throw new Error('no vault'); };`,
      /services\(\) of .*agents\.mjs failed: no vault/,
    ],
    [
      'with an agent that is not legal',
      `${define} export const a = ${agent('not a name')};`,
      /Cannot load agents from .*name/s,
    ],
  ])('%s is named with its error', async (_, source, words) => {
    const file = source === undefined ? join(temporaryFolder(), 'nowhere.mjs') : moduleWith(source);
    expect(await failure(colloquy(['worker', '--agents', file], settings()))).toMatch(words);
  });

  it('may export one agent under two names', async () => {
    const worker = colloquy(
      [
        'worker',
        '--agents',
        moduleWith(`${define} export const a = ${agent('one')}; export default a;`),
      ],
      settings(),
    );
    await worker.prints(/^worker .*agents one /m);
  });
});

describe('settings that break a rule', () => {
  it('are all named at once, with the rule and the given value', promise('G292'), async () => {
    const env = {
      ...{ COLLOQUY_PORT: 'http', COLLOQUY_LOG_LEVEL: 'loud', COLLOQUY_DATA: '' },
      COLLOQUY_PATIENCE: '0.5',
      COLLOQUY_CACHED_RUNS: '2',
      COLLOQUY_PAGE_URL: 'agents.example.com/ui',
    };
    const said = await failure(colloquy(['serve'], settings(env)));
    expect(said).toContain('COLLOQUY_PORT (--port): must be a port');
    expect(said).toContain('got "http"');
    expect(said).toContain('COLLOQUY_LOG_LEVEL: must be debug or info or warn or error or silent');
    expect(said).toContain('COLLOQUY_DATA (--data): must not be empty');
    expect(said).toContain('COLLOQUY_PATIENCE: must be a number from 1 to 100, got "0.5"');
    expect(said).toContain('COLLOQUY_PAGE_URL: must be an address such as https://');
    expect(said).toContain('COLLOQUY_CACHED_RUNS: must be a whole number from 40, got "2"');
  });

  it('a host reachable from outside is refused while the API has no authentication', async () => {
    // Fails at once, without waiting for the unreachable server.
    const env = settings({ TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` });
    const said = await failure(colloquy(['serve', '--host', '0.0.0.0', '--port', '0'], env));
    expect(said).toContain('0.0.0.0 is not loopback');
  });

  it('a timeout that is not a number is refused at once', async () => {
    const said = await failure(
      colloquy(['worker', '--agents', AGENTS, '--retry', 'soon'], settings()),
    );
    expect(said).toContain("option '--retry <seconds>' argument 'soon' is invalid");
  });
});

describe('a namespace without the search attributes', () => {
  it('is refused with the command that registers them; with search attributes off the worker serves it', {
    ...promise('G291'),
  }, async () => {
    const namespace = 'bare';
    const connection = await Connection.connect({ address: server.address });
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs('1 day'),
    });
    await until('the namespace is known', () =>
      connection.operatorService.listSearchAttributes({ namespace }).then(
        () => true,
        () => false,
      ),
    );
    await connection.close();
    const args = ['worker', '--agents', AGENTS];
    const said = await failure(colloquy(args, settings({ TEMPORAL_NAMESPACE: namespace })));
    expect(said).toContain('Namespace "bare" lacks search attributes: ColloquyStatus, ');
    expect(said).toContain(
      'temporal operator search-attribute create --name ColloquyStatus --type Keyword',
    );
    expect(said).toContain('COLLOQUY_SEARCH_ATTRIBUTES=off');
    const off = { TEMPORAL_NAMESPACE: namespace, COLLOQUY_SEARCH_ATTRIBUTES: 'off' };
    await colloquy(args, settings(off)).prints(/^worker /m);
  });
});

const old = oldNode();
describe('a Node that is too old', () => {
  it.skipIf(old === undefined)('gets an error with its version and the required one', async () => {
    const said = await failure(start(old ?? '', [MAIN, 'worker', '--agents', AGENTS]));
    expect(said).toMatch(
      /Node 22\.19\S* or newer is needed, this is \d+\.\d+\.\d+ .*Install one, and put it first in PATH/,
    );
  });
});

/** The path of an old Node on this machine, if there is one. */
function oldNode(): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/bin', '/usr/local/bin'];
  return folders
    .filter((folder) => folder.startsWith('/'))
    .map((folder) => join(folder, 'node'))
    .find((file) => {
      try {
        const version = execFileSync(file, ['--version'], { encoding: 'utf8', stdio: 'pipe' });
        return Number(/^v(\d+)/.exec(version)?.[1]) < 22;
      } catch {
        return false;
      }
    });
}

async function urlOf(api: Command): Promise<string> {
  return /http:\/\/\S+/.exec(await api.prints(/^api .*http/m))?.[0] ?? '';
}

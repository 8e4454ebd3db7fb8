/** MCP servers that a plugin gives to model calls at run time: their tools, and calls that other workers run later. */
import { describe, expect, it, vi } from 'vitest';
import type { McpHttpServerSpec } from '../../../src/define/mcp/spec.js';
import type { ServerContext } from '../../../src/define/plugin/types.js';
import {
  DefinitionError,
  definePlugin,
  type Json,
  mcpServer,
  type Plugin,
} from '../../../src/index.js';
import { kitServer, mcpLedger } from '../../support/mcp/kit.js';
import { startMcpServer, startOldMcpServer } from '../../support/mcp/servers.js';
import { promise } from '../../support/promise.js';
import { environment, modelInput } from '../tools/fixtures.js';
import { mcpWorker } from './setup.js';

type Given = Readonly<Record<string, string>>;
type More = Partial<Omit<McpHttpServerSpec, 'name' | 'url'>>;

/** Servers by name, with their addresses; changed while workers run. */
class Rack {
  urls: Given = {};
  readonly asked: unknown[] = [];
  fault: Error | undefined;

  /** A plugin of its own in each worker. */
  plugin(more: More = { allowPrivate: ['127.0.0.1'] }): Plugin {
    return definePlugin({
      id: 'rack',
      servers: {
        listed: {
          make: (args: Json) => {
            const { name = '', url = '' } = args as Given;
            return mcpServer({ name, url, ...more });
          },
          has: (args: Json, { agent, tenant }: ServerContext) => {
            this.asked.push({ args, agent, tenant });
            if (this.fault !== undefined) throw this.fault;
            return (args as Given)['name']! in this.urls;
          },
        },
      },
      prepare: ({ servers }) => {
        for (const [name, url] of Object.entries(this.urls)) servers.make('listed', { name, url });
      },
    });
  }
}

async function kit(start = startMcpServer) {
  const ledger = mcpLedger();
  const http = await start(() => kitServer(ledger));
  return { ledger, http };
}

const gone = {
  envelope: { ok: false, error: { code: 'not_available', message: /no longer available/ } },
};

describe('a server that a plugin gives to a model call', () => {
  it.each([
    ['the current protocol', startMcpServer],
    ['the older protocol', startOldMcpServer],
  ])('of %s has its tools in the next model call, and not once it is gone', async (_of, start) => {
    const { http, ledger } = await kit(start);
    const rack = new Rack();
    const worker = mcpWorker({ plugins: [rack.plugin()] });
    expect(await worker.tools()).toEqual([]);
    rack.urls = { kit: http.url };
    expect(await worker.tools()).toContain('kit.search');
    const listings = () => http.seen.filter(({ method }) => method === 'tools/list').length;
    const before = listings();
    expect(await worker.tools()).toContain('kit.delete');
    // The same server is not connected to, or listed, again.
    expect(listings()).toBe(before);
    const plan = await worker.plan('kit.delete');
    expect(await worker.run(plan)).toMatchObject({ envelope: { ok: true } });
    expect(ledger.runs).toEqual(['delete']);
    rack.urls = {};
    expect(await worker.tools()).toEqual([]);
  });

  it(
    'is called by another worker as it was when the call was planned',
    promise('G405'),
    async () => {
      const [first, second] = [await kit(), await kit()];
      const rack = new Rack();
      rack.urls = { kit: first.http.url };
      const plan = await mcpWorker({ plugins: [rack.plugin()] }).plan('kit.search', { query: 'a' });
      expect(plan).toMatchObject({
        mcp: { server: 'kit', tool: 'search' },
        made: { plugin: 'rack', factory: 'listed', args: { name: 'kit', url: first.http.url } },
      });
      // The next version.
      rack.urls = { kit: second.http.url };
      const other = mcpWorker({ plugins: [rack.plugin()] });
      expect(await other.run(plan)).toMatchObject({ envelope: { ok: true } });
      expect([first.ledger.runs, second.ledger.runs]).toEqual([['search a'], []]);
      expect(rack.asked).toEqual([
        { args: { name: 'kit', url: first.http.url }, agent: 'support', tenant: 'default' },
      ]);
      const next = await other.plan('kit.search', { query: 'b' });
      expect(await other.run(next)).toMatchObject({ envelope: { ok: true } });
      expect(second.ledger.runs).toEqual(['search b']);
    },
  );

  it('ends its calls as those of a tool that is gone, once it is', promise('G405'), async () => {
    const { http, ledger } = await kit();
    const rack = new Rack();
    rack.urls = { kit: http.url };
    const worker = mcpWorker({ plugins: [rack.plugin()] });
    const plan = await worker.plan('kit.delete');
    rack.urls = {};
    expect(await worker.run(plan)).toMatchObject(gone);
    expect(await mcpWorker({ plugins: [] }).run(plan)).toMatchObject(gone);
    expect(ledger.runs).toEqual([]);
  });

  it('does not run a call while the plugin cannot say whether it is there', async () => {
    const { http, ledger } = await kit();
    const rack = new Rack();
    rack.urls = { kit: http.url };
    const worker = mcpWorker({ plugins: [rack.plugin()] });
    const once = await worker.plan('kit.delete');
    const again = await worker.plan('kit.search', { query: 'a' });
    rack.fault = new Error('no store');
    expect(await worker.run(once)).toMatchObject({
      envelope: { ok: false, error: { code: 'not_available', message: /no store/ } },
    });
    await expect(worker.run(again)).rejects.toMatchObject({ type: 'tool_lost' });
    expect(ledger.runs).toEqual([]);
  });

  it('is planned in a worker that did not make the model call, where its turn comes later', async () => {
    const { http } = await kit();
    const rack = new Rack();
    rack.urls = { kit: http.url };
    const { made } = await mcpWorker({ plugins: [rack.plugin()] }).plan('kit.delete');
    const worker = mcpWorker({ plugins: [rack.plugin()] });
    const call = { toolCallId: 'call_9', name: 'kit.delete', argumentsJson: '{}' };
    const { tenant, conversationId, turnId, step, agent, requester } = modelInput();
    const about = { tenant, conversationId, turnId, step, agent, requester };
    const input = { ...about, call, made: { ref: made! } };
    expect(await environment().run(worker.activities.planCall, input)).toMatchObject({
      ...{ name: 'kit.delete', executor: 'server', mcp: { tool: 'delete' }, made },
    });
  });

  it('runs no call of a server that the maker of another worker names otherwise', async () => {
    const { http, ledger } = await kit();
    const workerFor = (name: string) =>
      mcpWorker({
        plugins: [
          definePlugin({
            id: 'rack',
            servers: {
              listed: {
                make: () => mcpServer({ name, url: http.url, allowPrivate: ['127.0.0.1'] }),
              },
            },
            prepare: ({ servers }) => {
              servers.make('listed');
            },
          }),
        ],
      });
    const plan = await workerFor('kit').plan('kit.delete');
    expect(await workerFor('other').run(plan)).toMatchObject(gone);
    expect(ledger.runs).toEqual([]);
    expect(await workerFor('kit').run(plan)).toMatchObject({ envelope: { ok: true } });
  });

  it('is listed and called with the secrets of its tenant', async () => {
    const { http } = await kit();
    const rack = new Rack();
    rack.urls = { kit: http.url };
    const token: McpHttpServerSpec['token'] = ({ caller }) => `tok_of_${caller?.tenant ?? ''}`;
    const worker = mcpWorker({
      plugins: [rack.plugin({ allowPrivate: ['127.0.0.1'], token })],
    });
    const plan = await worker.plan('kit.search', { query: 'a' });
    await worker.run(plan, { tenant: 'acme' });
    const tokens = http.seen.map(({ method, authorization }) => `${method} ${authorization ?? ''}`);
    expect(tokens).toContain('tools/list Bearer tok_of_default');
    expect(tokens).toContain('tools/call Bearer tok_of_acme');
    expect(tokens).not.toContain('tools/call Bearer tok_of_default');
  });
});

describe('addresses of such a server', () => {
  it('that are not public are not reached unless they are allowed', promise('G405'), async () => {
    const { http } = await kit();
    const rack = new Rack();
    rack.urls = { kit: http.url };
    const allowed = mcpWorker({ plugins: [rack.plugin()] });
    const plans = [
      await allowed.plan('kit.search', { query: 'a' }),
      await allowed.plan('kit.delete'),
    ];
    const seen = http.seen.length;
    for (const url of [http.url, http.url.replace('127.0.0.1', 'localhost')]) {
      rack.urls = { kit: url };
      const worker = mcpWorker({ plugins: [rack.plugin({})] });
      expect(await worker.tools()).toEqual([]);
      expect(JSON.stringify(worker.logged)).toContain('no address that may be reached');
      for (const plan of plans)
        expect(await worker.run(plan)).toMatchObject({
          envelope: { ok: false, error: { code: 'tool_error', message: /no address that may/ } },
        });
    }
    expect(http.seen).toHaveLength(seen);
  });

  it('that are those of the API itself are not reached', promise('G405'), async () => {
    const { http } = await kit();
    const rack = new Rack();
    rack.urls = { kit: http.url };
    const apiUrls = [new URL(http.url).origin];
    const worker = mcpWorker({ plugins: [rack.plugin()], apiUrls });
    expect(await worker.tools()).toEqual([]);
    expect(JSON.stringify(worker.logged)).toContain('is the API of this installation');
    expect(http.seen).toEqual([]);
  });

  it('are not left by a redirect', promise('G405'), async () => {
    const [inner, outer] = [await kit(), await kit()];
    outer.http.instead = (_message, response) => {
      response.writeHead(307, { location: inner.http.url }).end();
      return true;
    };
    const rack = new Rack();
    rack.urls = { kit: outer.http.url };
    expect(await mcpWorker({ plugins: [rack.plugin()] }).tools()).toEqual([]);
    expect(outer.http.seen.length).toBeGreaterThan(0);
    expect(inner.http.seen).toEqual([]);
  });
});

it('a server that is not used for ten minutes is closed, and connected to again', async () => {
  const { http } = await kit();
  const rack = new Rack();
  rack.urls = { kit: http.url };
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const worker = mcpWorker({ plugins: [rack.plugin()] });
    await worker.tools();
    const listings = () => http.seen.filter(({ method }) => method === 'tools/list').length;
    const before = listings();
    await vi.advanceTimersByTimeAsync(10 * 60_000 + 1);
    expect(await worker.tools()).toContain('kit.search');
    expect(listings()).toBe(before + 1);
  } finally {
    vi.useRealTimers();
  }
});

it.each([
  ['a name that another server of the agent has', 'twice', /has a server "kit" already/],
  ['a process', 'process', /only one that has a url/],
  ['no server', 'nothing', /must return a server of mcpServer/],
  ['a maker that there is not', 'none', /no maker of servers "none"/],
])('%s fails the model call by its reason', async (_what, maker, message) => {
  const { http } = await kit();
  const plugin = definePlugin({
    id: 'rack',
    servers: {
      twice: { make: () => mcpServer({ name: 'kit', url: http.url }) },
      process: { make: () => mcpServer({ name: 'kit', command: 'node' }) },
      nothing: { make: () => ({}) as never },
    },
    prepare: ({ servers }) => {
      if (maker === 'twice') servers.make('twice');
      servers.make(maker);
    },
  });
  await expect(mcpWorker({ plugins: [plugin] }).tools()).rejects.toMatchObject({
    ...{ type: 'plugin_failed', message: expect.stringMatching(message) as string },
  });
});

it('makers of servers that cannot be used are refused, all at once', () => {
  const maker = { make: () => mcpServer({ name: 'kit', url: 'https://mcp.example.com' }) };
  const servers = { 'no name': maker, tool: maker, list: [], one: { make: 1, has: true, of: 2 } };
  const factories = { tool: () => ({}) };
  const define = () => definePlugin({ id: 'rack', servers, factories } as never);
  expect(define).toThrow(DefinitionError);
  const problems = problemsOf(define);
  expect(problems.map(({ field }) => field).toSorted()).toEqual([
    'servers.list',
    'servers.no name',
    'servers.one.has',
    'servers.one.make',
    'servers.one.of',
    'servers.tool',
  ]);
  expect(problemsOf(() => definePlugin({ id: 'rack', servers: 1 } as never))).toMatchObject([
    { field: 'servers', rule: 'must be an object, got 1' },
  ]);
});

function problemsOf(define: () => unknown) {
  try {
    define();
  } catch (error) {
    if (error instanceof DefinitionError) return error.problems;
  }
  throw new Error('nothing was refused');
}

it("makers of servers have the plugin's configuration, as other functions of it do", async () => {
  const { http } = await kit();
  const config = { url: http.url, names: ['kit'] };
  const plugin = definePlugin({
    id: 'rack',
    config,
    servers: {
      listed: {
        make: (name, { config: { url } }) =>
          mcpServer({ name: name as string, url, allowPrivate: ['127.0.0.1'] }),
        has: (name, { config: { names }, tenant }) =>
          tenant === 'default' && names.includes(name as string),
      },
    },
    prepare: ({ servers }) => {
      servers.make('listed', 'kit');
    },
  });
  const worker = mcpWorker({ plugins: [plugin] });
  const plan = await worker.plan('kit.search', { query: 'a' });
  expect(await worker.run(plan)).toMatchObject({ envelope: { ok: true } });
  config.names = [];
  expect(await worker.run(plan)).toMatchObject(gone);
});

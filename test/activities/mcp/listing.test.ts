/**
 * Tools of MCP servers beside an agent's own: the selection for the model, their names, and the plans of their calls.
 */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/define/define-tool.js';
import { mcpServer } from '../../../src/define/mcp-server.js';
import type { PolicyCall } from '../../../src/define/tool/policy.js';
import { addTool, kitServer, mcpLedger } from '../../support/mcp/kit.js';
import { startMcpServer, startOldMcpServer } from '../../support/mcp/servers.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';
import { mcpWorker } from './setup.js';

const ALL = [
  ...[
    'delete',
    'deploy',
    'fail',
    'push',
    'push-form',
    'push-large',
    'push-once',
    'sample',
    'search',
    'slow',
  ],
];
const named = (server: string): readonly string[] => ALL.map((name) => `${server}.${name}`);

const ownSearch = defineTool({
  name: 'search',
  description: 'Searches our own notes.',
  input: z.object({}),
  run: () => 'own',
});

describe('an agent with an MCP server', () => {
  it.each([
    ['the current protocol', startMcpServer],
    ['the older protocol', startOldMcpServer],
  ])(
    'gives the model its tools, in a stable order, from a server of %s',
    promise('H4', 'H54'),
    async (_which, start) => {
      const { url } = await start(() => kitServer(mcpLedger()));
      const worker = mcpWorker({
        mcpServers: [mcpServer({ name: 'kit', url })],
        tools: [ownSearch],
      });
      expect(await worker.tools()).toEqual(['search', ...named('kit')]);
      const [request] = worker.requests;
      const search = request?.tools.find(({ name }) => name === 'kit.search');
      expect(search).toMatchObject({
        description: 'Searches the repositories.',
        inputSchema: { properties: { query: { pattern: '^[a-z ]+$' } }, required: ['query'] },
      });
      expect(request?.system).not.toContain('kit');
    },
  );

  it('gives it only the allowed tools, and logs those of them that do not exist (S31, H55)', {
    ...promise('S31', 'H55'),
  }, async () => {
    const { url } = await startMcpServer(() => kitServer(mcpLedger()));
    const allowedTools = ['search', 'rename'];
    const worker = mcpWorker({ mcpServers: [mcpServer({ name: 'kit', url, allowedTools })] });
    expect(await worker.tools()).toEqual(['kit.search']);
    expect(worker.logged).toContainEqual(
      expect.objectContaining({ level: 'warn', fields: { mcpServer: 'kit', tools: ['rename'] } }),
    );
    const plan = await worker.plan('kit.delete');
    expect(plan.error?.code).toBe('unknown_tool');
  });

  it('continues without the tools of an unreachable server (S31)', {
    ...promise('G146', 'S31', 'H54'),
  }, async () => {
    const kit = await startMcpServer(() => kitServer(mcpLedger()));
    const worker = mcpWorker({
      mcpServers: [
        mcpServer({ name: 'gone', url: 'http://127.0.0.1:9/mcp' }),
        mcpServer({ name: 'absent', command: '/does/not/exist' }),
        mcpServer({ name: 'kit', url: kit.url, allowedTools: ['search'] }),
      ],
      tools: [ownSearch],
    });
    expect(await worker.tools()).toEqual(['search', 'kit.search']);
    const warned = worker.logged.filter(({ level }) => level === 'warn');
    expect(warned.map(({ fields }) => (fields as { mcpServer: string }).mcpServer).sort()).toEqual([
      'absent',
      'gone',
    ]);
  });

  it('waits for a silent server only for the configured time', {
    ...promise('G146'),
  }, async () => {
    const kit = await startMcpServer(() => new Promise<never>(() => undefined) as never);
    const timeouts = { connect: '50ms', list: '50ms' } as const;
    const worker = mcpWorker({ mcpServers: [mcpServer({ name: 'kit', url: kit.url, timeouts })] });
    expect(await worker.tools()).toEqual([]);
  });

  it('keeps the last list of a server while listing fails (S31)', {
    ...promise('G146', 'S31'),
  }, async () => {
    const kit = await startMcpServer(() => kitServer(mcpLedger()));
    const server = mcpServer({ name: 'kit', url: kit.url, refreshAfter: 1 });
    const worker = mcpWorker({ mcpServers: [server] });
    expect(await worker.tools()).toEqual(named('kit'));
    kit.refuseWith = 500;
    const warnings = () => worker.logged.filter(({ level }) => level === 'warn');
    await until('a listing has failed', async () => {
      await worker.callModel();
      return warnings().length > 0;
    });
    expect(warnings()[0]?.fields).toMatchObject({ mcpServer: 'kit', known: ALL.length });
    expect(await worker.tools()).toEqual(named('kit'));
  });

  it('has the new list of tools from the next model call on, after a server announced a change', async () => {
    const ledger = mcpLedger();
    const kit = await startMcpServer(() => kitServer(ledger));
    const worker = mcpWorker({ mcpServers: [mcpServer({ name: 'kit', url: kit.url })] });
    expect(await worker.tools()).toEqual(named('kit'));
    ledger.extra = ['rename'];
    ledger.hidden = ['delete'];
    kit.toolsChanged();
    await until('the new list is there', () => worker.tools(), {
      holds: (tools) => tools.includes('kit.rename') && !tools.includes('kit.delete'),
    });
  });

  it('has a new tool of a server of the older protocol in the same way', async () => {
    const kit = await startOldMcpServer(() => kitServer(mcpLedger()));
    const worker = mcpWorker({ mcpServers: [mcpServer({ name: 'kit', url: kit.url })] });
    expect(await worker.tools()).toEqual(named('kit'));
    // The server announces changes only over an open stream.
    await until('the worker listens', () => kit.seen.some(({ method }) => method === ''));
    for (const instance of kit.instances) addTool(instance, 'rename');
    await until('the new list is there', () => worker.tools(), {
      holds: (tools) => tools.includes('kit.rename'),
    });
  });

  it('gives the model the same tool objects while nothing has changed', async () => {
    const kit = await startMcpServer(() => kitServer(mcpLedger()));
    const server = mcpServer({ name: 'kit', url: kit.url, refreshAfter: 1 });
    const worker = mcpWorker({ mcpServers: [server] });
    const lists = (): number => kit.seen.filter(({ method }) => method === 'tools/list').length;
    await until('it was listed several times', async () => {
      await worker.callModel();
      return lists() > 2;
    });
    const [first, ...others] = worker.requests;
    for (const { tools } of others) expect(tools).toBe(first?.tools);
  });
});

describe('names that collide', () => {
  it('are distinguished by the server’s name, which prefixes every tool by default (S31)', {
    ...promise('S31'),
  }, async () => {
    const [one, two] = await Promise.all([
      startMcpServer(() => kitServer(mcpLedger())),
      startMcpServer(() => kitServer(mcpLedger())),
    ]);
    const allowedTools = ['search', 'push'];
    const worker = mcpWorker({
      tools: [ownSearch],
      mcpServers: [
        mcpServer({ name: 'one', url: one.url, allowedTools, prefix: false }),
        mcpServer({ name: 'two', url: two.url, allowedTools, prefix: false }),
        mcpServer({ name: 'three', url: two.url, allowedTools }),
      ],
    });
    expect(await worker.tools()).toEqual([
      'search',
      ...['push', 'one.search'],
      ...['two.push', 'two.search'],
      ...['three.push', 'three.search'],
    ]);
    expect((await worker.plan('push', { repository: 'r' })).mcp).toMatchObject({
      server: 'one',
      tool: 'push',
    });
    expect((await worker.plan('search')).mcp).toBeUndefined();
  });

  it('with a tool of the agent leave the name to the agent', async () => {
    const { url } = await startMcpServer(() => kitServer(mcpLedger()));
    const taken = defineTool({ ...ownTool('kit.search'), run: () => 'own' });
    const server = mcpServer({ name: 'kit', url, allowedTools: ['search'] });
    const worker = mcpWorker({ mcpServers: [server], tools: [taken] });
    const [own, listed] = await worker.tools();
    expect(own).toBe('kit.search');
    expect(listed).toMatch(/^kit\.search-[0-9a-f]{8}$/);
    expect((await worker.plan(listed ?? '', { query: 'x' })).mcp).toMatchObject({ tool: 'search' });
  });
});

function ownTool(name: string) {
  return { name, description: 'One of our own.', input: z.object({}) } as const;
}

describe('the plan of a call', () => {
  const planned = async (name: string, more: object = {}, input: object = {}) => {
    const { url } = await startMcpServer(() => kitServer(mcpLedger()));
    const worker = mcpWorker({ mcpServers: [mcpServer({ name: 'kit', url, ...more })] });
    return worker.plan(`kit.${name}`, input as never);
  };

  it('pins the server, the tool and its definition, and marks the result as untrusted', async () => {
    const plan = await planned('search', {}, { query: 'tea' });
    expect(plan).toMatchObject({
      name: 'kit.search',
      executor: 'server',
      input: { query: 'tea' },
      mcp: { server: 'kit', tool: 'search', digest: expect.stringMatching(/^sha256:/) as string },
      provenance: 'untrusted',
    });
  });

  it.each([
    ['search', 'none'],
    ['fail', 'idempotent'],
    ['delete', 'once'],
  ])('takes the effects of %s from its hints: %s', async (name, effects) => {
    const plan = await planned(name, {}, { query: 'x', say: 'x' });
    expect(plan.effects).toBe(effects);
    expect(plan.maxAttempts).toBe(effects === 'once' ? 1 : 3);
  });

  it("prefers the author's setting of effects", async () => {
    expect((await planned('delete', { effects: { delete: 'idempotent' } })).effects).toBe(
      'idempotent',
    );
    expect((await planned('search', { effects: 'once' }, { query: 'x' })).effects).toBe('once');
  });

  it('checks arguments by the schema without its patterns, which the server checks', async () => {
    expect((await planned('search', {}, { query: 7 })).error?.code).toBe('invalid_input');
    expect((await planned('search', {}, { query: 'NOT LOWER' })).error).toBeUndefined();
  });

  it.each([
    ['search', false],
    ['fail', false],
    ['delete', true],
    ['slow', true],
  ])(
    'asks a person about %s unless its hints say that it is not destructive: %s',
    async (name, needed) => {
      const plan = await planned(name, { approval: 'destructive' }, { query: 'x', say: 'x' });
      expect(plan.approval.needed).toBe(needed);
    },
  );

  it('is decided by the policies of the server and of the agent, both of which receive the hints', async () => {
    const { url } = await startMcpServer(() => kitServer(mcpLedger()));
    const seen: PolicyCall[] = [];
    const see = (call: PolicyCall) => {
      seen.push(call);
      return call.annotations?.readOnlyHint === true ? 'allow' : { deny: 'not read-only' };
    };
    const worker = mcpWorker({
      mcpServers: [mcpServer({ name: 'kit', url, approval: see })],
      toolPolicy: see,
    });
    expect((await worker.plan('kit.search', { query: 'tea' })).error).toBeUndefined();
    expect((await worker.plan('kit.delete')).error).toMatchObject({ code: 'denied' });
    const [call, same] = seen;
    expect(call).toEqual(same);
    expect(call).toEqual({
      name: 'kit.search',
      executor: 'server',
      effects: 'none',
      input: { query: 'tea' },
      mcpServer: 'kit',
      annotations: { readOnlyHint: true },
    });
  });
});

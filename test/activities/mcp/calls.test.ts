/** Calls of MCP tools in a worker: results, failures, secrets, progress and cancellation. */
import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { McpHttpServerSpec } from '../../../src/define/mcp/spec.js';
import { mcpServer } from '../../../src/define/mcp-server.js';
import type { Json } from '../../../src/protocol/values/json.js';
import { kitServer, type McpLedger, mcpLedger } from '../../support/mcp/kit.js';
import { startMcpServer, startOldMcpServer } from '../../support/mcp/servers.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';
import { environment, modelInput } from '../tools/fixtures.js';
import { mcpWorker, runInput } from './setup.js';

type More = Partial<Omit<McpHttpServerSpec, 'name'>>;

async function kit(more: More = {}, start = startMcpServer) {
  const ledger: McpLedger = mcpLedger();
  const http = await start(() => kitServer(ledger));
  const server = mcpServer({ name: 'kit', url: http.url, ...more });
  return { ledger, http, server, worker: mcpWorker({ mcpServers: [server] }) };
}

describe('a call of an MCP tool', () => {
  it('returns the structured result, also in a worker that never listed the tool (H56)', {
    ...promise('H56'),
  }, async () => {
    const { worker, server, ledger } = await kit();
    const plan = await worker.plan('kit.search', { query: 'tea' });
    const other = mcpWorker({ mcpServers: [server] });
    expect(await other.run(plan)).toMatchObject({
      envelope: { ok: true, result: { hits: ['tea'] } },
    });
    expect(ledger.runs).toEqual(['search tea']);
  });

  it('is not visible in a space, with or without metadata of the server (H56)', {
    ...promise('H56'),
  }, async () => {
    const visible = { visible: true };
    const http = await startMcpServer(() => {
      const server = new McpServer({ name: 'kit', version: '1.0.0' });
      server.registerTool(
        'chart',
        {
          ...{ description: 'Draws.', inputSchema: z.object({}), _meta: visible },
          annotations: { readOnlyHint: true, ...visible },
        },
        () => ({ content: [{ type: 'text', text: 'drawn' }] }),
      );
      return server;
    });
    const server = mcpServer({ name: 'kit', url: http.url });
    const worker = mcpWorker({ mcpServers: [server] });
    const plan = await worker.plan('kit.chart');
    const ref = { name: plan.name, mcp: plan.mcp!, isNew: true };
    const tool = await worker.mcp.toolOf(worker.agent, ref);
    expect(tool).toMatchObject({ name: 'kit.chart', executor: 'server' });
    expect('metadata' in tool || 'metadata' in plan).toBe(false);
  });

  it("is an error result if the server says so, with the server's text", async () => {
    const { worker } = await kit();
    const plan = await worker.plan('kit.fail', { say: 'no such branch' });
    expect(await worker.run(plan)).toMatchObject({
      envelope: { ok: false, error: { code: 'tool_error', message: 'failed: no such branch' } },
    });
  });

  it("passes on the server's error about arguments that only the server can check", async () => {
    const { worker, ledger } = await kit();
    const plan = await worker.plan('kit.search', { query: 'NOT LOWER' });
    expect(await worker.run(plan)).toMatchObject({
      envelope: { ok: false, error: { code: 'tool_error' } },
    });
    expect(ledger.runs).toEqual([]);
  });

  it('does not run when the tool is gone, no longer allowed, or changed', {
    ...promise('G155'),
  }, async () => {
    const { worker, server, ledger, http } = await kit({ refreshAfter: 1 });
    const plan = await worker.plan('kit.delete');
    const unavailable = { envelope: { ok: false, error: { code: 'not_available' } } };
    const narrow = mcpServer({ name: 'kit', url: http.url, allowedTools: ['search'] });
    expect(await mcpWorker({ mcpServers: [narrow] }).run(plan)).toMatchObject(unavailable);
    expect(await mcpWorker({ mcpServers: [] }).run(plan)).toMatchObject(unavailable);
    const message = expect.stringMatching(/changed by its server/) as string;
    const { hints: _none, ...unhinted } = plan.mcp!;
    for (const mcp of [
      // Policies may decide differently with other hints.
      { ...plan.mcp!, hints: 'sha256:other' },
      { ...unhinted, digest: 'sha256:other' },
    ])
      expect(await worker.run({ ...plan, mcp })).toMatchObject({
        envelope: { ok: false, error: { code: 'definition_changed', message } },
      });
    ledger.hidden = ['delete'];
    expect(await mcpWorker({ mcpServers: [server] }).run(plan)).toMatchObject(unavailable);
    expect(ledger.runs).toEqual([]);
  });

  it('runs when its server has changed the schema and the arguments still match', {
    ...promise('G215'),
  }, async () => {
    const { worker, ledger } = await kit();
    const plan = await worker.plan('kit.search', { query: 'tea' });
    const listedAnew = { ...plan, definition: 'sha256:before' };
    expect(await worker.run(listedAnew)).toMatchObject({ envelope: { ok: true } });
    expect(ledger.runs).toEqual(['search tea']);
    const renamed = { ...listedAnew, input: { text: 'tea' } };
    expect(await worker.run(renamed)).toMatchObject({
      changed: { definition: plan.definition },
    });
    expect(ledger.runs).toEqual(['search tea']);
  });

  it('has its edited input checked by a worker that never listed the tool', async () => {
    const { worker, server } = await kit();
    const { name, mcp } = await worker.plan('kit.search', { query: 'tea' });
    const other = mcpWorker({ mcpServers: [server] });
    const { tenant, conversationId, agent, turnId, step, requester } = modelInput();
    const edit = async (input: Json) => {
      const about = { tenant, conversationId, agent, turnId, step, requester, name };
      const pin = mcp === undefined ? {} : { mcp };
      const given = { ...about, ...pin, toolCallId: 'call_1', input };
      return await environment().run(other.activities.checkEdit, given);
    };
    expect(await edit({ query: 'coffee' })).toMatchObject({ ok: true, input: { query: 'coffee' } });
    expect(await edit({ query: 7 })).toMatchObject({
      ok: false,
      problems: [{ path: '/resolution/input/query' }],
    });
  });

  it('is planned when its turn comes, if calls run sequentially', async () => {
    const { worker } = await kit();
    const { tenant, conversationId, agent, turnId, step, requester } = modelInput();
    const call = { toolCallId: 'call_2', name: 'kit.search', argumentsJson: '{"query":"tea"}' };
    const about = { tenant, conversationId, agent, turnId, step, requester };
    const plan = await environment().run(worker.activities.planCall, { ...about, call });
    expect(plan).toMatchObject({ name: 'kit.search', mcp: { server: 'kit', tool: 'search' } });
    expect(await worker.run(plan)).toMatchObject({ envelope: { ok: true } });
  });

  it('is bounded like any other result', async () => {
    const { worker } = await kit({ maxResultBytes: 1_024 });
    const plan = await worker.plan('kit.search', { query: 'a'.repeat(5_000) });
    expect(await worker.run(plan)).toMatchObject({ envelope: { result: { truncated: true } } });
  });

  it('shows its progress to watchers', async () => {
    const { worker, ledger } = await kit();
    const running = worker.run(await worker.plan('kit.slow'));
    await until('progress is reported', () => worker.live, {
      holds: (live) => live.some(({ type }) => type === 'tool_progress'),
    });
    expect(worker.live.find(({ type }) => type === 'tool_progress')).toMatchObject({
      name: 'kit.slow',
      payload: { progress: 1, total: 2, message: 'half' },
    });
    ledger.release();
    expect(await running).toMatchObject({ envelope: { ok: true, result: 'done' } });
  });

  it.each([
    ['the current protocol', startMcpServer],
    ['the older protocol', startOldMcpServer],
  ])('that is cancelled is also cancelled on a server of %s', async (_which, start) => {
    const { worker, ledger } = await kit({}, start);
    const { run, cancel } = environment();
    const plan = await worker.plan('kit.slow');
    const running = run(worker.activities.runTool, runInput(plan));
    running.catch(() => undefined);
    await until('the server works on it', () => ledger.runs.length);
    cancel('CANCELLED', {} as never);
    await expect(running).rejects.toThrow();
    await until('the server knows', () => ledger.cancelled.length);
  });

  it('that takes too long is abandoned and cancelled', async () => {
    const { worker, ledger } = await kit({ timeouts: { run: '50ms' } });
    expect(await worker.run(await worker.plan('kit.slow'))).toMatchObject({
      envelope: { ok: false, error: { code: 'timeout' } },
    });
    await until('the server knows', () => ledger.cancelled.length);
  });
});

describe('a server that is lost', () => {
  it('before the call is sent has the call retried, as its effects allow', async () => {
    const { worker, http } = await kit({ effects: 'idempotent' });
    const plan = await worker.plan('kit.delete');
    await http.stop();
    await expect(worker.run(plan)).rejects.toMatchObject({ type: 'tool_retry' });
    await http.start();
    expect(await worker.run(plan)).toMatchObject({ envelope: { ok: true, result: 'deleted' } });
  });

  it('before a call with effects `once` is sent, gets an error that it could not be reached', async () => {
    const { worker, http } = await kit();
    const plan = await worker.plan('kit.delete');
    await http.stop();
    expect(await worker.run(plan)).toMatchObject({
      envelope: {
        ok: false,
        error: {
          code: 'tool_error',
          message: expect.stringMatching(/cannot be reached/) as string,
        },
      },
    });
  });

  it.each([
    ['once', undefined],
    ['idempotent', 'tool_retry'],
  ] as const)(
    'in the middle of a call with effects %s has the call retried only if that is safe',
    promise('G154'),
    async (effects, failure) => {
      const { worker, http, ledger } = await kit({ effects });
      const running = worker.run(await worker.plan('kit.slow'));
      running.catch(() => undefined);
      await until('the server works on it', () => ledger.runs.length);
      await http.stop();
      if (failure === undefined)
        expect(await running).toMatchObject({
          envelope: { ok: false, error: { code: 'outcome_unknown' } },
        });
      else await expect(running).rejects.toMatchObject({ type: failure });
    },
  );

  it('and has forgotten the session without running the call gets the call once more', async () => {
    const { worker, http, ledger } = await kit({}, startOldMcpServer);
    const plan = await worker.plan('kit.delete');
    http.forget();
    expect(await worker.run(plan)).toMatchObject({ envelope: { ok: true, result: 'deleted' } });
    expect(ledger.runs).toEqual(['delete']);
  });
});

describe('credentials', () => {
  const SECRET = 'tok_secret_1';

  it('are resolved for every request, and renewed when they are refused', async () => {
    const given: boolean[] = [];
    const { worker, http } = await kit({
      token: ({ refused, services }) => {
        given.push(refused);
        return refused ? 'tok_new' : String(services);
      },
    });
    http.accepts = (authorization) => authorization === 'Bearer tok_new';
    const fresh = mcpWorker({
      mcpServers: [
        mcpServer({
          name: 'kit',
          url: http.url,
          token: ({ refused, services }) => (refused ? 'tok_new' : String(services)),
        }),
      ],
      services: 'tok_old',
    });
    expect(await fresh.tools()).toContain('kit.search');
    expect(http.seen.map(({ authorization }) => authorization)).toContain('Bearer tok_old');
    expect(worker.requests).toEqual([]);
  });

  it('that are refused permanently cause an error without their text', {
    ...promise('G161'),
  }, async () => {
    const { worker, http } = await kit({
      token: SECRET,
      headers: () => ({ 'x-key': `${SECRET}-key` }),
    });
    const plan = await worker.plan('kit.delete');
    expect(http.seen.at(-1)?.headers['x-key']).toBe(`${SECRET}-key`);
    http.accepts = () => false;
    const end = await worker.run(plan);
    expect(end).toMatchObject({
      envelope: {
        ok: false,
        error: { message: expect.stringMatching(/refused the credentials/) as string },
      },
    });
    expect(JSON.stringify([end, plan, worker.logged, worker.live])).not.toContain(SECRET);
  });

  it('that a server sends back are redacted from results and errors', promise('G161'), async () => {
    const { worker, http } = await kit({ token: SECRET });
    const plan = await worker.plan('kit.fail', { say: `your token is ${SECRET}` });
    const failed = await worker.run(plan);
    expect(failed).toMatchObject({
      envelope: { error: { message: 'failed: your token is [redacted]' } },
    });
    http.refuseWith = 418;
    const refused = await worker.run(await worker.plan('kit.fail', { say: 'x' }));
    expect(JSON.stringify([failed, refused, worker.logged])).not.toContain(SECRET);
  });

  it('in headers are redacted with and without their scheme, ordinary words of headers are not', {
    ...promise('G161'),
  }, async () => {
    const { worker } = await kit({
      headers: {
        ...{ Authorization: `Custom ${SECRET} more`, 'X-Key': `Bearer ${SECRET}-key` },
        ...{ 'X-Team': 'customer success', Accept: 'text/plain', 'User-Agent': 'support robot' },
      },
    });
    const failedOf = async (say: string) =>
      await worker.run(await worker.plan('kit.fail', { say }));
    for (const say of [`Custom ${SECRET} more`, `${SECRET} more`, `${SECRET}-key`])
      expect(await failedOf(say)).toMatchObject({
        envelope: { error: { message: 'failed: [redacted]' } },
      });
    const plain = 'success of a customer in text/plain, by a support robot';
    expect(await failedOf(plain)).toMatchObject({
      envelope: { error: { message: `failed: ${plain}` } },
    });
  });

  it('whose resolver fails cost the call, not the turn', async () => {
    const token = () => Promise.reject(new Error('the vault is sealed'));
    const { worker } = await kit({ token });
    expect(await worker.tools()).toEqual([]);
    expect(JSON.stringify(worker.logged)).toContain('the vault is sealed');
  });
});

/** Questions of MCP servers: durable questions of a call, whose answers any worker can deliver. */
import { describe, expect, it } from 'vitest';
import type { McpHttpServerSpec } from '../../../src/define/mcp/spec.js';
import { mcpServer } from '../../../src/define/mcp-server.js';
import { kitServer, type McpLedger, mcpLedger } from '../../support/mcp/kit.js';
import { startMcpServer, startOldMcpServer } from '../../support/mcp/servers.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';
import { MemoryBlobs } from '../transcripts/memory-blobs.js';
import { after, mcpWorker, questionIn, textIn } from './setup.js';

type More = Partial<Omit<McpHttpServerSpec, 'name'>>;

async function kit(more: More = {}, start = startMcpServer) {
  const ledger: McpLedger = mcpLedger();
  const { url } = await start(() => kitServer(ledger));
  const server = mcpServer({ name: 'kit', url, ...more });
  /** Every run gets a worker of its own, so that no run can rely on the memory of one. */
  const worker = () => mcpWorker({ mcpServers: [server] });
  return { ledger, worker, server };
}

describe('a server that requests input', () => {
  it('has its question asked, and receives the answer and its state from another worker', {
    ...promise('G147'),
  }, async () => {
    const { worker, ledger } = await kit();
    const plan = await worker().plan('kit.push', { repository: 'tea' });
    const question = questionIn(await worker().run(plan));
    expect(question.reason).toBe('Which branch? (asked by the MCP server "kit")');
    expect(question.form).toMatchObject({
      type: 'object',
      properties: { branch: { type: 'string' }, force: { type: 'boolean' } },
      required: ['branch'],
    });
    const end = await worker().run(
      plan,
      after(question, { answer: { value: { branch: 'main' } } }),
    );
    expect(end).toMatchObject({
      envelope: { ok: true, result: 'pushed tea to {"force":false,"branch":"main"}' },
    });
    expect(ledger.runs).toEqual(['push tea first', 'push tea state-1-of-tea']);
  });

  it('may have a state too large for a history, which is stored in a blob', {
    ...promise('G148'),
  }, async () => {
    const { server, ledger } = await kit();
    const blobs = new MemoryBlobs();
    const worker = () => mcpWorker({ mcpServers: [server], blobs });
    const plan = await worker().plan('kit.push-large', { repository: 'tea' });
    const question = questionIn(await worker().run(plan));
    expect(JSON.stringify(question.state).length).toBeLessThan(200);
    const answered = after(question, { answer: { value: { branch: 'main' } } });
    const away = { put: blobs.put, get: () => Promise.reject(new Error('away')) };
    await expect(
      mcpWorker({ mcpServers: [server], blobs: away }).run(plan, answered),
    ).rejects.toMatchObject({ type: 'tool_retry' });
    expect(await worker().run(plan, answered)).toMatchObject({
      envelope: { ok: true, result: 'pushed tea to {"force":false,"branch":"main"}' },
    });
    expect(ledger.runs).toHaveLength(2);
    expect(await mcpWorker({ mcpServers: [server] }).run(plan, answered)).toMatchObject({
      envelope: {
        ok: false,
        error: { message: expect.stringMatching(/cannot be read/) as string },
      },
    });
  });

  it('has no question asked if a large state cannot be stored; the model reads the reason', {
    ...promise('G148'),
  }, async () => {
    const { server } = await kit();
    const full = { put: () => Promise.reject(new Error('full')), get: new MemoryBlobs().get };
    for (const [blobs, rule] of [
      [null, /state has \d+ bytes as JSON; at most 8192/],
      [full, /could not be stored, so the question was not asked/],
    ] as const) {
      const worker = mcpWorker({ mcpServers: [server], blobs });
      const plan = await worker.plan('kit.push-large', { repository: 'tea' });
      expect(await worker.run(plan)).toMatchObject({
        envelope: { ok: false, error: { message: expect.stringMatching(rule) as string } },
      });
    }
  });

  it('receives a decline, and decides its result', async () => {
    const { worker } = await kit();
    const plan = await worker().plan('kit.push', { repository: 'tea' });
    const question = questionIn(await worker().run(plan));
    expect(await worker().run(plan, after(question, { declined: {} }))).toMatchObject({
      envelope: { ok: true, result: 'not pushed: {"action":"decline"}' },
    });
  });

  it('may request several inputs: they are asked one after the other, and all answers are sent together', async () => {
    const { worker } = await kit();
    const plan = await worker().plan('kit.deploy');
    const sure = questionIn(await worker().run(plan));
    expect(sure.reason).toMatch(/^Sure\?/);
    const login = questionIn(
      await worker().run(plan, after(sure, { answer: { value: { ok: true } } })),
    );
    expect(login.reason).toMatch(/^Open id\.example\.com: Log in/);
    expect(login.form).toMatchObject({
      properties: { url: { const: 'https://id.example.com/x' } },
    });
    const consent = { answer: { value: { url: 'https://id.example.com/x' } } };
    const really = questionIn(await worker().run(plan, after(login, consent, 2)));
    expect(really.reason).toMatch(/^Really\?/);
    const end = await worker().run(plan, after(really, { declined: { reason: 'no' } }, 3));
    expect(JSON.parse(textIn(end))).toEqual({
      sure: { action: 'accept', content: { ok: true } },
      login: { action: 'accept' },
      really: { action: 'decline' },
    });
  });

  it('gets an error for requests that agents do not support', async () => {
    const { worker } = await kit();
    const end = await worker().run(await worker().plan('kit.sample'));
    expect(end).toMatchObject({ envelope: { ok: false, error: { code: 'tool_error' } } });
  });

  it('with a form that is too large has no question asked: model and log have the reason', {
    ...promise('G153'),
  }, async () => {
    const { worker, ledger } = await kit();
    const one = worker();
    const end = await one.run(await one.plan('kit.push-form'));
    const why =
      /^MCP server "kit" cannot be answered: .*form has \d+ bytes as JSON Schema; at most 8192$/;
    expect(end).toMatchObject({
      envelope: { ok: false, error: { message: expect.stringMatching(why) as string } },
    });
    expect(one.logged).toContainEqual(
      expect.objectContaining({ level: 'warn', message: 'MCP server cannot be answered' }),
    );
    expect(ledger.runs).toEqual(['push-form']);
  });

  it('receives no answer without its state', async () => {
    const { worker, ledger } = await kit();
    const plan = await worker().plan('kit.push', { repository: 'tea' });
    const foreign = { form: {}, state: { other: true }, reason: '' };
    expect(await worker().run(plan, after(foreign, { answer: { value: {} } }))).toMatchObject({
      envelope: {
        ok: false,
        error: { message: expect.stringMatching(/cannot be read/) as string },
      },
    });
    expect(ledger.runs).toEqual([]);
  });
});

describe('a server of the older protocol, which asks in the middle of a call', () => {
  it('has its question asked if the call may be repeated: the repeated call has the answer', {
    ...promise('G149'),
  }, async () => {
    const { worker, ledger } = await kit({}, startOldMcpServer);
    const plan = await worker().plan('kit.push', { repository: 'tea' });
    const question = questionIn(await worker().run(plan));
    expect(question.reason).toBe('Which branch? (asked by the MCP server "kit")');
    const end = await worker().run(
      plan,
      after(question, { answer: { value: { branch: 'main' } } }),
    );
    expect(end).toMatchObject({
      envelope: { ok: true, result: 'pushed tea to {"force":false,"branch":"main"}' },
    });
    expect(ledger.runs.filter((run) => run === 'push tea first')).toHaveLength(2);
  });

  it('receives a cancel if the call may not be repeated, and the model reads that', {
    ...promise('G149'),
  }, async () => {
    const { worker, ledger } = await kit({}, startOldMcpServer);
    const plan = await worker().plan('kit.push-once', { repository: 'tea' });
    const end = await worker().run(plan);
    expect(textIn(end)).toMatch(
      /^not pushed: \{"action":"cancel"\}\n\[The server asked .*no user could be asked.*Which branch\?\]$/,
    );
    expect(ledger.runs.filter((run) => run.endsWith('first'))).toHaveLength(1);
  });

  it('receives a cancel while several calls are open, because the question cannot be assigned to one of them', async () => {
    const { worker, ledger } = await kit({}, startOldMcpServer);
    const one = worker();
    const slow = one.run(await one.plan('kit.slow'));
    await until('the server works on the other call', () => ledger.runs.includes('slow'));
    const end = await one.run(await one.plan('kit.push', { repository: 'tea' }));
    expect(textIn(end)).toMatch(/^not pushed: \{"action":"cancel"\}\n\[The server asked/);
    ledger.release();
    expect(textIn(await slow)).toMatch(/^done\n\[The server asked/);
  });

  it('receives a cancel for a form that is too large, and the model reads that', {
    ...promise('G153'),
  }, async () => {
    const { worker, ledger } = await kit({}, startOldMcpServer);
    const end = await worker().run(await worker().plan('kit.push-form'));
    expect(textIn(end)).toMatch(/^\{"action":"cancel"\}\n\[The server asked .*Fill this in\]$/);
    expect(ledger.runs).toEqual(['push-form', 'push-form']);
  });

  it("follows its author's setting in either case", async () => {
    const asks = await kit({ pushedQuestions: 'ask' }, startOldMcpServer);
    const once = await asks.worker().plan('kit.push-once', { repository: 'tea' });
    expect(questionIn(await asks.worker().run(once)).reason).toMatch(/^Which branch/);
    const cancels = await kit({ pushedQuestions: 'cancel' }, startOldMcpServer);
    const twice = await cancels.worker().plan('kit.push', { repository: 'tea' });
    expect(await cancels.worker().run(twice)).toMatchObject({ envelope: { ok: true } });
  });
});

/** Tests against the reference server of the MCP project, as a process of the worker and over HTTP. */
import { execFile, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { McpServerSpec } from '../../../src/define/mcp/spec.js';
import { mcpServer } from '../../../src/define/mcp-server.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';
import { after, mcpWorker, questionIn, textIn } from './setup.js';

const EVERYTHING = fileURLToPath(
  import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'),
);
const HTTP_PORT_ANNOUNCED = /listening on port (\d+)/;

function overStdio(more: object = {}) {
  const spec = { name: 'all', command: process.execPath, args: [EVERYTHING, 'stdio'], ...more };
  const worker = mcpWorker({ mcpServers: [mcpServer(spec as McpServerSpec)] });
  return worker;
}

/** Child processes of this process whose command line contains the words. */
async function childrenNamed(words: string): Promise<readonly number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-axo', 'pid=,ppid=,args=']);
  return stdout.split('\n').flatMap((line) => {
    const [, pid, parent, args = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return Number(parent) === process.pid && args.includes(words) ? [Number(pid)] : [];
  });
}

describe('server-everything over stdio', () => {
  it('lists and runs its tools, shows progress, asks, and ends with its worker', {
    ...promise('G157'),
  }, async () => {
    const worker = overStdio({ pushedQuestions: 'ask' });
    expect(await worker.tools()).toEqual(
      expect.arrayContaining(['all.echo', 'all.get-sum', 'all.trigger-elicitation-request']),
    );
    expect(await worker.run(await worker.plan('all.get-sum', { a: 2, b: 3 }))).toMatchObject({
      envelope: { ok: true, result: expect.stringMatching(/5/) as string },
    });
    expect(
      await worker.run(await worker.plan('all.get-structured-content', { location: 'Chicago' })),
    ).toMatchObject({
      envelope: { ok: true, result: { conditions: expect.any(String) as string } },
    });
    const image = await worker.run(await worker.plan('all.get-tiny-image'));
    expect(image).toMatchObject({
      envelope: {
        result: expect.stringMatching(/\[image: image\/png, \d+ bytes\]/) as string,
        files: [
          {
            type: 'image',
            mediaType: 'image/png',
            source: { blob: { bytes: expect.any(Number) as number } },
          },
        ],
      },
    });
    const long = await worker.plan('all.trigger-long-running-operation', {
      duration: 1,
      steps: 4,
    });
    expect(await worker.run(long)).toMatchObject({ envelope: { ok: true } });
    expect(worker.live.filter(({ type }) => type === 'tool_progress').length).toBeGreaterThan(0);

    const plan = await worker.plan('all.trigger-elicitation-request');
    const question = questionIn(await worker.run(plan));
    expect(question.form).toMatchObject({ required: ['name'] });
    const end = await worker.run(plan, after(question, { answer: { value: { name: 'Ann' } } }));
    expect(end).toMatchObject({
      envelope: {
        ok: true,
        result: expect.stringMatching(/- Name: Ann[^]*Favorite Integer: 42/) as string,
      },
    });
    const link = await worker.plan('all.trigger-url-elicitation', {
      url: 'https://id.example.com/login',
      errorPath: true,
    });
    const first = questionIn(await worker.run(link));
    expect(first.reason).toMatch(/^Open modelcontextprotocol\.io: .*satisfy the prerequisite/);
    const consent = { answer: { value: { url: 'https://modelcontextprotocol.io' } } };
    const second = questionIn(await worker.run(link, after(first, consent)));
    expect(second.reason).toMatch(/^Open id\.example\.com/);

    const env = await worker.run(await worker.plan('all.get-env'));
    expect(Object.keys(JSON.parse(textIn(env)) as object)).not.toContain('VITEST');

    const [pid] = await childrenNamed('server-everything');
    expect(pid).toBeDefined();
    await worker.mcp.close();
    await until('its process has ended', () => childrenNamed('server-everything'), {
      holds: (pids) => pids.length === 0,
    });
  });

  it('is restarted after a kill, and the call that it was running has an unknown outcome', {
    ...promise('G154'),
  }, async () => {
    const worker = overStdio({ env: { TOKEN_OF_TEST: 'secret-in-env' } });
    const plan = await worker.plan('all.echo', { message: 'hello' });
    const once = {
      ...(await worker.plan('all.trigger-long-running-operation', { duration: 60, steps: 2 })),
      effects: 'once' as const,
      maxAttempts: 1,
    };
    const running = worker.run(once);
    await until('it works on it', () => childrenNamed('server-everything'), {
      holds: (pids) => pids.length === 1,
    });
    await until('the call is under way', () => worker.live, {
      holds: (live) => live.some(({ type }) => type === 'tool_call_started'),
    });
    for (const pid of await childrenNamed('server-everything')) process.kill(pid, 'SIGKILL');
    expect(await running).toMatchObject({
      envelope: { ok: false, error: { code: 'outcome_unknown' } },
    });
    expect(await worker.run(plan)).toMatchObject({ envelope: { ok: true, result: 'Echo: hello' } });
    const env = await worker.run(await worker.plan('all.get-env'));
    expect(JSON.stringify(env)).toContain('TOKEN_OF_TEST');
    expect(JSON.stringify([env, worker.logged])).not.toContain('secret-in-env');
  });
});

describe('server-everything over HTTP', () => {
  it('runs its tools and asks in the middle of a call', async () => {
    const port = await everythingOverHttp();
    const server = mcpServer({
      name: 'all',
      url: `http://127.0.0.1:${port}/mcp`,
      effects: 'idempotent',
    });
    const worker = mcpWorker({ mcpServers: [server] });
    expect(await worker.run(await worker.plan('all.echo', { message: 'hello' }))).toMatchObject({
      envelope: { ok: true, result: 'Echo: hello' },
    });
    const plan = await worker.plan('all.trigger-elicitation-request');
    const question = questionIn(await worker.run(plan));
    const other = mcpWorker({ mcpServers: [server] });
    expect(await other.run(plan, after(question, { declined: {} }))).toMatchObject({
      envelope: { ok: true, result: expect.stringMatching(/declined/) as string },
    });
  });
});

async function everythingOverHttp(): Promise<number> {
  // The server prints the port that it was given, not the one that it bound, so 0 cannot be used.
  const port = 20_000 + (process.pid % 20_000);
  const child = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
    env: { PATH: process.env['PATH'], PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  await until('it listens', () => said, {
    holds: (text) => HTTP_PORT_ANNOUNCED.test(text),
  });
  return port;
}

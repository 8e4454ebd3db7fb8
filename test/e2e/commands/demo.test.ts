/** The first commands of a newcomer: `npm run demo` and `npm start`, with the commands that they print. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Connection } from '@temporalio/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { promise } from '../../support/promise.js';
import { freePort, startDevServer } from '../../support/servers/dev-server.js';
import { temporaryFolder } from '../../support/temporary.js';
import { until } from '../../support/until.js';
import { call, type Fields } from '../support/api.js';
import { type Command, processesWith, ROOT, start, untilNoneLeft } from '../support/processes.js';

const run = promisify(execFile);
const script = (name: string): string => join(ROOT, 'dist', 'examples', 'demo', name);
/** A variable in the environment of every process that a command starts, and of no other. */
const newMark = (): string => `COLLOQUY_E2E_MARK=${randomUUID()}`;
const asEnv = (mark: string): NodeJS.ProcessEnv =>
  Object.fromEntries([mark.split('=')]) as NodeJS.ProcessEnv;

describe('the demo', () => {
  it('runs from the first message to the final answer in under two minutes, refunds once, and leaves no process', {
    ...promise('G268', 'G294'),
  }, async () => {
    const mark = newMark();
    const port = await freePort();
    const startedAt = Date.now();
    const demo = start(process.execPath, [script('run.js'), '--temporal-port', String(port)], {
      env: asEnv(mark),
    });
    expect([await demo.ended, demo.stderr()]).toEqual([0, '']);
    expect(Date.now() - startedAt).toBeLessThan(120_000);
    const said = demo.stdout();
    expect(said).toContain('model: SCRIPTED, no AI');
    expect(said).toMatch(/SIGKILL for the worker \(pid \d+\) while calls wait/);
    expect(said).toContain('no worker is running');
    expect(said).toContain('verdict of a second answer: stale (HTTP 409)');
    expect(said).toMatch(
      /^ {2}Here is where we are\. It is 18 degrees in Berlin\. Your refund re_p_1 is on its way\. You answered: Size 42, please\. Your cart holds 2 items\.$/m,
    );
    expect(said).toContain('refunds actually made: 1');
    const seqs = [...said.matchAll(/^ *[\d.]+s {2,}(\d+) [a-z_]+/gm)].map(([, seq]) => Number(seq));
    expect(seqs.length).toBeGreaterThan(15);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    // The demo has stopped its Temporal server, and the UI with it.
    expect(said).not.toContain('in the Temporal UI: http');
    expect(lastLine(said)).toContain('npm run demo -- --keep');
    // The whole text of the model is shown, even if the stream was joined late.
    expect(said).toContain('Let me look into that: I check the weather');
    await untilNoneLeft(mark);
  });

  it.each([
    ['that it keeps running', true],
    ['that ran before', false],
  ])('prints at its end the address of a UI %s', promise('G268'), async (_, keeps) => {
    const mark = newMark();
    const port = await freePort();
    if (!keeps) {
      const server = await startDevServer({ port, uiPort: port + 1_000 });
      onTestFinished(() => server.stop());
    }
    const args = ['--temporal-port', String(port), ...(keeps ? ['--keep'] : [])];
    const demo = start(process.execPath, [script('run.js'), ...args], { env: asEnv(mark) });
    const line = /in the Temporal UI: (\S+)\n$/;
    const url = new URL(line.exec(await demo.prints(line))?.[1] ?? '');
    expect(lastLine(demo.stdout())).toContain(url.href);
    const id = url.pathname.split('/').at(-1) ?? '';
    // The UI serves one page for every path, so the workflow itself is requested from its API.
    const shown = await fetch(`${url.origin}/api/v1/namespaces/default/workflows/${id}`);
    expect([(await fetch(url)).status, shown.status]).toEqual([200, 200]);
    if (keeps) demo.kill('SIGINT');
    expect(await demo.ended, demo.stderr()).toBe(0);
    await untilNoneLeft(mark);
  });

  it('cleans up when it is interrupted', async () => {
    const mark = newMark();
    const port = String(await freePort());
    const demo = start(process.execPath, [script('run.js'), '--temporal-port', port], {
      env: asEnv(mark),
    });
    await demo.prints(/suspension approval/);
    demo.kill('SIGINT');
    expect(await demo.ended, demo.stderr()).toBe(1);
    expect(demo.stderr()).toContain('interrupted by SIGINT');
    await untilNoneLeft(mark);
  });
});

describe('npm start', () => {
  it('prints which process runs where and commands that work when pasted, and stops everything at Ctrl-C', async () => {
    const mark = newMark();
    const address = `127.0.0.1:${await freePort()}`;
    const data = temporaryFolder();
    const stack = start(process.execPath, [script('start.js'), '--port', '0', '--data', data], {
      env: { ...asEnv(mark), TEMPORAL_ADDRESS: address },
    });
    await stack.prints(/^Ctrl-C stops everything/m);
    expect(stack.stdout()).toContain(`temporal  ${address} (started)  data ${data}  ui http://`);
    expect(stack.stdout()).toMatch(/^worker {4}pid \d+ {2}agents .*agents\.js$/m);
    expect(stack.stdout()).toMatch(
      /^api {7}http:\/\/127\.0\.0\.1:\d+ {2}\(development identity: loopback only, answers are not verified\)$/m,
    );
    expect(stack.stdout()).toMatch(/^model {5}SCRIPTED, no AI/m);

    const conversation = await copied(/^try {7}(curl .*)$/m, stack);
    expect(conversation).toMatchObject({ status: 'admitted' });
    await stack.prints(/^waits .*client_execution/m);
    const commands = [...stack.stdout().matchAll(/^ {10}(curl .*)$/gm)].map(([, line]) => line);
    expect(commands).toHaveLength(3);
    for (const command of commands)
      expect(await shell(command ?? '')).toMatchObject({ verdict: 'accepted' });
    const api = /http:\/\/127\.0\.0\.1:\d+(?= {2}\(development)/.exec(stack.stdout())?.[0] ?? '';
    await until(
      'the turn ends',
      async () => (await call(`${api}/v1/turns/${String(conversation['turnId'])}`)).body,
      { holds: ({ status }) => status === 'completed' },
    );

    expect(processesWith(mark).length).toBeGreaterThan(2);
    stack.kill('SIGINT');
    expect(await stack.ended).toBe(0);
    await untilNoneLeft(mark);
  });

  it('uses a server that already runs, and leaves it running', async () => {
    const mark = newMark();
    const server = await startDevServer();
    onTestFinished(() => server.stop());
    const args = [script('start.js'), '--port', '0', '--data', temporaryFolder()];
    const env = { ...asEnv(mark), TEMPORAL_ADDRESS: server.address };
    const stack = start(process.execPath, args, { env });
    await stack.prints(/^Ctrl-C stops everything/m);
    expect(stack.stdout()).toContain(`temporal  ${server.address} (found running)`);
    stack.kill('SIGINT');
    expect(await stack.ended).toBe(0);
    await untilNoneLeft(mark);
    const connection = await Connection.connect({ address: server.address });
    await connection.workflowService.getSystemInfo({});
    await connection.close();
  });

  it('names a port that is taken, and leaves nothing running', async () => {
    const mark = newMark();
    const other = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => {
      other.close();
    });
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const env = { ...asEnv(mark), TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` };
    const args = ['--port', String(port), '--data', temporaryFolder()];
    const stack = start(process.execPath, [script('start.js'), ...args], { env });
    expect(await stack.ended).toBe(1);
    expect(stack.stderr()).toContain(`Port ${port} on 127.0.0.1 is taken`);
    expect(stack.stderr()).toContain(`COLLOQUY_PORT=${port + 1}`);
    await untilNoneLeft(mark);
  });

  it('prints a command for another worker when its own has ended; when it is killed itself, worker and API end with it', async () => {
    const mark = newMark();
    const env = { ...asEnv(mark), TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` };
    const data = temporaryFolder();
    const stack = start(process.execPath, [script('start.js'), '--port', '0', '--data', data], {
      env,
    });
    // The server is detached from `npm start`, and survives a SIGKILL of it.
    onTestFinished(async () => {
      const db = join(data, 'temporal.db');
      await run(join(ROOT, 'temporal-dev.sh'), ['--stop', '--db', db]);
    });
    const said = await stack.prints(/^Ctrl-C stops everything/m);
    process.kill(Number(/^worker {4}pid (\d+)/m.exec(said)?.[1]), 'SIGKILL');
    const after = await stack.prints(/^worker {4}has ended/m);
    const command = /^worker {4}has ended\. Start another: (.*)$/m.exec(after)?.[1] ?? '';
    expect(command).toContain(`COLLOQUY_DATA=${data} OPENAI_BASE_URL=`);
    const other = start('sh', ['-c', command], { env, cwd: ROOT });
    const { 1: pid } =
      /^worker {2}pid (\d+)/m.exec(await other.prints(/^worker {2}pid \d+/m)) ?? [];
    await copied(/^try {7}(curl .*)$/m, stack);
    // The message reached the model.
    await stack.prints(/^waits .*client_execution/m);
    process.kill(Number(pid), 'SIGTERM');
    await other.ended;
    stack.kill('SIGKILL');
    await until('only the server is left', () => processesWith(mark), {
      holds: (left) => left.length === 1 && left[0]?.includes('server start-dev') === true,
    });
  });
});

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}

/** Pastes a printed command into a shell and returns its JSON output. */
async function copied(pattern: RegExp, from: Command): Promise<Fields> {
  return await shell(pattern.exec(from.stdout())?.[1] ?? 'false');
}

async function shell(command: string): Promise<Fields> {
  const { stdout } = await run('sh', ['-c', command]);
  return JSON.parse(stdout) as Fields;
}

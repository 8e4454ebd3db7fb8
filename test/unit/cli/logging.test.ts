import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ApplicationFailure } from '@temporalio/common';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { readConfig } from '../../../src/cli/process/config.js';
import { runtimeLine, runtimeLogger } from '../../../src/cli/process/logging.js';

const HOOKS = fileURLToPath(new URL('../../support/typescript-hooks.mjs', import.meta.url));
const PROCESS = new URL('../../../src/cli/process/', import.meta.url).href;

it("a log line of Temporal's has the message of its error, also as JSON", () => {
  const error = ApplicationFailure.create({ type: 'unknown_agent', message: 'No agent "a" here' });
  const line = JSON.parse(JSON.stringify(runtimeLine({ workflowId: 'w', error }))) as unknown;
  expect(line).toMatchObject({
    workflowId: 'w',
    temporal: true,
    error: { type: 'unknown_agent', message: 'No agent "a" here', nonRetryable: false },
  });
  expect(JSON.stringify(line)).not.toContain('stack');
  const plain = runtimeLine({ error: new TypeError('no') });
  expect(plain).toMatchObject({ error: { type: 'TypeError', message: 'no' } });
  expect(runtimeLine(undefined)).toEqual({ temporal: true });
});

it("a log line of Temporal's never has the token of a task, or bytes", () => {
  const planted = 'cGxhbnRlZC10b2tlbg==';
  const bytes = new TextEncoder().encode('planted');
  const error = Object.assign(new Error(`no TaskToken(${planted}) here`), { taskToken: planted });
  const lines: string[] = [];
  const log = pino({}, { write: (line) => lines.push(line) });
  runtimeLogger(log).error(`completion of TaskToken(${planted}) failed`, {
    ...{ workflowId: 'w', attempt: 2, taskToken: planted, base64TaskToken: planted, error },
    ...{ task_token: planted, details: { inner: [{ taskToken: bytes }], attempt: 3 } },
    ...{ header: bytes, payload: Buffer.from(planted), payloads: [bytes] },
    written: Buffer.from(planted).toJSON(),
  });
  runtimeLogger(log).warn('without an error', { taskToken: planted, workflowId: 'w' });
  expect(lines).toHaveLength(2);
  expect(lines.join('')).not.toMatch(/cGxhbnRlZC|112,108,97|"0":112/);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    ...{ workflowId: 'w', attempt: 2, details: { inner: [{}], attempt: 3 } },
    error: { type: 'Error', message: 'no TaskToken(…) here' },
    msg: 'completion of TaskToken(…) failed',
  });
});

it('a process writes its lines in the form of COLLOQUY_LOG, and JSON where there is no terminal', async () => {
  const program = `
    const { readConfig } = await import(${JSON.stringify(`${PROCESS}config.ts`)});
    const { createPino, loggerOf } = await import(${JSON.stringify(`${PROCESS}logging.ts`)});
    for (const env of [{}, { COLLOQUY_LOG: 'json' }, { COLLOQUY_LOG: 'pretty' }])
      loggerOf(createPino(readConfig(env), 'colloquy-worker')).warn('said', { tenant: 'acme' });`;
  const args = ['--import', HOOKS, '--input-type=module', '-e', program];
  const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined };
  const { stderr } = await promisify(execFile)(process.execPath, args, { env });
  const [usual = '', json = '', pretty] = stderr.split('\n');
  for (const line of [usual, json])
    expect(JSON.parse(line)).toMatchObject({ level: 40, tenant: 'acme', msg: 'said' });
  expect(pretty).toMatch(/^\d\d:\d\d:\d\d\.\d{3} {2}WARN {3}worker {3}said {2}tenant=acme$/);
});

it('another form of log lines is refused, by the name of the variable', () => {
  expect(() => readConfig({ COLLOQUY_LOG: 'xml' })).toThrow(
    /COLLOQUY_LOG: must be json or pretty, got "xml"/,
  );
});

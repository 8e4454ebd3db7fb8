/** Processes of MCP servers when the worker that started them ends. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const WORKER = fileURLToPath(new URL('../../support/mcp/stdio-worker.ts', import.meta.url));
const HOOKS = new URL('../../support/typescript-hooks.mjs', import.meta.url).href;
const TIMEOUT_MS = 60_000;

/** Records its process id. Ends with its stdin, or only by a signal if it is stubborn. */
const SERVER = `
const [file, temper] = process.argv.slice(1);
require('node:fs').appendFileSync(file, process.pid + '\\n');
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
let rest = '';
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\\n');
  rest = lines.pop();
  for (const { id, method } of lines.map((line) => JSON.parse(line))) {
    if (id === undefined) continue;
    const serverInfo = { name: 'own', version: '1' };
    const about = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo };
    if (method === 'initialize') say({ id, result: about });
    else if (method === 'tools/list') say({ id, result: { tools: [] } });
    else say({ id, error: { code: -32601, message: 'not known' } });
  }
});
if (temper === 'stubborn') setInterval(() => {}, 1000);
`;

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function workerWith(temper: 'meek' | 'stubborn') {
  const folder = mkdtempSync(join(tmpdir(), 'colloquy-mcp-'));
  const file = join(folder, 'pids');
  const args = ['--import', HOOKS, WORKER, process.execPath, '-e', SERVER, file, temper];
  const worker = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const pids = () => readFileSync(file, 'utf8').trim().split('\n').map(Number);
  onTestFinished(() => {
    worker.kill('SIGKILL');
    for (const pid of pids()) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  await new Promise((resolve) => worker.stdout.once('data', resolve));
  expect(pids().some(isAlive)).toBe(true);
  return { worker, areGone: () => !pids().some(isAlive) };
}

it.each([
  ['is stopped', 'meek', 'SIGTERM', ''],
  ['is killed', 'meek', 'SIGKILL', ''],
  ['leaves by itself', 'stubborn', undefined, 'exit'],
  ['dies of an exception', 'stubborn', undefined, 'throw'],
] as const)(
  'a process of a worker that %s ends with it',
  { ...promise('G158'), timeout: patient(TIMEOUT_MS) },
  async (_how, temper, signal, word) => {
    const { worker, areGone } = await workerWith(temper);
    if (signal === undefined) worker.stdin.write(word);
    else worker.kill(signal);
    await until('it is gone', areGone);
  },
);

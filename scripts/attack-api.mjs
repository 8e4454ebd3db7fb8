// npm run attack:api [-- --cases 5000]: has Schemathesis send requests made from the API's own description, valid and
// broken ones, to a server of its own, and fails when an answer is a 5xx, is not described, or has another form.
//
// Needs Python with pip: the tool is installed once, into .colloquy/schemathesis. Requests that the description allows
// may be refused by a rule that it cannot say, such as two fields that exclude each other.
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const VERSION = '4.32.5';
const METHODS = ['get', 'put', 'post', 'patch', 'delete'];

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({ options: { cases: { type: 'string', default: '5000' } } });
const cases = Number(values.cases);
if (!Number.isSafeInteger(cases) || cases < 1)
  throw new Error(`--cases must be a whole number from 1, got ${values.cases}`);
const tool = join(root, '.colloquy', 'schemathesis');
const st = join(tool, 'bin', 'st');
if (!existsSync(st)) {
  run('python3', ['-m', 'venv', tool]);
  run(join(tool, 'bin', 'pip'), ['install', '-q', `schemathesis==${VERSION}`]);
}

const data = mkdtempSync(join(tmpdir(), 'colloquy-attack-'));
const agents = join(root, 'dist', 'examples', 'getting-started', 'agents.js');
const secret = randomBytes(24).toString('base64url');
const dev = spawn(
  process.execPath,
  [join(root, 'dist', 'cli', 'main.js'), 'dev', '--agents', agents, '--port', '0'],
  {
    cwd: data,
    env: { ...process.env, COLLOQUY_DATA: data, COLLOQUY_DEV_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  },
);
const ended = new Promise((resolve) => dev.once('exit', resolve));
const url = await new Promise((resolve, reject) => {
  let said = '';
  dev.stdout.on('data', (piece) => {
    said += piece;
    const [found] = /http:\/\/127\.0\.0\.1:\d+(?= {2}pid|.*development)/.exec(said) ?? [];
    if (found !== undefined && said.includes('Ctrl-C stops')) resolve(found);
  });
  ended.then(() => reject(new Error(`the server ended:\n${said}`)));
});
try {
  // The tool counts cases for each operation.
  const { paths } = await (await fetch(`${url}/openapi.json`)).json();
  const operations = Object.values(paths).flatMap((path) => METHODS.filter((name) => name in path));
  const each = Math.max(1, Math.ceil(cases / operations.length));
  const { status } = spawnSync(
    st,
    [
      ...['run', `${url}/openapi.json`, '--url', url, '-n', String(each), '--max-failures', '50'],
      ...['--header', `Authorization: Bearer ${secret}`],
      ...['--phases', 'examples,coverage,fuzzing', '--request-timeout', '30'],
      ...['--exclude-checks', 'positive_data_acceptance'],
    ],
    { cwd: data, stdio: 'inherit' },
  );
  process.exitCode = status ?? 1;
} finally {
  dev.kill('SIGINT');
  await ended;
  rmSync(data, { recursive: true, force: true });
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' });
  if (status !== 0) throw error ?? new Error(`${command} ended with ${status}`);
}

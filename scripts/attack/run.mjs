// npm run attack:api [-- --cases 5000 --seed 1 --phases examples,coverage,fuzzing --only gateway]: has Schemathesis
// send requests made from the description of the API, and from that of the routes of the Hsafa gateway beside it, valid
// and broken ones, to servers of its own; `--only api` and `--only gateway` leave out the other. Fails when an answer
// is a 5xx, is not described or has another form, and when an operation of the description never succeeded.
//
// Needs Python with pip: the tool is installed once, into .colloquy/schemathesis. Requests that the description allows
// may be refused by a rule that it cannot say, such as two fields that exclude each other.
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { plantGateway } from './gateway-seeds.mjs';
import { plant } from './seeds.mjs';

const VERSION = '4.32.5';
/** Ends the worker that all other operations need. */
const KILL = '/v1/operations/kill-worker';
const METHODS = ['get', 'put', 'post', 'patch', 'delete'];

const here = fileURLToPath(new URL('.', import.meta.url));
const root = join(here, '..', '..');
const options = {
  cases: { type: 'string', default: '5000' },
  seed: { type: 'string', default: '1' },
  phases: { type: 'string', default: 'examples,coverage,fuzzing' },
  only: { type: 'string', default: '' },
};
const { values } = parseArgs({ options });
const cases = whole('cases');
const seed = whole('seed');
const tool = join(root, '.colloquy', 'schemathesis');
const st = join(tool, 'bin', 'st');
if (!existsSync(st)) {
  run('python3', ['-m', 'venv', tool]);
  run(join(tool, 'bin', 'pip'), ['install', '-q', `schemathesis==${VERSION}`]);
}

const data = mkdtempSync(join(tmpdir(), 'colloquy-attack-'));
const secret = randomBytes(24).toString('base64url');
/** Takes all webhooks. */
const receiver = await listening();
const receiverUrl = `http://127.0.0.1:${receiver.address().port}/`;
/** A Temporal server of its own: another one may know conversations of these names. */
const holder = await listening();
const temporal = `127.0.0.1:${holder.address().port}`;
holder.close();
const main = join(root, 'dist', 'cli', 'main.js');
const dev = spawn(
  process.execPath,
  [main, 'dev', '--agents', join(here, 'agents.mjs'), '--port', '0'],
  {
    cwd: data,
    env: {
      ...process.env,
      COLLOQUY_DATA: data,
      COLLOQUY_DEV_SECRET: secret,
      TEMPORAL_ADDRESS: temporal,
      COLLOQUY_REQUEST_LIMIT: 'off',
      COLLOQUY_WEBHOOKS_PRIVATE: '127.0.0.1',
    },
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
const gateway = spawn(process.execPath, [join(here, 'gateway.mjs'), join(data, 'log.db')], {
  env: { ...process.env, TEMPORAL_ADDRESS: temporal, COLLOQUY_DEV_SECRET: secret },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const gatewayEnded = new Promise((resolve) => gateway.once('exit', resolve));
try {
  const gatewayUrl = await new Promise((resolve, reject) => {
    gateway.stdout.once('data', (line) => resolve(String(line).trim()));
    gatewayEnded.then(() => reject(new Error('the gateway ended')));
  });
  const { seeds, runs } = await plant({ url, secret, receiverUrl });
  const apis = [
    await described({ name: 'api', url, description: '/openapi.json', seeds }),
    await described({
      name: 'gateway',
      url: gatewayUrl,
      description: '/api/openapi.json',
      seeds: await plantGateway({ url: gatewayUrl, secret, runs }),
    }),
  ].filter(({ name }) => values.only === '' || values.only === name);
  if (apis.length === 0) throw new Error('--only must be api or gateway');
  const total = apis.reduce((all, { operations }) => all + operations.length, 0);
  // A request line that is too long is refused before anything reads it.
  const refusals = 'negative_data_rejection.expected-statuses = ["4XX", "5XX"]';
  writeFileSync(join(data, 'schemathesis.toml'), `[checks]\n${refusals}\n`);
  const areRight = apis.map((api) => attacked(api, Math.max(1, Math.ceil(cases / total))));
  process.exitCode = areRight.every(Boolean) ? 0 : 1;
} finally {
  gateway.kill('SIGKILL');
  await gatewayEnded;
  dev.kill('SIGINT');
  await ended;
  receiver.close();
  rmSync(data, { recursive: true, force: true });
}

/** An API with the operations of its description. */
async function described(api) {
  const { paths } = await (await fetch(`${api.url}${api.description}`)).json();
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    path === KILL
      ? []
      : METHODS.filter((name) => name in methods).map((name) => `${name.toUpperCase()} ${path}`),
  );
  const strange = Object.keys(api.seeds).filter((label) => !operations.includes(label));
  if (strange.length > 0) throw new Error(`no such operation: ${strange.join(', ')}`);
  return { ...api, operations };
}

/** Whether every answer was right, and every operation has succeeded. */
function attacked(api, each) {
  const { operations, seeds } = api;
  const files = { seeds: join(data, 'seeds.json'), answers: join(data, 'answers.json') };
  writeFileSync(files.seeds, JSON.stringify(seeds));
  const status = attack(api, { each, files });
  const answers = JSON.parse(readFileSync(files.answers, 'utf8'));
  const never = operations.filter(
    (label) =>
      // The description itself was read above.
      !label.endsWith('/openapi.json') &&
      !Object.keys(answers[label]?.counts ?? {}).some((code) => code.startsWith('2')),
  );
  const sum = Object.values(answers).flatMap(({ counts }) => Object.values(counts));
  console.log(
    `${sum.reduce((all, one) => all + one, 0)} answers of ${operations.length} operations`,
  );
  for (const label of never)
    console.log(`never succeeded: ${label} ${JSON.stringify(answers[label] ?? {})}`);
  return status === 0 && never.length === 0;
}

async function listening() {
  const server = createServer((_request, response) => response.writeHead(204).end());
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** The tool counts cases for each operation. Returns its exit code. */
function attack({ url: address, description }, { each, files }) {
  const { status } = spawnSync(
    st,
    [
      ...['run', `${address}${description}`, '--url', address, '-n', String(each)],
      ...['--max-failures', '50', '--seed', String(seed)],
      ...['--header', `Authorization: Bearer ${secret}`],
      ...['--phases', values.phases, '--request-timeout', '30'],
      ...['--exclude-checks', 'positive_data_acceptance', '--exclude-path', KILL],
    ],
    {
      cwd: data,
      stdio: 'inherit',
      env: {
        ...process.env,
        ATTACK_SEEDS: files.seeds,
        ATTACK_ANSWERS: files.answers,
        PYTHONPATH: here,
        SCHEMATHESIS_HOOKS: 'hooks',
      },
    },
  );
  return status ?? 1;
}

function whole(name) {
  const number = Number(values[name]);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new Error(`--${name} must be a whole number from 1, got ${values[name]}`);
  return number;
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' });
  if (status !== 0) throw error ?? new Error(`${command} ended with ${status}`);
}

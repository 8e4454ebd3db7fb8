/** The package as `npm pack` makes it, installed with npm into an otherwise empty project. */
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { freePort } from '../../support/servers/dev-server.js';
import { until } from '../../support/until.js';
import { call, type Fields } from '../support/api.js';
import { ROOT, start } from '../support/processes.js';

const run = promisify(execFile);
const NPM_MS = 300_000;
const MIB = 1024 * 1024;

interface Manifest {
  readonly exports: Readonly<Record<string, unknown>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly devDependencies: { readonly react: string };
}

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
let base = '';
let project = '';

/**
 * The environment of a user: the Node of the tests, and no `node_modules/.bin` of this repository, which contains a
 * Node of its own.
 */
function userEnvironment(): NodeJS.ProcessEnv {
  const others = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((entry) => !entry.startsWith(join(ROOT, 'node_modules')));
  return { PATH: [dirname(process.execPath), ...others].join(delimiter) };
}

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'colloquy-user-'));
  // As npx names the folders into which it fetches.
  project = join(base, '_npx', '0a1b');
  mkdirSync(project, { recursive: true });
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', project];
  await run('npm', pack, { cwd: ROOT });
  const [tarball = ''] = readdirSync(project).filter((name) => name.endsWith('.tgz'));
  writeFileSync(join(project, 'package.json'), '{"type":"module","private":true}');
  // An application with pages has React: an optional peer of the package.
  const wanted = [`./${tarball}`, `react@${manifest.devDependencies.react}`];
  const install = ['install', '--prefer-offline', '--no-audit', '--no-fund', ...wanted];
  await run('npm', install, { cwd: project, timeout: NPM_MS });
}, patient(NPM_MS));

afterAll(() => {
  rmSync(base, { recursive: true, force: true });
});

/** Every file below a folder, with its size. */
function filesBelow(folder: string): readonly { readonly path: string; readonly bytes: number }[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name);
    return entry.isFile() ? [{ path, bytes: lstatSync(path).size }] : [];
  });
}

describe('a project that has installed the package', () => {
  it('has no Node binary, neither as a command nor as a file', promise('G264'), () => {
    const modules = join(project, 'node_modules');
    expect(existsSync(join(modules, 'colloquy', 'dist', 'index.js'))).toBe(true);
    expect(existsSync(join(modules, '.bin', 'colloquy'))).toBe(true);
    expect(existsSync(join(modules, '.bin', 'node'))).toBe(false);
    const files = filesBelow(modules);
    expect(files.filter(({ path }) => /[\\/]bin[\\/]node(\.exe)?$/.test(path))).toEqual([]);
    // Temporal's core, which one package ships for every platform, is large too; a Node binary has 100 MiB and more.
    const large = files.filter(({ bytes }) => bytes > 25 * MIB);
    const others = large.filter(({ path }) => !path.includes('@temporalio/core-bridge'));
    expect(others).toEqual([]);
  });

  it('has one version of Temporal, which npm installed as peers of the package', () => {
    const lock = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8')) as {
      readonly packages: Readonly<Record<string, { readonly version?: string }>>;
    };
    const found = Object.entries(lock.packages).flatMap(([path, { version }]) => {
      const name = /(?:^|\/)node_modules\/(@temporalio\/[a-z-]+)$/.exec(path)?.[1];
      return name === undefined ? [] : [{ name, version }];
    });
    const names = found.map(({ name }) => name);
    const peers = Object.keys(manifest.peerDependencies).filter((name) => name.startsWith('@temp'));
    expect(names).toEqual(expect.arrayContaining(peers));
    expect(new Set(names).size).toBe(names.length);
    expect([...new Set(found.map(({ version }) => version))]).toEqual([
      expect.stringMatching(/^1\.24\.\d+$/),
    ]);
  });

  it('can import every entry point without a missing dependency', {
    ...promise('G264'),
  }, async () => {
    const entries = Object.keys(manifest.exports).filter((entry) => !entry.endsWith('.json'));
    const lines = entries.map((entry) => {
      const name = `colloquy${entry.slice(1)}`;
      return `console.log(${JSON.stringify(name)}, Object.keys(await import('${name}')).length);`;
    });
    writeFileSync(join(project, 'every.js'), lines.join('\n'));
    const options = { cwd: project, env: userEnvironment() };
    const { stdout, stderr } = await run(process.execPath, ['every.js'], options);
    expect(stderr).toBe('');
    const counts = stdout.trim().split('\n');
    expect(counts).toHaveLength(entries.length);
    for (const line of counts) expect(line).toMatch(/^colloquy\S* [1-9]\d*$/);
  });

  it('has the command, which serves an agent on a Temporal server of its own, answers a message, and stops', {
    ...promise('G265'),
  }, async () => {
    const run = (command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
      start(command, args, { cwd: project, env: { ...userEnvironment(), ...env } });
    // The executable that npx runs; it stands between a signal and the command.
    const bin = join(project, 'node_modules', '.bin', 'colloquy');
    const npx = (args: readonly string[], env: NodeJS.ProcessEnv = {}) => run(bin, args, env);
    const help = run('npx', ['--no-install', 'colloquy', '--help']);
    expect(await help.ended).toBe(0);
    expect(help.stdout()).toContain('temporal [args...]');
    expect(help.stdout()).toContain('npx colloquy temporal start');

    writeFileSync(
      join(project, 'agents.js'),
      `import { defineAgent } from 'colloquy';
import { says, scriptedBy } from 'colloquy/testing';
export const greeter = defineAgent({ name: 'greeter', instructions: 'Greet.', model: scriptedBy(() => says('Good day.')) });
`,
    );
    const TEMPORAL_ADDRESS = `127.0.0.1:${await freePort()}`;
    const started = npx(['temporal', 'start'], { TEMPORAL_ADDRESS });
    onTestFinished(async () => {
      await npx(['temporal', 'stop']).ended;
    });
    expect(await started.ended).toBe(0);
    expect(started.stdout()).toContain(`TEMPORAL_ADDRESS=${TEMPORAL_ADDRESS}`);
    expect(started.stderr()).toContain('Stop it: npx colloquy temporal stop');

    const stack = npx(['dev', '--agents', './agents.js', '--port', '0'], { TEMPORAL_ADDRESS });
    await stack.prints(/^Ctrl-C stops everything/m);
    expect(stack.stdout()).toMatch(/^try {7}curl .*"agent":"greeter"/m);
    const [api = ''] = /http:\/\/127\.0\.0\.1:\d+(?= {2}\(development)/.exec(stack.stdout()) ?? [];
    const body = { agent: 'greeter', message: 'Hello', id: 'c1' };
    const sent = await call(`${api}/v1/conversations`, { body });
    expect(sent.body).toMatchObject({ status: 'admitted' });
    const { turnId } = sent.body;
    const turn = async () => (await call(`${api}/v1/turns/${String(turnId)}`)).body;
    const holds = ({ status }: Fields): boolean => status === 'completed';
    const ended = await until('the turn ends', turn, { holds, timeoutMs: 60_000 });
    expect(ended).toMatchObject({ text: 'Good day.' });

    const listed = npx(['temporal', 'workflow', 'list', '--output', 'json'], { TEMPORAL_ADDRESS });
    expect(await listed.ended).toBe(0);
    expect(listed.stdout()).toContain('conversation:default:c1');
    const wrong = npx(['temporal', 'workflow', 'lst'], { TEMPORAL_ADDRESS });
    expect(await wrong.ended).toBe(1);

    stack.kill('SIGINT');
    expect(await stack.ended).toBe(0);
    const stopped = npx(['temporal', 'stop']);
    expect(await stopped.ended).toBe(0);
    expect(stopped.stderr()).toContain('stopped the server at');
    expect(await npx(['temporal', 'status'], { TEMPORAL_ADDRESS }).ended).toBe(3);
  });

  it('begins a project whose tests pass, whose types hold, and whose agent is served and answered from a terminal', {
    ...promise('G339'),
  }, async () => {
    const bin = join(project, 'node_modules', '.bin', 'colloquy');
    const TEMPORAL_ADDRESS = `127.0.0.1:${await freePort()}`;
    const runIn = (cwd: string, command: string, args: readonly string[]) =>
      start(command, args, { cwd, env: { ...userEnvironment(), TEMPORAL_ADDRESS } });
    const written = runIn(project, bin, ['init', 'my-app']);
    expect(await written.ended, written.stderr()).toBe(0);
    const guide = readFileSync(join(ROOT, 'docs', 'getting-started.md'), 'utf8');
    expect(guide).toContain(readFileSync(join(project, 'my-app', 'tsconfig.json'), 'utf8'));
    // The packages that npx has fetched are there already.
    expect(existsSync(join(project, 'my-app', 'node_modules', 'colloquy', 'package.json'))).toBe(
      true,
    );
    const again = runIn(project, bin, ['init', 'my-app']);
    expect(await again.ended).toBe(1);
    expect(again.stderr()).toContain('is not empty (it has ');

    const app = join(project, 'my-app');
    const tested = runIn(app, process.execPath, ['--test']);
    expect(await tested.ended, tested.stdout()).toBe(0);
    expect(tested.stdout()).toMatch(/pass 2\b/);
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const types = ['--typeRoots', join(ROOT, 'node_modules', '@types'), '--types', 'node'];
    const checked = runIn(app, process.execPath, [tsc, '-p', '.', ...types]);
    expect(await checked.ended, checked.stdout()).toBe(0);

    const stack = runIn(app, bin, ['dev', '--agents', 'agents.ts', '--port', '0']);
    await stack.prints(/^Ctrl-C stops everything/m);
    const sent = runIn(app, bin, ['send', 'order-42', 'It arrived broken.', '--agent', 'support']);
    expect(await sent.ended, sent.stderr()).toBe(0);
    const [, ref = ''] = /waits for: approval of refund {2}(\S+)/.exec(sent.stdout()) ?? [];
    const approved = runIn(app, bin, ['resolve', ref, '--approve']);
    expect(await approved.ended).toBe(0);
    expect(approved.stdout()).toBe('accepted\n');
    const answered = runIn(app, bin, ['tail', 'order-42', '--follow']);
    await answered.prints(/assistant_message +You get 75.00 back./);

    const agents = join(app, 'agents.ts');
    const changed = readFileSync(agents, 'utf8').replace('You get 75.00', 'You have 75.00');
    writeFileSync(agents, changed);
    await stack.prints(/^worker +pid \d+, after a change of agents\.ts$/m);
    writeFileSync(agents, `${changed}\nexport const more = (;\n`);
    await stack.prints(/^worker +not restarted: .*agents\.ts:\d+\)$/ms);
    const anew = runIn(app, bin, ['send', 'order-43', 'It arrived broken.', '--agent', 'support']);
    expect(await anew.ended, anew.stderr()).toBe(0);
    const next = /waits for: approval of refund {2}(\S+)/.exec(anew.stdout())?.[1] ?? '';
    expect(await runIn(app, bin, ['resolve', next, '--approve']).ended).toBe(0);
    const last = runIn(app, bin, ['tail', 'order-43', '--follow']);
    await last.prints(/assistant_message +You have 75.00 back./);
    stack.kill('SIGINT');
    expect(await stack.ended).toBe(0);
  });

  it('runs the code of the getting-started page, with another patch of the SDK too, and its script prints the same answer', async () => {
    const folder = join(ROOT, 'examples', 'getting-started');
    for (const name of readdirSync(folder)) cpSync(join(folder, name), join(project, name));
    const TEMPORAL_ADDRESS = `127.0.0.1:${await freePort()}`;
    const env = { ...userEnvironment(), TEMPORAL_ADDRESS, PORT: '0' };
    const run = (command: string, args: readonly string[]) =>
      start(command, args, { cwd: project, env });
    const bin = join(project, 'node_modules', '.bin', 'colloquy');
    const started = run(bin, ['temporal', 'start', '--ephemeral']);
    onTestFinished(async () => {
      await run(bin, ['temporal', 'stop', '--ephemeral']).ended;
    });
    expect(await started.ended, started.stderr()).toBe(0);
    const server = run(process.execPath, ['server.ts']);
    await server.prints(/^serving at http/m);
    for (const expected of [
      'refund waits for an approval\nthe approval is accepted\nYou get 75.00 back.\n',
      'You get 75.00 back.\n',
    ]) {
      const asked = run(process.execPath, ['ask.ts']);
      expect(await asked.ended, asked.stderr()).toBe(0);
      expect(asked.stdout()).toBe(expected);
    }
    const doctor = run(bin, ['doctor', '--json']);
    await doctor.ended;
    const { findings } = JSON.parse(doctor.stdout()) as { findings: readonly Fields[] };
    expect(findings).toContainEqual(expect.objectContaining({ check: 'store', status: 'ok' }));
    server.kill('SIGTERM');
    expect(await server.ended, server.stderr()).toBe(0);

    // As after the installation of a later patch of Temporal's packages.
    const record = join(project, 'node_modules/colloquy/dist/workflow-bundle.json');
    const built = readFileSync(record, 'utf8');
    onTestFinished(() => writeFileSync(record, built));
    writeFileSync(record, '{"sdk":"1.24.99"}');
    const source = readFileSync(join(project, 'server.ts'), 'utf8');
    const logging = source.replace("/log.db'", "/log.db', logger: console");
    writeFileSync(join(project, 'logging-server.ts'), logging);
    const other = run(process.execPath, ['logging-server.ts']);
    await other.prints(/^serving at http/m);
    expect(other.stdout() + other.stderr()).toContain("with version 1.24.99 of Temporal's SDK");
    const asked = run(process.execPath, ['ask.ts']);
    expect(await asked.ended, asked.stderr()).toBe(0);
    expect(asked.stdout()).toBe('You get 75.00 back.\n');
    other.kill('SIGINT');
    expect(await other.ended, other.stderr()).toBe(0);
  });
});

